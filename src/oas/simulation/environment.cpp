#include "oas/simulation/environment.hpp"

#include <utility>

namespace oas {

namespace {

AliasTables transition_samplers(const TransitionModel& transition) {
  if (!transition.is_listed()) return {transition.values(), transition.num_states()};
  std::vector<double> weights;
  std::vector<int> outcomes;
  std::vector<std::size_t> row_starts{0};
  for (Action a{0}; a < transition.num_actions(); ++a) {
    for (State s{0}; s < transition.num_states(); ++s) {
      transition.for_each_next(a, s, [&](State next, double p) {
        weights.push_back(p);
        outcomes.push_back(next);
      });
      row_starts.push_back(weights.size());
    }
  }
  return {weights, outcomes, std::move(row_starts)};
}

}  // namespace

Environment::Environment(const Pomdp& model, Rng rng)
    : timing_(model.timing()),
      reward_kind_(model.reward().kind()),
      num_states_(model.num_states()),
      num_observations_(model.num_observations()),
      transitions_(transition_samplers(model.transition())),
      observations_(model.sensors().values(), model.num_observations()),
      rewards_(model.reward().values().begin(), model.reward().values().end()),
      reward_table_(model.reward().table()),
      rng_(rng),
      state_(sample_categorical(model.start(), rng_)) {}

}  // namespace oas
