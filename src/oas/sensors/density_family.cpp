#include "oas/sensors/density_family.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/core/quantile.hpp"
#include "oas/core/sampling.hpp"
#include "oas/sensors/detail/normal_mixture.hpp"

namespace oas {

namespace {

constexpr std::size_t kMostPoints = 512;  // of a kernel density

struct MeanAndSquares {
  double mean = 0.0;
  double squares = 0.0;  // Σ (x - mean)²
};

MeanAndSquares squares_of(std::span<const double> sample) {
  MeanAndSquares result;
  const auto n = static_cast<double>(sample.size());
  for (const double x : sample) result.mean += x / n;
  for (const double x : sample) result.squares += (x - result.mean) * (x - result.mean);
  return result;
}

std::vector<double> logarithms(std::span<const double> sample) {
  std::vector<double> logs;
  for (const double x : sample) logs.push_back(std::log(x));
  return logs;
}

double sd_of(std::span<const double> sample) {
  return std::sqrt(squares_of(sample).squares / static_cast<double>(sample.size() - 1));
}

// The shape solves log k - ψ(k) = log mean - mean log (Minka 2002).
Density fit_gamma(std::span<const double> sample, std::span<const double> weights) {
  double mean = 0.0;
  double mean_log = 0.0;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    mean += weights[i] / total * sample[i];
    mean_log += weights[i] / total * std::log(sample[i]);
  }
  const double gap = std::max(std::log(mean) - mean_log, 1e-12);
  double shape = (3.0 - gap + std::sqrt((gap - 3.0) * (gap - 3.0) + 24.0 * gap)) / (12.0 * gap);
  for (int i = 0; i < 50; ++i) {
    const double slope = std::log(shape) - boost::math::digamma(shape) - gap;
    const double curve = 1.0 / shape - boost::math::trigamma(shape);
    const double next = std::clamp(shape - slope / curve, 0.5 * shape, 2.0 * shape);
    const bool done = std::abs(next - shape) <= 1e-12 * shape;
    shape = next;
    if (done) break;
  }
  return Density::gamma(shape, mean / shape);
}

// Silverman's rule of thumb (1986, 3.31).
double silverman(const std::vector<double>& sorted) {
  const double sd = sd_of(sorted);
  const double middle = (sorted_quantile(sorted, 0.75) - sorted_quantile(sorted, 0.25)) / 1.34;
  const double spread = middle > 0.0 ? std::min(sd, middle) : sd;
  return 0.9 * spread * std::pow(static_cast<double>(sorted.size()), -0.2);
}

// Σ log density of each point by the kernels of the others, up to a constant.
double left_out_likelihood(const std::vector<double>& points, double bandwidth) {
  double sum = 0.0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    double density = 0.0;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double z = (points[i] - points[k]) / bandwidth;
      if (k != i) density += std::exp(-0.5 * z * z);
    }
    sum += std::log(std::max(density / bandwidth, std::numeric_limits<double>::min()));
  }
  return sum;
}

Density fit_kernel(std::span<const double> sample, double resolution) {
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  const double rule = silverman(sorted);
  if (sorted.size() > kMostPoints) {
    std::vector<double> points;
    for (std::size_t i = 0; i < kMostPoints; ++i) {
      points.push_back(sorted_quantile(sorted, (static_cast<double>(i) + 0.5) / kMostPoints));
    }
    return Density::kernel(std::move(points), std::max(rule, resolution));
  }
  double best = -std::numeric_limits<double>::infinity();
  double bandwidth = rule;
  for (int step = -3; step <= 3; ++step) {
    const double tried = std::max(rule * std::pow(2.0, 0.5 * step), resolution);
    const double value = left_out_likelihood(sorted, tried);
    if (value > best) {
      best = value;
      bandwidth = tried;
    }
  }
  return Density::kernel(std::move(sorted), bandwidth);
}

// Weights of points that stand for so many readings. Dirichlet(c, …) weights give a mean the
// variance Σ(x-x̄)²/(n (n c + 1)); with n c = n - 4 that is what the posterior of a normal sample
// has, Σ(x-x̄)²/(n (n - 3)), where the plain bootstrap would have too little.
std::vector<double> random_weights(std::size_t points, std::size_t readings, Rng& rng) {
  const double each = (static_cast<double>(readings) - 4.0) / static_cast<double>(points);
  std::vector<double> weights(points);
  sample_dirichlet(std::vector<double>(points, each), weights, rng);
  return weights;
}

Density draw_kernel(const Density& fitted, std::size_t readings, Rng& rng) {
  const std::vector<double>& points = fitted.parameters();
  return Density::kernel(points, fitted.bandwidth(), random_weights(points.size(), readings, rng));
}

double chi_square(double degrees, Rng& rng) { return 2.0 * sample_gamma(0.5 * degrees, rng); }

// Mean and sd of a normal sample, drawn.
std::pair<double, double> draw_normal(std::span<const double> sample, Rng& rng) {
  const MeanAndSquares found = squares_of(sample);
  const auto n = static_cast<double>(sample.size());
  const double sd = std::sqrt(found.squares / chi_square(n - 1.0, rng));
  return {found.mean + sd / std::sqrt(n) * sample_normal(rng), sd};
}

struct Scatter {
  Vector mean;
  Matrix squares;
};

Scatter scatter_of(std::span<const double> sample, int dimension) {
  const MatrixView rows(sample.data(), static_cast<Eigen::Index>(sample.size()) / dimension,
                        dimension);
  Scatter result;
  result.mean = rows.colwise().mean();
  const Matrix centred = rows.rowwise() - result.mean.transpose();
  result.squares = centred.transpose() * centred;
  return result;
}

VectorDensity joint_normal(const Vector& mean, const Matrix& covariance) {
  const Matrix symmetric = 0.5 * (covariance + covariance.transpose());
  return VectorDensity::gaussian({mean.data(), mean.data() + mean.size()},
                                 {symmetric.data(), symmetric.data() + symmetric.size()});
}

}  // namespace

std::string_view to_string(DensityFamily family) {
  switch (family) {
    case DensityFamily::normal:
      return "normal";
    case DensityFamily::lognormal:
      return "log-normal";
    case DensityFamily::gamma:
      return "gamma";
    case DensityFamily::poisson:
      return "poisson";
    case DensityFamily::mixture:
      return "mixture";
    case DensityFamily::kernel:
      break;
  }
  return "kernel";
}

bool is_simple(DensityFamily family) {
  return family != DensityFamily::mixture && family != DensityFamily::kernel;
}

std::size_t fewest_readings(DensityFamily family) { return is_simple(family) ? 5 : 15; }

std::optional<SampleFault> fault_of_sample(DensityFamily family, std::span<const double> sample) {
  if (sample.size() < fewest_readings(family)) {
    return SampleFault{
        fmt::format("{} labelled reading{}; a {} density takes at least {}{}", sample.size(),
                    sample.size() == 1 ? "" : "s", to_string(family), fewest_readings(family),
                    sample.empty() ? ". Where nothing is ever read in a state, say --unread" : ""),
        {}};
  }
  if (family == DensityFamily::lognormal || family == DensityFamily::gamma) {
    const auto found =
        std::find_if(sample.begin(), sample.end(), [](double x) { return !(x > 0.0); });
    if (found != sample.end()) {
      return SampleFault{fmt::format("{} is not positive, as readings of a {} density are", *found,
                                     to_string(family)),
                         static_cast<std::size_t>(found - sample.begin())};
    }
  }
  if (family == DensityFamily::poisson) {
    const auto found = std::find_if(sample.begin(), sample.end(), [](double x) {
      return !(x >= 0.0 && std::isfinite(x) && x == std::floor(x));
    });
    if (found != sample.end()) {
      return SampleFault{
          fmt::format("{} is not a count, as readings of a poisson density are", *found),
          static_cast<std::size_t>(found - sample.begin())};
    }
    // Nothing may have happened at all; but the same number of events in every row is no chance.
    if (sample.front() == 0.0 && sd_of(sample) == 0.0) return {};
  }
  // A narrow density is fine, one whose spread is rounding is not.
  const double sd = sd_of(sample);
  if (!(sd > 1e-12 * std::abs(sample.front())) || !std::isfinite(sd)) {
    return SampleFault{fmt::format("all {} readings are {}: they have no spread that a density "
                                   "could be fitted to",
                                   sample.size(), sample.front()),
                       std::size_t{0}};
  }
  return {};
}

double resolution_of(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < sample.size(); ++i) {
    if (sample[i] > sample[i - 1]) smallest = std::min(smallest, sample[i] - sample[i - 1]);
  }
  return std::isfinite(smallest) ? smallest : 0.0;
}

Density fit_density(DensityFamily family, std::span<const double> sample, double resolution) {
  switch (family) {
    case DensityFamily::normal:
      return Density::gaussian(squares_of(sample).mean, sd_of(sample));
    case DensityFamily::lognormal: {
      const std::vector<double> logs = logarithms(sample);
      return Density::lognormal(squares_of(logs).mean, sd_of(logs));
    }
    case DensityFamily::gamma:
      return fit_gamma(sample, std::vector<double>(sample.size(), 1.0));
    case DensityFamily::poisson:
      return Density::poisson(
          std::max(squares_of(sample).mean, 0.5 / static_cast<double>(sample.size())));
    case DensityFamily::mixture:
      return detail::fit_normal_mixture(sample, resolution);
    case DensityFamily::kernel:
      break;
  }
  return fit_kernel(sample, resolution);
}

Density draw_density(DensityFamily family, const Density& fitted, std::span<const double> sample,
                     double resolution, Rng& rng) {
  switch (family) {
    case DensityFamily::normal: {
      const auto [mean, sd] = draw_normal(sample, rng);
      return Density::gaussian(mean, sd);
    }
    case DensityFamily::lognormal: {
      const auto [mean, sd] = draw_normal(logarithms(sample), rng);
      return Density::lognormal(mean, sd);
    }
    case DensityFamily::gamma:
      return fit_gamma(sample, random_weights(sample.size(), sample.size(), rng));
    case DensityFamily::poisson: {
      const double sum = std::accumulate(sample.begin(), sample.end(), 0.0);
      return Density::poisson(sample_gamma(sum + 0.5, rng) / static_cast<double>(sample.size()));
    }
    case DensityFamily::mixture:
      return detail::refit_normal_mixture(
          fitted, sample, random_weights(sample.size(), sample.size(), rng), resolution);
    case DensityFamily::kernel:
      break;
  }
  return draw_kernel(fitted, sample.size(), rng);
}

std::size_t fewest_for_joint(int dimension) { return static_cast<std::size_t>(dimension) + 5; }

VectorDensity fit_joint_normal(std::span<const double> sample, int dimension) {
  const Scatter scatter = scatter_of(sample, dimension);
  const double n = static_cast<double>(sample.size()) / dimension;
  return joint_normal(scatter.mean, scatter.squares / (n - 1.0));
}

VectorDensity draw_joint_normal(std::span<const double> sample, int dimension, Rng& rng) {
  const Scatter scatter = scatter_of(sample, dimension);
  const double n = static_cast<double>(sample.size()) / dimension;
  // Bartlett: with A lower triangular, A Aᵀ ~ Wishart(n - 1, I), Σ = L A⁻ᵀ A⁻¹ Lᵀ where squares = L
  // Lᵀ.
  Matrix bartlett = Matrix::Zero(dimension, dimension);
  for (Eigen::Index i = 0; i < dimension; ++i) {
    bartlett(i, i) = std::sqrt(chi_square(n - 1.0 - static_cast<double>(i), rng));
    for (Eigen::Index k = 0; k < i; ++k) bartlett(i, k) = sample_normal(rng);
  }
  const Matrix lower = scatter.squares.llt().matrixL();
  // (A⁻¹ Lᵀ)ᵀ is a root of Σ.
  const Matrix root =
      bartlett.triangularView<Eigen::Lower>().solve(Matrix(lower.transpose())).transpose();
  Vector mean = scatter.mean;
  Vector noise(dimension);
  for (Eigen::Index i = 0; i < dimension; ++i) noise(i) = sample_normal(rng);
  mean += root * noise / std::sqrt(n);
  return joint_normal(mean, root * root.transpose());
}

}  // namespace oas
