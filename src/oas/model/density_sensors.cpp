#include "oas/model/density_sensors.hpp"

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/low_discrepancy.hpp"

namespace oas {

namespace {

// Of the rule for boxes of two, and of more, dependent components.
constexpr int kBoxPoints = 256;
constexpr int kManyBoxPoints = 4096;

void check_dimension(std::size_t numbers, int dimension) {
  OAS_REQUIRE(numbers == static_cast<std::size_t>(dimension), "{} numbers for {} components",
              numbers, dimension);
}

}  // namespace

VectorDensity::VectorDensity(std::vector<Density> components) : marginals_(std::move(components)) {
  OAS_REQUIRE(!marginals_.empty(), "a vector without components");
}

VectorDensity VectorDensity::gaussian(std::vector<double> mean, std::vector<double> covariance) {
  const std::size_t d = mean.size();
  OAS_REQUIRE(d >= 1 && covariance.size() == d * d, "{} covariances for {} means",
              covariance.size(), d);
  VectorDensity density;
  density.cholesky_.assign(d * d, 0.0);
  std::vector<double>& root = density.cholesky_;
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double value = covariance[i * d + j];
      const double mirrored = covariance[j * d + i];
      OAS_REQUIRE(std::isfinite(value) && std::abs(value - mirrored) <= 1e-12 * std::abs(value),
                  "covariance[{}][{}] is {} and covariance[{}][{}] is {}; it must be symmetric", i,
                  j, value, j, i, mirrored);
      double sum = value;
      for (std::size_t k = 0; k < j; ++k) sum -= root[i * d + k] * root[j * d + k];
      if (i == j) {
        OAS_REQUIRE(sum > 1e-14 * std::abs(value),
                    "covariance is not positive definite: row {} depends on those before it", i);
        root[i * d + i] = std::sqrt(sum);
        density.log_constant_ -=
            std::log(root[i * d + i]) + 0.5 * std::log(2.0 * boost::math::constants::pi<double>());
      } else {
        root[i * d + j] = sum / root[j * d + j];
      }
    }
    density.marginals_.push_back(Density::gaussian(mean[i], std::sqrt(covariance[i * d + i])));
  }
  density.covariance_ = std::move(covariance);
  return density;
}

double VectorDensity::operator()(std::span<const double> x) const {
  check_dimension(x.size(), dimension());
  if (dependent()) {
    const bool complete = std::none_of(x.begin(), x.end(), [](double v) { return std::isnan(v); });
    return complete ? gaussian_density(x) : marginal_density(x);
  }
  double product = 1.0;
  for (std::size_t i = 0; i < marginals_.size(); ++i) {
    if (!std::isnan(x[i])) product *= marginals_[i](x[i]);
  }
  return product;
}

// Components of a Gaussian are Gaussian with the same means and covariances.
double VectorDensity::marginal_density(std::span<const double> x) const {
  const std::size_t d = marginals_.size();
  std::vector<double> seen;
  std::vector<double> mean;
  std::vector<double> covariance;
  for (std::size_t i = 0; i < d; ++i) {
    if (std::isnan(x[i])) continue;
    seen.push_back(x[i]);
    mean.push_back(marginals_[i].parameters()[0]);
    for (std::size_t k = 0; k < d; ++k) {
      if (!std::isnan(x[k])) covariance.push_back(covariance_[i * d + k]);
    }
  }
  if (seen.empty()) return 1.0;
  return gaussian(std::move(mean), std::move(covariance)).gaussian_density(seen);
}

double VectorDensity::gaussian_density(std::span<const double> x) const {
  const std::size_t d = marginals_.size();
  // Solves root · z = x - mean row by row, without room for z: few dimensions are meant.
  constexpr std::size_t kFew = 16;
  double few[kFew];
  std::vector<double> many(d > kFew ? d : 0);
  double* const z = d > kFew ? many.data() : few;
  double square = 0.0;
  for (std::size_t i = 0; i < d; ++i) {
    double rest = x[i] - marginals_[i].parameters()[0];
    for (std::size_t j = 0; j < i; ++j) rest -= cholesky_[i * d + j] * z[j];
    z[i] = rest / cholesky_[i * d + i];
    square += z[i] * z[i];
  }
  return std::exp(log_constant_ - 0.5 * square);
}

void VectorDensity::sample(std::span<double> x, Rng& rng) const {
  check_dimension(x.size(), dimension());
  for (double& u : x) u = (static_cast<double>(rng.bits() >> 11) + 0.5) * 0x1.0p-53;
  from_uniform(x, x);
}

void VectorDensity::from_uniform(std::span<const double> u, std::span<double> x) const {
  const std::size_t d = marginals_.size();
  check_dimension(u.size(), dimension());
  check_dimension(x.size(), dimension());
  if (!dependent()) {
    for (std::size_t i = 0; i < d; ++i) x[i] = marginals_[i].from_uniform(u[i]);
    return;
  }
  static const Density standard = Density::gaussian(0.0, 1.0);
  for (std::size_t i = 0; i < d; ++i) x[i] = standard.quantile(u[i]);
  for (std::size_t i = d; i-- > 0;) {  // from below: row i needs z_0 … z_i
    double sum = marginals_[i].parameters()[0];
    for (std::size_t j = 0; j <= i; ++j) sum += cholesky_[i * d + j] * x[j];
    x[i] = sum;
  }
}

double VectorDensity::box(std::span<const double> low, std::span<const double> high) const {
  check_dimension(low.size(), dimension());
  check_dimension(high.size(), dimension());
  if (dependent()) return gaussian_box(low, high);
  double product = 1.0;
  for (std::size_t i = 0; i < marginals_.size(); ++i) {
    product *= marginals_[i].cdf(high[i]) - marginals_[i].cdf(low[i]);
  }
  return product;
}

// One component after the other, given those before it: the last one is integrated exactly.
double VectorDensity::gaussian_box(std::span<const double> low,
                                   std::span<const double> high) const {
  static const Density standard = Density::gaussian(0.0, 1.0);
  const std::size_t d = marginals_.size();
  const int count = d == 1 ? 1 : d == 2 ? kBoxPoints : kManyBoxPoints;
  const LowDiscrepancy points(static_cast<int>(std::max<std::size_t>(d, 2) - 1), count);
  std::vector<double> u(static_cast<std::size_t>(points.dimension()));
  std::vector<double> z(d);
  double total = 0.0;
  for (int k = 0; k < count; ++k) {
    points.point(k, u);
    double weight = 1.0;
    for (std::size_t i = 0; i < d && weight > 0.0; ++i) {
      double shift = marginals_[i].parameters()[0];
      for (std::size_t j = 0; j < i; ++j) shift += cholesky_[i * d + j] * z[j];
      const double below = standard.cdf((low[i] - shift) / cholesky_[i * d + i]);
      const double above = standard.cdf((high[i] - shift) / cholesky_[i * d + i]);
      weight *= above - below;
      if (i + 1 < d) {
        constexpr double kEnd = 1e-300;
        z[i] = standard.quantile(std::clamp(std::lerp(below, above, u[i]), kEnd, 1.0 - 0x1.0p-53));
      }
    }
    total += weight;
  }
  return total / count;
}

DensitySensors::DensitySensors(int num_states, int num_actions,
                               std::vector<VectorDensity> densities, std::string_view what)
    : num_states_(num_states), num_actions_(num_actions), densities_(std::move(densities)) {
  OAS_REQUIRE(num_states >= 1 && num_actions >= 1, "{}: {} states and {} actions", what, num_states,
              num_actions);
  OAS_REQUIRE(densities_.size() ==
                  static_cast<std::size_t>(num_states) * static_cast<std::size_t>(num_actions),
              "{}: {} distributions for {} actions and {} states", what, densities_.size(),
              num_actions, num_states);
  const VectorDensity& first = densities_.front();
  for (std::size_t i = 0; i < densities_.size(); ++i) {
    const auto name = [&] {
      const auto n = static_cast<std::size_t>(num_states);
      return fmt::format("{}[{}][{}]", what, i / n, i % n);
    };
    OAS_REQUIRE(densities_[i].dimension() == first.dimension(),
                "{} has {} components where {}[0][0] has {}", name(), densities_[i].dimension(),
                what, first.dimension());
    for (std::size_t c = 0; c < first.marginals().size(); ++c) {
      OAS_REQUIRE(densities_[i].marginals()[c].discrete() == first.marginals()[c].discrete(),
                  "{} is {} where {}[0][0] is {}: an observation is a count under all actions and "
                  "states or under none",
                  name(), to_string(densities_[i].marginals()[c].kind()), what,
                  to_string(first.marginals()[c].kind()));
    }
  }
}

bool DensitySensors::discrete(int component) const {
  OAS_REQUIRE(component >= 0 && component < dimension(), "component {} of {}", component,
              dimension());
  return densities_.front().marginals()[static_cast<std::size_t>(component)].discrete();
}

const VectorDensity& DensitySensors::at(Action action, State state) const {
  check_action(action, num_actions_);
  check_state(state, num_states_);
  return (*this)(action, state);
}

void DensitySensors::likelihood(Action action, std::span<const double> reading,
                                std::span<double> out) const {
  check_action(action, num_actions_);
  OAS_REQUIRE(out.size() == static_cast<std::size_t>(num_states_), "{} likelihoods of {} states",
              out.size(), num_states_);
  for (State s{0}; s < num_states_; ++s) {
    out[static_cast<std::size_t>(s)] = (*this)(action, s)(reading);
  }
}

std::optional<Action> DensitySensors::action_that_differs() const {
  const auto of = [this](Action a) {
    return std::span(densities_)
        .subspan(static_cast<std::size_t>(a * num_states_), static_cast<std::size_t>(num_states_));
  };
  for (Action a{1}; a < num_actions_; ++a) {
    if (!std::ranges::equal(of(a), of(Action{0}))) return a;
  }
  return {};
}

std::string DensitySensors::brief() const {
  std::set<std::string_view> kinds;
  for (const VectorDensity& density : densities_) {
    for (const Density& part : density.marginals()) kinds.insert(to_string(part.kind()));
  }
  return fmt::format("{} real number{} ({})", dimension(), dimension() == 1 ? "" : "s",
                     fmt::join(kinds, ", "));
}

}  // namespace oas
