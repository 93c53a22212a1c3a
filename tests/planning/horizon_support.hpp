#pragma once

#include "oas/planning/horizon/horizon_plan.hpp"
#include "support/random_models.hpp"

/// Models for tests of plans that end.
namespace oas::test {

inline Plan plan_for(const Pomdp& model, int steps, double gap = 1e-9, double discount = 1.0) {
  return horizon_plan(model, {.steps = steps, .discount = discount, .gap = gap});
}

// Three states, two actions; kind 0: before, 1: after, 2: reading-first.
inline Pomdp small_model(int kind, std::uint64_t seed) {
  RandomModelOptions options;
  options.num_observations = 2 + static_cast<int>(seed % 2);
  options.timing = kind == 0 ? Timing::before : Timing::after;
  options.zero_fraction = seed % 3 == 0 ? 0.4 : 0.0;
  PomdpParts parts = random_model(options, seed).parts();
  Rng rng({seed, 7, Role::policy});
  // Each action is the right one in some state, so that it pays to know the state.
  std::vector<double> rewards(6);
  for (int s = 0; s < 3; ++s) {
    const int right = (s + static_cast<int>(seed)) % 2;
    rewards[static_cast<std::size_t>(3 * right + s)] = 1.0 + rng.uniform();
    rewards[static_cast<std::size_t>(3 * (1 - right) + s)] = -2.0 * rng.uniform();
  }
  // Some rewards are all negative: a bound that discounts too little is too low then.
  if (seed % 4 == 0) {
    for (double& reward : rewards) reward -= 4.0;
  }
  parts.reward = Reward::by_action_state(std::move(rewards));
  if (kind == 2) {
    parts.first_observation = ObservationModel(
        3, 1, options.num_observations, random_rows(3, options.num_observations, 0.5, 0.3, rng));
    parts.rows = Rows::reading_first;
  }
  return Pomdp(std::move(parts));
}

}  // namespace oas::test
