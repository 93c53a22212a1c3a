#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/rng.hpp"
#include "oas/model/density.hpp"

namespace oas {

/// The distribution of a vector of d >= 1 real numbers: independent components, or a multivariate
/// Gaussian. A value.
class VectorDensity {
 public:
  /// Independent components, at least one.
  explicit VectorDensity(std::vector<Density> components);
  /// Throws InvalidArgument naming index and value unless `covariance` (d×d, row by row) is
  /// symmetric and positive definite.
  static VectorDensity gaussian(std::vector<double> mean, std::vector<double> covariance);

  [[nodiscard]] int dimension() const { return static_cast<int>(marginals_.size()); }
  /// Whether components depend on each other: a multivariate Gaussian.
  [[nodiscard]] bool dependent() const { return !covariance_.empty(); }
  /// The distributions of the single components.
  [[nodiscard]] const std::vector<Density>& marginals() const { return marginals_; }
  [[nodiscard]] const std::vector<double>& covariance() const { return covariance_; }

  /// All of these throw InvalidArgument where spans do not have d numbers.
  /// The density at x, d numbers. One that is NaN was not seen: this is then the density of the
  /// others, 1 if there are none. O(d); where components depend on each other O(d²), and O(d³) if
  /// some were not seen.
  [[nodiscard]] double operator()(std::span<const double> x) const;
  /// One draw of d numbers, by inversion; takes d numbers from the stream.
  void sample(std::span<double> x, Rng& rng) const;
  /// Takes d numbers spread evenly over (0, 1) to draws of this distribution; may work in place.
  void from_uniform(std::span<const double> u, std::span<double> x) const;
  /// P(low < X <= high) componentwise; ±∞ allowed. Exact for independent components; for a
  /// multivariate Gaussian by evenly spread points after Genz's transformation (Genz 1992), error
  /// about 1e-5 in two dimensions.
  [[nodiscard]] double box(std::span<const double> low, std::span<const double> high) const;

  friend bool operator==(const VectorDensity&, const VectorDensity&) = default;

 private:
  VectorDensity() = default;
  [[nodiscard]] double gaussian_density(std::span<const double> x) const;
  // Some are NaN.
  [[nodiscard]] double marginal_density(std::span<const double> x) const;
  [[nodiscard]] double gaussian_box(std::span<const double> low,
                                    std::span<const double> high) const;

  std::vector<Density> marginals_;
  std::vector<double> covariance_;
  std::vector<double> cholesky_;  // lower triangle, row by row
  double log_constant_ = 0.0;
};

/// The sensors of a model with continuous observations: one distribution per (action, state), all
/// of the same dimension, each component a count under all of them or under none.
class DensitySensors {
 public:
  /// `densities` is [action][state]. Throws InvalidArgument naming "what[a][s]".
  DensitySensors(int num_states, int num_actions, std::vector<VectorDensity> densities,
                 std::string_view what = "density");

  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] int dimension() const { return densities_.front().dimension(); }
  /// Whether component i is a count.
  [[nodiscard]] bool discrete(int component) const;
  /// Indices are trusted; at() checks them.
  [[nodiscard]] const VectorDensity& operator()(Action action, State state) const {
    return densities_[static_cast<std::size_t>(action * num_states_ + state)];
  }

  [[nodiscard]] const VectorDensity& at(Action action, State state) const;

  /// p(reading | s, action) for every state; `out` has S entries. Components that are NaN were not
  /// seen. Throws InvalidArgument on an action that does not exist and on wrong sizes.
  void likelihood(Action action, std::span<const double> reading, std::span<double> out) const;

  /// The first action whose densities are not those of action 0; none: all actions have the same.
  [[nodiscard]] std::optional<Action> action_that_differs() const;

  /// One line for people: "gaussian", "2 components: gaussian, poisson", …
  [[nodiscard]] std::string brief() const;

  friend bool operator==(const DensitySensors&, const DensitySensors&) = default;

 private:
  int num_states_;
  int num_actions_;
  std::vector<VectorDensity> densities_;
};

}  // namespace oas
