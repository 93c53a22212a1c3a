#include <gtest/gtest.h>

#include <string>

#include "oas/simulation/batch_environment.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/allocations.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

constexpr std::size_t kSteps = 10'000;

Trajectory reserved() {
  Trajectory rows;
  rows.actions.reserve(kSteps);
  rows.observations.reserve(kSteps);
  rows.propensities.reserve(kSteps);
  rows.rewards.reserve(kSteps);
  rows.states.reserve(kSteps);
  return rows;
}

// Fixed-size kernels (3, 8) and the run-time one (7), every policy, both timings.
TEST(Allocations, AdvanceDoesNotAllocateInReservedColumns) {
  for (const PolicyInfo& policy : policies()) {
    for (const Timing timing : {Timing::before, Timing::after}) {
      for (const int num_states : {3, 7, 8}) {
        test::RandomModelOptions sizes;
        sizes.num_states = num_states;
        sizes.num_actions = 5;
        sizes.timing = timing;
        PolicyOptions options;
        options.name = policy.name;
        ClosedLoop loop(test::random_model(sizes, 1), options, 1);
        Trajectory rows = reserved();
        const std::size_t before = test::allocations();
        for (int block = 0; block < 10; ++block) loop.advance(kSteps / 10, rows);
        EXPECT_EQ(test::allocations(), before) << policy.name << ' ' << num_states;
        rows.clear();
        loop.advance(kSteps, rows);
        EXPECT_EQ(test::allocations(), before) << "cleared columns keep their memory";
      }
    }
  }
}

// Steps and restarts of many copies, with beliefs of fixed and of run-time size.
TEST(Allocations, BatchStepsDoNotAllocate) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const int num_states : {3, 7}) {
      test::RandomModelOptions sizes;
      sizes.num_states = num_states;
      sizes.timing = timing;
      BatchOptions options;
      options.copies = 300;
      options.track_beliefs = true;
      BatchEnvironment batch(test::random_model(sizes, 1), options);
      std::vector<Action> actions(options.copies);
      const std::size_t before = test::allocations();
      for (int t = 0; t < 50; ++t) {
        for (int k = 0; k < 300; ++k)
          actions[static_cast<std::size_t>(k)] = Action{(k + t) % 3 - 1};
        batch.step(actions);
      }
      EXPECT_EQ(test::allocations(), before) << num_states;
    }
  }
}

}  // namespace
}  // namespace oas
