#include "oas/belief/likelihood_filter.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"

namespace oas {

LikelihoodFilter::LikelihoodFilter(const Pomdp& chain)
    : LikelihoodFilter(chain, chain.transition()) {}

LikelihoodFilter::LikelihoodFilter(const Pomdp& chain, TransitionModel transition)
    : timing_(chain.timing()),
      start_(chain.start()),
      transition_(std::move(transition)),
      belief_(start_),
      scratch_(start_.size()) {}

double LikelihoodFilter::reset(const RunStart& start) {
  belief_.resize(start_.size());
  return start.belief(start_, belief_);
}

void LikelihoodFilter::reset(std::span<const double> belief) {
  OAS_REQUIRE(belief.size() == belief_.size(), "a belief over {} states for {} states",
              belief.size(), belief_.size());
  std::copy(belief.begin(), belief.end(), belief_.begin());
}

double LikelihoodFilter::update(Action action, std::span<const double> likelihoods) {
  if (timing_ == Timing::after) move(action);
  const double density = weigh(likelihoods);
  if (timing_ == Timing::before) move(action);
  return density;
}

void LikelihoodFilter::move(Action action) {
  std::fill(scratch_.begin(), scratch_.end(), 0.0);
  for (State s{0}; s < transition_.num_states(); ++s) {
    const double weight = belief_[static_cast<std::size_t>(s)];
    transition_.for_each_next(action, s, [&](State next, double probability) {
      scratch_[static_cast<std::size_t>(next)] += weight * probability;
    });
  }
  std::swap(belief_, scratch_);
}

double LikelihoodFilter::weigh(std::span<const double> likelihoods) {
  double density = 0.0;
  for (std::size_t s = 0; s < belief_.size(); ++s) density += belief_[s] * likelihoods[s];
  if (!(density > 0.0)) return 0.0;
  // In this order: 1/density may be beyond all numbers.
  for (std::size_t s = 0; s < belief_.size(); ++s) {
    belief_[s] = belief_[s] * likelihoods[s] / density;
  }
  return density;
}

}  // namespace oas
