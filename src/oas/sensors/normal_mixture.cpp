#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "oas/sensors/detail/normal_mixture.hpp"

namespace oas::detail {

namespace {

constexpr double kNarrowest = 0.05;  // part of the sample's standard deviation
constexpr double kLightest = 1e-3;   // weight of a part
constexpr int kMostSteps = 500;
constexpr std::size_t kEnoughForThree = 30;

struct Part {
  double weight;
  double mean;
  double sd;
};

struct Mixture {
  std::vector<Part> parts;
  double log_likelihood = -std::numeric_limits<double>::infinity();
};

// Weighted expectation-maximisation; weights sum to 1.
class Climb {
 public:
  Climb(std::span<const double> sample, std::span<const double> weights, double narrowest)
      : sample_(sample), weights_(weights), narrowest_(narrowest) {}

  Mixture run(std::vector<Part> parts) const {
    Mixture at = {std::move(parts), -std::numeric_limits<double>::infinity()};
    for (int i = 0; i < kMostSteps; ++i) {
      const double before = at.log_likelihood;
      step(at);
      if (at.log_likelihood - before <= 1e-9) break;
    }
    return at;
  }

 private:
  // The log-likelihood is that of the parts before the step.
  void step(Mixture& at) const {
    const std::size_t k = at.parts.size();
    std::vector<double> mass(k, 0.0);
    std::vector<double> first(k, 0.0);
    std::vector<double> second(k, 0.0);
    std::vector<double> share(k);
    double total = 0.0;
    for (std::size_t i = 0; i < sample_.size(); ++i) {
      double largest = -std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < k; ++j) {
        const Part& part = at.parts[j];
        const double z = (sample_[i] - part.mean) / part.sd;
        share[j] = std::log(part.weight / part.sd) - 0.5 * z * z;
        largest = std::max(largest, share[j]);
      }
      double sum = 0.0;
      for (double& value : share) sum += value = std::exp(value - largest);
      total += weights_[i] * (largest + std::log(sum));
      for (std::size_t j = 0; j < k; ++j) {
        const double part = weights_[i] * share[j] / sum;
        const double shifted = sample_[i] - at.parts[j].mean;
        mass[j] += part;
        first[j] += part * shifted;
        second[j] += part * shifted * shifted;
      }
    }
    at.log_likelihood = total - 0.5 * std::log(2.0 * std::numbers::pi);
    double all = 0.0;
    for (std::size_t j = 0; j < k; ++j) {
      Part& part = at.parts[j];
      if (mass[j] > 0.0) {
        const double shift = first[j] / mass[j];
        part.mean += shift;
        part.sd =
            std::max(std::sqrt(std::max(second[j] / mass[j] - shift * shift, 0.0)), narrowest_);
      }
      part.weight = std::max(mass[j], kLightest);
      all += part.weight;
    }
    for (Part& part : at.parts) part.weight /= all;
  }

  std::span<const double> sample_;
  std::span<const double> weights_;
  double narrowest_;
};

struct Spread {
  double mean;
  double sd;
};

Spread spread_of(std::span<const double> sample) {
  const auto n = static_cast<double>(sample.size());
  const double mean = std::accumulate(sample.begin(), sample.end(), 0.0) / n;
  double squares = 0.0;
  for (const double x : sample) squares += (x - mean) * (x - mean);
  return {mean, std::sqrt(squares / n)};
}

// Parts that begin as the stretches of the sorted sample between these levels.
std::vector<Part> stretches(const std::vector<double>& sorted, const std::vector<double>& levels,
                            double narrowest) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
    const auto n = static_cast<double>(sorted.size());
    const auto first = static_cast<std::size_t>(levels[i] * n);
    const auto last = std::max(first + 1, static_cast<std::size_t>(levels[i + 1] * n));
    const Spread spread = spread_of(std::span(sorted).subspan(first, last - first));
    parts.push_back({levels[i + 1] - levels[i], spread.mean, std::max(spread.sd, narrowest)});
  }
  return parts;
}

Density as_density(const Mixture& mixture) {
  std::vector<double> weights;
  std::vector<Density> parts;
  for (const Part& part : mixture.parts) {
    weights.push_back(part.weight);
    parts.push_back(Density::gaussian(part.mean, part.sd));
  }
  return Density::mixture(std::move(weights), std::move(parts));
}

double narrowest_of(std::span<const double> sample, double resolution) {
  return std::max(kNarrowest * spread_of(sample).sd, resolution);
}

}  // namespace

Density fit_normal_mixture(std::span<const double> sample, double resolution) {
  const double narrowest = narrowest_of(sample, resolution);
  const auto n = static_cast<double>(sample.size());
  const std::vector<double> weights(sample.size(), 1.0 / n);
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  const Climb climb(sample, weights, narrowest);
  const auto better = [&](Mixture& best, std::vector<Part> start) {
    Mixture found = climb.run(std::move(start));
    if (found.log_likelihood > best.log_likelihood) best = std::move(found);
  };
  const Spread whole = spread_of(sample);
  Mixture two;
  for (const double cut : {0.5, 0.2, 0.8}) better(two, stretches(sorted, {0, cut, 1}, narrowest));
  better(two, {{0.8, whole.mean, 0.5 * whole.sd}, {0.2, whole.mean, 2.0 * whole.sd}});
  if (sample.size() < kEnoughForThree) return as_density(two);
  Mixture three;
  for (const double cut : {1.0 / 3.0, 0.15}) {
    better(three, stretches(sorted, {0, cut, 1.0 - cut, 1}, narrowest));
  }
  // Three more numbers: 2 n ΔL > 3 log n.
  const bool prefer = 2.0 * n * (three.log_likelihood - two.log_likelihood) > 3.0 * std::log(n);
  return as_density(prefer ? three : two);
}

Density refit_normal_mixture(const Density& fitted, std::span<const double> sample,
                             std::span<const double> weights, double resolution) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < fitted.parts().size(); ++i) {
    const std::vector<double>& p = fitted.parts()[i].parameters();
    parts.push_back({fitted.weights()[i], p[0], p[1]});
  }
  return as_density(Climb(sample, weights, narrowest_of(sample, resolution)).run(std::move(parts)));
}

}  // namespace oas::detail
