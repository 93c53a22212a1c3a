#include "oas/model/density.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

namespace {

namespace math = boost::math;
using Policy =
    math::policies::policy<math::policies::promote_double<false>,
                           math::policies::discrete_quantile<math::policies::integer_round_up>,
                           math::policies::overflow_error<math::policies::ignore_error>,
                           math::policies::underflow_error<math::policies::ignore_error>>;
using Normal = math::normal_distribution<double, Policy>;
using Beta = math::beta_distribution<double, Policy>;
using Gamma = math::gamma_distribution<double, Policy>;
using Poisson = math::poisson_distribution<double, Policy>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void require_positive(double value, const char* name) {
  OAS_REQUIRE(std::isfinite(value) && value > 0.0, "{} is {}; it must be positive and finite", name,
              value);
}

bool is_count(double x) { return x >= 0.0 && x == std::floor(x) && x < 1e15; }

// Where the last probability of a table ends.
double end_of_table(const std::vector<double>& edges, const std::vector<double>& probability) {
  std::size_t last = probability.size() - 1;
  while (!(probability[last] > 0.0)) --last;
  return edges[last + 1];
}

// exponent · log x where 0 · log 0 is 0.
double log_power(double exponent, double log_x) { return exponent == 0.0 ? 0.0 : exponent * log_x; }

}  // namespace

std::string_view to_string(Density::Kind kind) {
  switch (kind) {
    case Density::Kind::gaussian:
      return "gaussian";
    case Density::Kind::lognormal:
      return "lognormal";
    case Density::Kind::beta:
      return "beta";
    case Density::Kind::gamma:
      return "gamma";
    case Density::Kind::poisson:
      return "poisson";
    case Density::Kind::table:
      return "table";
    case Density::Kind::kernel:
      return "kernel";
    case Density::Kind::mixture:
      break;
  }
  return "mixture";
}

Density::Density(Kind kind, std::vector<double> parameters)
    : kind_(kind), parameters_(std::move(parameters)) {}

Density Density::gaussian(double mean, double sd) {
  OAS_REQUIRE(std::isfinite(mean), "mean is {}; it must be finite", mean);
  require_positive(sd, "sd");
  Density density(Kind::gaussian, {mean, sd});
  density.log_constant_ = -std::log(sd) - 0.5 * std::log(2.0 * std::numbers::pi);
  return density;
}

Density Density::lognormal(double log_mean, double log_sd) {
  OAS_REQUIRE(std::isfinite(log_mean), "log_mean is {}; it must be finite", log_mean);
  require_positive(log_sd, "log_sd");
  Density density(Kind::lognormal, {log_mean, log_sd});
  density.log_constant_ = -std::log(log_sd) - 0.5 * std::log(2.0 * std::numbers::pi);
  return density;
}

Density Density::beta(double alpha, double beta) {
  require_positive(alpha, "alpha");
  require_positive(beta, "beta");
  Density density(Kind::beta, {alpha, beta});
  density.log_constant_ = math::lgamma(alpha + beta) - math::lgamma(alpha) - math::lgamma(beta);
  return density;
}

Density Density::gamma(double shape, double scale) {
  require_positive(shape, "shape");
  require_positive(scale, "scale");
  Density density(Kind::gamma, {shape, scale});
  density.log_constant_ = -math::lgamma(shape) - std::log(scale);
  return density;
}

Density Density::poisson(double mean) {
  require_positive(mean, "mean");
  OAS_REQUIRE(mean <= 1e9, "mean is {}; it must be at most 1e9", mean);
  Density density(Kind::poisson, {mean});
  density.log_constant_ = -mean;
  return density;
}

Density Density::table(std::vector<double> edges, std::vector<double> probability) {
  OAS_REQUIRE(!probability.empty() && edges.size() == probability.size() + 1,
              "{} edges for {} probabilities; one edge more than probabilities is needed",
              edges.size(), probability.size());
  check_finite(edges, "edges");
  for (std::size_t i = 1; i < edges.size(); ++i) {
    OAS_REQUIRE(edges[i] > edges[i - 1], "edges[{}] is {} and edges[{}] is {}; edges must ascend",
                i - 1, edges[i - 1], i, edges[i]);
  }
  check_simplex(probability, "probability");
  Density density(Kind::table, std::move(edges));
  density.weights_ = std::move(probability);
  return density;
}

Density Density::kernel(std::vector<double> points, double bandwidth, std::vector<double> weights) {
  OAS_REQUIRE(!points.empty(), "there are no points; at least one is needed");
  check_finite(points, "points");
  require_positive(bandwidth, "bandwidth");
  if (weights.empty()) weights.assign(points.size(), 1.0 / static_cast<double>(points.size()));
  OAS_REQUIRE(weights.size() == points.size(), "{} weights for {} points", weights.size(),
              points.size());
  check_simplex(weights, "weights");
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t k) { return points[i] < points[k]; });
  Density density(Kind::kernel, {});
  for (const std::size_t i : order) {
    density.parameters_.push_back(points[i]);
    density.weights_.push_back(weights[i]);
  }
  density.bandwidth_ = bandwidth;
  density.log_constant_ = -std::log(bandwidth) - 0.5 * std::log(2.0 * std::numbers::pi);
  return density;
}

Density Density::mixture(std::vector<double> weights, std::vector<Density> parts) {
  OAS_REQUIRE(!parts.empty() && weights.size() == parts.size(), "{} weights for {} parts",
              weights.size(), parts.size());
  check_simplex(weights, "weights");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    OAS_REQUIRE(parts[i].kind() != Kind::mixture, "parts[{}] is a mixture; it cannot be one", i);
    OAS_REQUIRE(parts[i].discrete() == parts[0].discrete(),
                "parts[{}] is {} and parts[0] is {}: counts and measurements cannot be mixed", i,
                to_string(parts[i].kind()), to_string(parts[0].kind()));
  }
  Density density(Kind::mixture, {});
  density.weights_ = std::move(weights);
  density.parts_ = std::move(parts);
  return density;
}

bool Density::discrete() const {
  return kind_ == Kind::poisson || (kind_ == Kind::mixture && parts_.front().discrete());
}

double Density::operator()(double x) const {
  const std::vector<double>& p = parameters_;
  switch (kind_) {
    case Kind::gaussian: {
      const double z = (x - p[0]) / p[1];
      return std::exp(log_constant_ - 0.5 * z * z);
    }
    case Kind::lognormal: {
      if (!(x > 0.0)) return 0.0;
      const double z = (std::log(x) - p[0]) / p[1];
      return std::exp(log_constant_ - std::log(x) - 0.5 * z * z);
    }
    case Kind::beta:
      if (!(x >= 0.0 && x <= 1.0)) return 0.0;
      return std::exp(log_constant_ + log_power(p[0] - 1.0, std::log(x)) +
                      log_power(p[1] - 1.0, std::log1p(-x)));
    case Kind::gamma:
      if (!(x >= 0.0)) return 0.0;
      return std::exp(log_constant_ + log_power(p[0] - 1.0, std::log(x / p[1])) - x / p[1]);
    case Kind::poisson:
      if (!is_count(x)) return 0.0;
      return std::exp(log_constant_ + log_power(x, std::log(p[0])) - math::lgamma(x + 1.0));
    case Kind::table:
      return table_density(x);
    case Kind::kernel:
      return kernel_density(x);
    case Kind::mixture:
      break;
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (weights_[i] > 0.0) sum += weights_[i] * parts_[i](x);
  }
  return sum;
}

double Density::cdf(double x) const {
  OAS_REQUIRE(!std::isnan(x), "the probability of values up to {}", x);
  if (x == -kInfinity) return 0.0;
  if (x == kInfinity) return 1.0;
  const std::vector<double>& p = parameters_;
  switch (kind_) {
    case Kind::gaussian:
      return math::cdf(Normal(p[0], p[1]), x);
    case Kind::lognormal:
      return x <= 0.0 ? 0.0 : math::cdf(Normal(p[0], p[1]), std::log(x));
    case Kind::beta:
      return x <= 0.0 ? 0.0 : x >= 1.0 ? 1.0 : math::cdf(Beta(p[0], p[1]), x);
    case Kind::gamma:
      return x <= 0.0 ? 0.0 : math::cdf(Gamma(p[0], p[1]), x);
    case Kind::poisson:
      return x < 0.0 ? 0.0 : math::cdf(Poisson(p[0]), std::floor(x));
    case Kind::table:
      return table_cdf(x);
    case Kind::kernel:
      return kernel_cdf(x);
    case Kind::mixture:
      break;
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < parts_.size(); ++i) sum += weights_[i] * parts_[i].cdf(x);
  return sum;
}

double Density::quantile(double u) const {
  OAS_REQUIRE(!std::isnan(u), "the quantile of {}", u);
  const std::vector<double>& p = parameters_;
  const bool low = !(u > 0.0);
  const bool high = u >= 1.0;
  switch (kind_) {
    case Kind::gaussian:
      if (low || high) return low ? -kInfinity : kInfinity;
      return math::quantile(Normal(p[0], p[1]), u);
    case Kind::lognormal:
      if (low || high) return low ? 0.0 : kInfinity;
      return std::exp(math::quantile(Normal(p[0], p[1]), u));
    case Kind::beta:
      if (low || high) return low ? 0.0 : 1.0;
      return math::quantile(Beta(p[0], p[1]), u);
    case Kind::gamma:
      if (low || high) return low ? 0.0 : kInfinity;
      return math::quantile(Gamma(p[0], p[1]), u);
    case Kind::poisson:
      if (low || high) return low ? 0.0 : kInfinity;
      return math::quantile(Poisson(p[0]), u);
    case Kind::table:
      return table_quantile(u);
    case Kind::kernel: {
      if (low || high) return low ? -kInfinity : kInfinity;
      const double shift = math::quantile(Normal(0.0, bandwidth_), u);
      return quantile_between(p.front() + shift, p.back() + shift, u);
    }
    case Kind::mixture:
      break;
  }
  return mixture_quantile(u);
}

std::size_t Density::part_at(double& u) const {
  for (std::size_t i = 0; i + 1 < weights_.size(); ++i) {
    if (u < weights_[i]) {
      u /= weights_[i];
      return i;
    }
    u -= weights_[i];
  }
  // Rounding may leave u at an end, or a last part of weight 0: then the one before it is meant.
  std::size_t last = weights_.size() - 1;
  while (!(weights_[last] > 0.0)) --last;
  constexpr double kEnd = 0x1.0p-54;
  u = std::clamp(u / weights_[last], kEnd, 1.0 - kEnd);
  return last;
}

double Density::from_uniform(double u) const {
  OAS_REQUIRE(!std::isnan(u), "a draw from {}", u);
  if (kind_ == Kind::mixture) {
    const Density& part = parts_[part_at(u)];
    return part.kind_ == Kind::kernel ? part.from_uniform(u) : part.quantile(u);
  }
  if (kind_ == Kind::kernel) {
    const double point = parameters_[part_at(u)];
    return math::quantile(Normal(point, bandwidth_), std::max(u, 0x1.0p-1000));
  }
  return quantile(u);
}

double Density::table_density(double x) const {
  if (!(x >= parameters_.front() && x <= parameters_.back())) return 0.0;
  const auto above = std::upper_bound(parameters_.begin(), parameters_.end(), x);
  const auto i = std::min<std::size_t>(static_cast<std::size_t>(above - parameters_.begin()) - 1,
                                       weights_.size() - 1);
  return weights_[i] / (parameters_[i + 1] - parameters_[i]);
}

double Density::table_cdf(double x) const {
  if (x >= end_of_table(parameters_, weights_)) return 1.0;  // the weights may sum to a little less
  double sum = 0.0;
  for (std::size_t i = 0; i < weights_.size() && x > parameters_[i]; ++i) {
    const double share = (x - parameters_[i]) / (parameters_[i + 1] - parameters_[i]);
    sum += weights_[i] * std::min(1.0, share);
  }
  return std::min(1.0, sum);
}

double Density::table_quantile(double u) const {
  if (!(u > 0.0)) return parameters_.front();
  if (u >= 1.0) return end_of_table(parameters_, weights_);
  double sum = 0.0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] > 0.0 && u <= sum + weights_[i]) {
      return std::lerp(parameters_[i], parameters_[i + 1], (u - sum) / weights_[i]);
    }
    sum += weights_[i];
  }
  return parameters_.back();
}

double Density::kernel_density(double x) const {
  constexpr double kReach = 39.0;  // further away a Gaussian is 0 as a double
  const double reach = kReach * bandwidth_;
  auto point = std::lower_bound(parameters_.begin(), parameters_.end(), x - reach);
  double sum = 0.0;
  for (; point != parameters_.end() && *point <= x + reach; ++point) {
    const double z = (x - *point) / bandwidth_;
    sum += weights_[static_cast<std::size_t>(point - parameters_.begin())] *
           std::exp(log_constant_ - 0.5 * z * z);
  }
  return sum;
}

double Density::kernel_cdf(double x) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    sum += weights_[i] * math::cdf(Normal(parameters_[i], bandwidth_), x);
  }
  return std::min(1.0, sum);
}

double Density::quantile_between(double low, double high, double u) const {
  if (low == high) return low;
  if (cdf(low) >= u) return low;
  for (int i = 0; i < 200; ++i) {
    double middle = std::midpoint(low, high);
    if (discrete()) middle = std::floor(middle);
    if (middle <= low || middle >= high) break;
    (cdf(middle) >= u ? high : low) = middle;
  }
  return high;
}

// By bisection between the parts' quantiles.
double Density::mixture_quantile(double u) const {
  double low = kInfinity;
  double high = -kInfinity;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!(weights_[i] > 0.0)) continue;
    const double x = parts_[i].quantile(u);
    low = std::min(low, x);
    high = std::max(high, x);
  }
  if (!std::isfinite(low) || !std::isfinite(high)) return u < 0.5 ? low : high;
  return quantile_between(low, high, u);
}

}  // namespace oas
