#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "oas/planning/evaluation/detail/markov_chain.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/policies/controller.hpp"
#include "planning/planning_support.hpp"

/// Chains that leave a class once in a thousand to 10¹³ steps, against their exact
/// gains: sweeps see nothing change there long before anything has settled.
namespace oas {
namespace {

constexpr std::array<double, 6> kLeaks = {1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13};
constexpr std::array<double, 3> kTolerances = {1e-7, 1e-4, 1e-2};

// One action; three readings that tell a little of the state, the right one this often.
Pomdp watched(Timing timing, const std::vector<double>& moves, const std::vector<double>& rewards,
              const std::vector<double>& start, double right = 0.5) {
  const auto states = static_cast<int>(rewards.size());
  std::vector<double> sensors;
  for (int s = 0; s < states; ++s) {
    for (int o = 0; o < 3; ++o) sensors.push_back(o == s % 3 ? right : 0.5 * (1.0 - right));
  }
  return test::make_model(timing, states, 1, 3, moves, sensors, Reward::by_action_state(rewards),
                          start);
}

Plan only_plan(const Pomdp& model, int resolution) {
  PlanOptions options;
  options.planner = "grid";
  options.resolution = resolution;
  options.max_sweeps = 100;
  options.simulation.steps = 640;
  return make_plan(model, options);
}

void expect_gain(const Pomdp& model, int resolution, double gain, double leak) {
  const Plan plan = only_plan(model, resolution);
  for (const double tolerance : kTolerances) {
    ChainOptions options;
    options.span_tolerance = tolerance;
    const ChainEvaluation chain = evaluate_on_chain(model, plan, model, options);
    EXPECT_NEAR(chain.gain, gain, std::max(tolerance, 1e-6))
        << "leak " << leak << ", tolerance " << tolerance << ": " << chain.message;
  }
}

// From what earns 1, for a long time, to one of two places for ever.
TEST(SlowChain, WhatIsLeftAlmostNeverIsLeft) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const double leak : kLeaks) {
      const Pomdp model = watched(timing, {1.0 - leak, 0.3 * leak, 0.7 * leak, 0, 1, 0, 0, 0, 1},
                                  {1.0, 0.2, 0.8}, {1.0, 0.0, 0.0});
      expect_gain(model, 8, 0.3 * 0.2 + 0.7 * 0.8, leak);
    }
  }
}

// The same from a cycle of two, with one place to end in: the gain does not depend on the start.
TEST(SlowChain, TheOnlyEndIsTheGainOfEveryStart) {
  for (const double leak : kLeaks) {
    const Pomdp model = watched(Timing::after, {0, 1, 0, 1.0 - leak, 0, leak, 0, 0, 1},
                                {1.0, 0.6, 0.1}, {0.5, 0.5, 0.0});
    expect_gain(model, 6, 0.1, leak);
    ChainOptions options;
    const ChainEvaluation chain = evaluate_on_chain(model, only_plan(model, 6), model, options);
    EXPECT_EQ(chain.status, SolveStatus::converged) << chain.message;
  }
}

// Two pairs of states that hardly ever change places: in the long run two thirds of the steps are
// in the second.
TEST(SlowChain, PiecesThatHardlyMixDoMix) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const double leak : kLeaks) {
      const Pomdp model =
          watched(timing,
                  {0.5 - leak, 0.5, leak, 0, 0.5, 0.5 - leak, 0, leak,  //
                   0.5 * leak, 0, 0.5 - 0.5 * leak, 0.5, 0, 0.5 * leak, 0.5, 0.5 - 0.5 * leak},
                  {1.0, 0.6, 0.1, 0.3}, {1.0, 0.0, 0.0, 0.0});
      expect_gain(model, 4, 0.8 / 3.0 + 2.0 * 0.2 / 3.0, leak);
    }
  }
}

// Many readings share a move among them, and each of them has less than rounding could have: it is
// a move all the same. Below 1e-15 the number of the model itself counts as 0.
TEST(SlowChain, AMoveIsJudgedByItselfNotByWhatIsSeenThen) {
  constexpr int kReadings = 50;
  const std::vector<double> sensors(2 * kReadings, 1.0 / kReadings);
  for (const double leak : {1e-9, 1e-14, 1e-17}) {
    const Pomdp model = test::make_model(Timing::after, 2, 1, kReadings,
                                         {1.0 - leak, leak, 3.0 * leak, 1.0 - 3.0 * leak}, sensors,
                                         Reward::by_action_state({0.0, 1.0}), {1.0, 0.0});
    const ControllerValue value = evaluate_controller(model, uniform_controller(model));
    EXPECT_NEAR(value.gain, leak > 1e-15 ? 0.25 : 0.0, 1e-9) << leak;
  }
}

// A chain too large for linear systems still ends, and its message says what is not known.
TEST(SlowChain, LargeChainsSayWhatTheyCannotTell) {
  const double leak = 1e-9;
  const Pomdp model = watched(Timing::before,
                              {0.9, 0.1 - leak, leak, 0, 0.3, 0.7 - leak, 0, leak,  //
                               leak, 0, 0.8 - leak, 0.2, 0, leak, 0.4, 0.6 - leak},
                              {1, 0, 0, 0}, {0.2, 0.3, 0.1, 0.4}, 0.7);
  ChainOptions options;
  options.resolution = 40;
  const ChainEvaluation chain = evaluate_on_chain(model, only_plan(model, 6), model, options);
  EXPECT_EQ(chain.status, SolveStatus::stalled);
  EXPECT_THAT(chain.message, testing::HasSubstr("or the chain mixes too slowly to tell"));
}

// Long-run means of a small chain by hand: states 0 and 1 pass, 2 is a cycle with 3, 4 stays.
TEST(MarkovChain, LongRunByClasses) {
  detail::MarkovChain::Rows rows;
  const auto add = [&](std::vector<std::pair<int, double>> moves) {
    for (const auto& [to, weight] : moves) {
      rows.targets.push_back(to);
      rows.weights.push_back(weight);
    }
    rows.end_row();
  };
  add({{1, 1.0}});
  add({{0, 0.5}, {2, 0.125}, {4, 0.375}});
  add({{3, 1.0}});
  add({{2, 1.0}});
  add({});
  detail::MarkovChain chain(rows);
  EXPECT_EQ(chain.num_closed(), 2);
  EXPECT_TRUE(chain.is_passing(0));
  EXPECT_FALSE(chain.is_passing(4));
  EXPECT_FALSE(chain.hangs_on_moves(1e-6));
  EXPECT_TRUE(chain.hangs_on_moves(0.4));  // {0, 1} would be closed without its small moves
  Eigen::MatrixXd worth(5, 1);
  worth << 9.0, 9.0, 1.0, 3.0, 6.0;
  const Eigen::MatrixXd mean = chain.long_run(worth);
  EXPECT_NEAR(mean(2, 0), 2.0, 1e-14);
  EXPECT_NEAR(mean(4, 0), 6.0, 1e-14);
  EXPECT_NEAR(mean(0, 0), 0.25 * 2.0 + 0.75 * 6.0, 1e-13);
  EXPECT_NEAR(mean(1, 0), mean(0, 0), 1e-13);
}

}  // namespace
}  // namespace oas
