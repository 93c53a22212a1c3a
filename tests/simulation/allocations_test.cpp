#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace oas
