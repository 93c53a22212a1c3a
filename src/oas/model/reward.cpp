#include "oas/model/reward.hpp"

#include <numeric>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

Reward::Reward(Kind kind, std::vector<double> values) : kind_(kind), values_(std::move(values)) {
  check_finite(values_, "reward");
}

Reward Reward::by_observation(std::vector<double> values) {
  return {Kind::by_observation, std::move(values)};
}

Reward Reward::by_action_state(std::vector<double> values) {
  return {Kind::by_action_state, std::move(values)};
}

Reward Reward::by_transition(std::vector<double> values) {
  return {Kind::by_transition, std::move(values)};
}

void Reward::check_size(int num_states, int num_actions, int num_observations) const {
  const auto s = static_cast<std::size_t>(num_states);
  const auto a = static_cast<std::size_t>(num_actions);
  const auto o = static_cast<std::size_t>(num_observations);
  const std::size_t expected = kind_ == Kind::none              ? 0
                               : kind_ == Kind::by_observation  ? o
                               : kind_ == Kind::by_action_state ? a * s
                                                                : a * s * s * o;
  OAS_REQUIRE(values_.size() == expected, "reward has {} values where {} are needed",
              values_.size(), expected);
}

bool reward_needs_transition(const Reward& reward, Timing timing) {
  return reward.kind() == Reward::Kind::by_transition ||
         (reward.kind() == Reward::Kind::by_observation && timing == Timing::after);
}

namespace {

// Σ_o Z_a(o|emitter) r(o).
double mean_over_observations(std::span<const double> rewards, const ObservationModel& sensors,
                              Action a, State emitter) {
  const auto z = sensors.distribution(a, emitter);
  return std::inner_product(z.begin(), z.end(), rewards.begin(), 0.0);
}

// Σ_s' T_a(s,s') Σ_o Z_a(o|emitter) R(a,s,s',o); `rewards` is R(a,s,·,·), or r(o) for every s'.
double mean_over_transitions(std::span<const double> rewards, Timing timing,
                             const ObservationModel& sensors, const TransitionModel& transition,
                             Action a, State s) {
  const auto num_observations = static_cast<std::size_t>(sensors.num_observations());
  const bool full = rewards.size() > num_observations;
  double mean = 0.0;
  for (int next = 0; next < sensors.num_states(); ++next) {
    const std::size_t start = full ? static_cast<std::size_t>(next) * num_observations : 0;
    const State emitter = timing == Timing::before ? s : State{next};
    mean += transition(a, s, State{next}) *
            mean_over_observations(rewards.subspan(start, num_observations), sensors, a, emitter);
  }
  return mean;
}

}  // namespace

Matrix expected_reward(const Reward& reward, Timing timing, const ObservationModel& sensors,
                       const TransitionModel* transition) {
  OAS_REQUIRE(transition != nullptr || !reward_needs_transition(reward, timing),
              "the expected reward depends on the transition model, and the model has none");
  const int num_states = sensors.num_states();
  const std::size_t block =
      static_cast<std::size_t>(num_states) * static_cast<std::size_t>(sensors.num_observations());
  const auto values = reward.values();
  const auto mean = [&](Action a, State s, std::size_t row) {
    switch (reward.kind()) {
      case Reward::Kind::none:
        return 0.0;
      case Reward::Kind::by_action_state:
        return values[row];
      case Reward::Kind::by_observation:
        return timing == Timing::before
                   ? mean_over_observations(values, sensors, a, s)
                   : mean_over_transitions(values, timing, sensors, *transition, a, s);
      case Reward::Kind::by_transition:
        break;
    }
    return mean_over_transitions(values.subspan(row * block, block), timing, sensors, *transition,
                                 a, s);
  };
  Matrix table(sensors.num_actions(), num_states);
  for (int a = 0; a < sensors.num_actions(); ++a) {
    for (int s = 0; s < num_states; ++s) {
      table(a, s) = mean(Action{a}, State{s}, static_cast<std::size_t>(a) * num_states + s);
    }
  }
  return table;
}

}  // namespace oas
