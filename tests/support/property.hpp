#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "oas/model/timing.hpp"
#include "support/printing.hpp"
#include "support/random_models.hpp"

/// RapidCheck with a fixed seed: a test gives the same answer every day. RC_PARAMS set from outside
/// ("seed=1 max_success=10000") wins, for those who want to search further.
namespace oas::test {

inline const int kSeedIsFixed = setenv("RC_PARAMS", "seed=20170803", 0);

/// A 64-bit seed, shown when a property fails. Uniform: seeds do not grow with the test.
inline std::uint64_t any_seed() {
  return *rc::gen::inRange<std::uint64_t>(0, 1'000'000'000).as("seed");
}

inline Timing any_timing() { return *rc::gen::element(Timing::before, Timing::after).as("timing"); }

/// Draws sizes up to the limits, the timing, how uneven and how sparse the tables are, the reward
/// kind and the seed; shrinks towards few states.
inline Pomdp any_model(int max_states = 5, int max_actions = 3, int max_observations = 5) {
  RandomModelOptions options;
  options.num_states = *rc::gen::inRange(1, max_states + 1).as("states");
  options.num_actions = *rc::gen::inRange(1, max_actions + 1).as("actions");
  options.num_observations = *rc::gen::inRange(1, max_observations + 1).as("observations");
  options.timing = any_timing();
  options.concentration = *rc::gen::element(0.2, 1.0, 5.0).as("concentration");
  options.zero_fraction = *rc::gen::element(0.0, 0.4).as("zero fraction");
  options.reward = *rc::gen::element(Reward::Kind::by_observation, Reward::Kind::by_action_state,
                                     Reward::Kind::by_transition, Reward::Kind::none)
                        .as("reward kind");
  return random_model(options, any_seed());
}

}  // namespace oas::test
