#include "oas/estimation/particles/finite_posterior.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"

namespace oas {

FinitePosterior::FinitePosterior(const Pomdp& sensors, std::span<const TransitionModel> candidates,
                                 std::span<const double> prior)
    : candidates_(candidates.begin(), candidates.end()) {
  OAS_REQUIRE(!candidates.empty(), "a posterior needs at least one candidate");
  OAS_REQUIRE(prior.empty() || prior.size() == candidates.size(),
              "a prior of {} entries for {} candidates", prior.size(), candidates.size());
  if (!prior.empty()) check_simplex(prior, "prior");
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    filters_.emplace_back(sensors.with_transition(candidates_[i]));
    probabilities_.push_back(prior.empty() ? 1.0 / static_cast<double>(candidates.size())
                                           : prior[i]);
    logs_.push_back(std::log(probabilities_[i]));
  }
}

void FinitePosterior::start_run() {
  for (BeliefFilter& filter : filters_) filter.reset();
}

double FinitePosterior::update(Action action, Observation observation) {
  double probability = 0.0;
  std::vector<double> likelihood;
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    likelihood.push_back(filters_[i].update(action, observation));
    probability += probabilities_[i] * likelihood[i];
  }
  if (observation == kMissing) return 1.0;
  if (!(probability > 0.0)) return 0.0;
  for (std::size_t i = 0; i < logs_.size(); ++i) logs_[i] += std::log(likelihood[i]);
  const double largest = *std::max_element(logs_.begin(), logs_.end());
  double sum = 0.0;
  for (const double log : logs_) sum += std::exp(log - largest);
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    logs_[i] -= largest + std::log(sum);
    probabilities_[i] = std::exp(logs_[i]);
  }
  return probability;
}

int FinitePosterior::draw(Rng& rng) const { return sample_categorical(probabilities_, rng); }

}  // namespace oas
