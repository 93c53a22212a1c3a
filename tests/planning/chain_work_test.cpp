#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "oas/planning/evaluation/detail/grid_chain.hpp"
#include "planning/planning_support.hpp"

/// Work of a chain is bounded, whatever it mixes like, and what is said when it is spent holds.
namespace oas {
namespace {

constexpr double kUnbounded = 1e100;

// A clock of so many states whose hand stays with probability `stay`, and sensors that tell the
// state next to never: one action, and all states are equally frequent whatever it starts in.
Pomdp clock_of(int states, Timing timing, double stay, double told) {
  std::vector<double> moves;
  std::vector<double> sensors;
  std::vector<double> rewards;
  for (int s = 0; s < states; ++s) {
    for (int next = 0; next < states; ++next) {
      const double on = next == (s + 1) % states ? 1.0 - stay : 0.0;
      moves.push_back(on + (next == s ? stay : 0.0));
    }
    const double even = s % 2 == 0 ? 0.5 + told : 0.5 - told;
    sensors.insert(sensors.end(), {even, 1.0 - even});
    rewards.push_back(s == 0 ? 1.0 : 0.1 * s);
  }
  std::vector<double> start(static_cast<std::size_t>(states), 0.0);
  start[0] = 1.0;
  return test::make_model(timing, states, 1, 2, moves, sensors, Reward::by_action_state(rewards),
                          start);
}

double mean_reward(const Pomdp& model) { return model.expected_reward().mean(); }

// Of any policy: there is one action.
Plan any_plan(const Pomdp& model) {
  Plan plan(model);
  plan.bias = GridBias{1, std::vector<double>(static_cast<std::size_t>(model.num_states()), 0.0)};
  return plan;
}

// With work for so many sweeps.
ChainEvaluation solve(const Pomdp& model, int resolution, double sweeps, int threads = 1) {
  const BeliefGrid grid(model.num_states(), resolution);
  const Plan plan = any_plan(model);
  detail::GridChain chain(model, plan, model, grid, {threads});
  return detail::solve_chain(chain, {}, {threads}, sweeps * chain.products_of_sweep());
}

// Finer than linear systems can take, for 2 to 8 states.
constexpr std::array<int, 9> kResolutions = {1, 1, 2000, 60, 20, 10, 7, 6, 5};

TEST(ChainWork, IsBoundedAndTheGainLiesWithinWhatIsSaid) {
  int spent = 0;
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (int states = 1; states <= 8; ++states) {
      for (const double stay : {0.0, 1e-6, 1.0 - 1e-6}) {
        const Pomdp model = clock_of(states, timing, states == 1 ? 1.0 : stay, 0.01);
        const int resolution = kResolutions[static_cast<std::size_t>(states)];
        const ChainEvaluation result = solve(model, resolution, 40.0);
        EXPECT_LE(result.iterations, 40) << states << " states, stay " << stay;
        const double gain = mean_reward(model);
        EXPECT_LE(result.smallest, gain + 1e-9) << result.message;
        EXPECT_GE(result.largest, gain - 1e-9) << result.message;
        if (result.status == SolveStatus::sweep_limit) {
          ++spent;
          EXPECT_THAT(result.message, testing::HasSubstr("its gain lies between"));
        } else {
          EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
          EXPECT_NEAR(result.gain, gain, 1e-6) << result.message;
        }
      }
    }
  }
  EXPECT_GE(spent, 10);
}

// Where nothing moves for a long time, little of the work is spent before that is seen.
TEST(ChainWork, HopelessSweepsEndSoon) {
  const Pomdp model = clock_of(6, Timing::after, 1.0 - 1e-6, 0.01);
  const ChainEvaluation result = solve(model, 7, 1000.0);
  EXPECT_EQ(result.status, SolveStatus::sweep_limit) << result.message;
  EXPECT_LE(result.iterations, 64);
}

// The forecast stops nothing that ends within its work: the same bits as without a bound.
TEST(ChainWork, WhatMixesIsNotCutShort) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (int states = 2; states <= 8; ++states) {
      for (const double stay : {0.2, 0.5, 0.8}) {
        const Pomdp model = clock_of(states, timing, stay, 0.2);
        const int resolution = states == 2 ? 50 : 4;
        const ChainEvaluation all = solve(model, resolution, kUnbounded);
        ASSERT_EQ(all.status, SolveStatus::converged) << all.message;
        const ChainEvaluation paid = solve(model, resolution, 2.0 * all.iterations);
        EXPECT_EQ(paid.iterations, all.iterations) << states << " states, stay " << stay;
        EXPECT_EQ(paid.gain, all.gain);
        EXPECT_EQ(paid.message, all.message);
      }
    }
  }
}

TEST(ChainWork, EndsAtTheSameSweepWhateverTheThreads) {
  const Pomdp model = clock_of(6, Timing::before, 1e-6, 0.01);
  const ChainEvaluation one = solve(model, 7, 40.0, 1);
  const ChainEvaluation two = solve(model, 7, 40.0, 2);
  EXPECT_EQ(one.iterations, two.iterations);
  EXPECT_EQ(one.gain, two.gain);
  EXPECT_EQ(one.message, two.message);
}

}  // namespace
}  // namespace oas
