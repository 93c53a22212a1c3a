#include "oas/belief/filter.hpp"

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

BeliefFilter::BeliefFilter(const Pomdp& model)
    : kernel_(model, model.transition(), Matrix(0, model.num_states())),
      num_actions_(model.num_actions()),
      num_observations_(model.num_observations()),
      start_(model.start()),
      first_sensor_(model.first_observation()),
      belief_(static_cast<std::size_t>(kernel_.stride())),
      scratch_(belief_.size()) {
  reset();
}

double BeliefFilter::reset(const RunStart& start) {
  const double probability = start.belief(start_, belief_);
  std::fill(belief_.begin() + kernel_.num_states(), belief_.end(), 0.0);
  return probability;
}

void BeliefFilter::reset(const Belief& belief) {
  OAS_REQUIRE(belief.num_states() == kernel_.num_states(), "a belief over {} states for {} states",
              belief.num_states(), kernel_.num_states());
  std::copy(belief.values().begin(), belief.values().end(), belief_.begin());
}

double BeliefFilter::begin(Observation first) {
  OAS_REQUIRE(
      first_sensor_.has_value(),
      "a run begins with a reading, and the model that keeps the belief is not for rows that "
      "are reading-first: it has no first_observation");
  return reset(RunStart().with(first_reading(*first_sensor_, first)));
}

double BeliefFilter::update(Action action, Observation observation) {
  check_action(action, num_actions_);
  check_observation(observation, num_observations_);
  if (observation == kMissing) {
    kernel_.predict(belief_.data(), action, nullptr, scratch_.data());
    return 1.0;
  }
  return kernel_.update(belief_.data(), action, observation, nullptr, scratch_.data());
}

}  // namespace oas
