#include "oas/simulation/environment.hpp"

#include <utility>

namespace oas {

AliasTables detail::transition_samplers(const TransitionModel& transition) {
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

FiniteAnswers::FiniteAnswers(const Pomdp& model)
    : kind_(model.reward().kind()),
      num_states_(model.num_states()),
      num_observations_(model.num_observations()),
      observations_(model.sensors().values(), model.num_observations()),
      rewards_(model.reward().values().begin(), model.reward().values().end()),
      table_(model.reward().table()) {
  if (!model.reading_first()) return;
  first_sensor_ = model.first_observation();
  first_.emplace(first_sensor_->values(), model.num_observations());
}

RealAnswers::RealAnswers(const ContinuousPomdp& model)
    : sensors_(model.sensors()),
      first_(model.first_density()),
      reading_(static_cast<std::size_t>(sensors_.dimension())),
      likelihoods_(static_cast<std::size_t>(model.num_states())) {
  const Matrix expected = model.chain().expected_reward();
  rewards_.assign(expected.data(), expected.data() + expected.size());
}

}  // namespace oas
