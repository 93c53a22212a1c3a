#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/model/density_sensors.hpp"

/// Densities fitted to a sample, and random ones as far as the sample leaves them open.
namespace oas {

/// A family of densities of one real number.
enum class DensityFamily { normal, lognormal, gamma, poisson, mixture, kernel };
/// In the order of simplicity.
inline constexpr DensityFamily kDensityFamilies[] = {
    DensityFamily::normal,  DensityFamily::lognormal, DensityFamily::gamma,
    DensityFamily::poisson, DensityFamily::mixture,   DensityFamily::kernel};

[[nodiscard]] std::string_view to_string(DensityFamily family);
/// Whether a family has at most two numbers to fit, like the normal one.
[[nodiscard]] bool is_simple(DensityFamily family);

/// Readings that a family is fitted to at least.
[[nodiscard]] std::size_t fewest_readings(DensityFamily family);

/// Why a family cannot be fitted to a sample.
struct SampleFault {
  std::string message;                 ///< without the place
  std::optional<std::size_t> reading;  ///< the first one that is at fault; none: all of them
};
/// Too few readings, all of them equal (counts may all be 0), or outside the support. None: the
/// family can be fitted.
[[nodiscard]] std::optional<SampleFault> fault_of_sample(DensityFamily family,
                                                         std::span<const double> sample);

/// The smallest distance between two different numbers of a sample: what they were rounded to, or
/// less. 0: all are equal.
[[nodiscard]] double resolution_of(std::vector<double> sample);

/// The density of a family that fits best, for a sample without fault. By maximum likelihood, only
/// that
///  - variances of normal and log-normal densities have n - 1 in the denominator;
///  - the mean of n counts is at least 1/(2n), so that a count that was never seen is possible;
///  - a mixture has two normal parts, or three where Schwarz's criterion (BIC) prefers them and
///    there are 30 readings; expectation-maximisation from several starts. No part is narrower than
///    a 20th of the sample's standard deviation, or than `resolution`, where the likelihood would
///    grow without bound;
///  - the bandwidth of a kernel density is the best of seven around Silverman's by the likelihood
///    of each reading given the others, at least `resolution`; beyond 512 readings it is
///    Silverman's, and the points are 512 quantiles.
[[nodiscard]] Density fit_density(DensityFamily family, std::span<const double> sample,
                                  double resolution);

/// A random density in place of `fitted`, which was fitted to the sample. Normal and log-normal:
/// from the posterior under Jeffreys' independent prior, σ² ~ Σ(x-x̄)²/χ²_{n-1}, μ ~ N(x̄, σ²/n).
/// Poisson: likewise, the mean ~ Gamma(Σx + 1/2)/n.
/// The others: fitted again to readings with random weights (the Bayesian bootstrap, Rubin 1981),
/// Dirichlet with 1 - 4/n for each, so that means spread as those of normal densities do.
[[nodiscard]] Density draw_density(DensityFamily family, const Density& fitted,
                                   std::span<const double> sample, double resolution, Rng& rng);

/// The same of vectors [row][component] without NaN: a normal density with any covariance. There
/// must be fewest_for_joint(dimension) rows. Throws InvalidArgument when components are linearly
/// dependent.
[[nodiscard]] std::size_t fewest_for_joint(int dimension);
[[nodiscard]] VectorDensity fit_joint_normal(std::span<const double> sample, int dimension);
/// From the posterior under the prior |Σ|^-(d+1)/2: Σ is inverse Wishart, the mean normal.
[[nodiscard]] VectorDensity draw_joint_normal(std::span<const double> sample, int dimension,
                                              Rng& rng);

}  // namespace oas
