#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "oas/planning/planner.hpp"
#include "planning/planning_support.hpp"

/// Systems whose start decides, by chance, where they stay for ever. A few simulated runs need not
/// see all of these places, and do not differ where all end in the same one: limits of the mean
/// over the starts must hold all the same.
namespace oas {
namespace {

constexpr double kExact = 1e-9;

// Pairs of states that are left by nothing and earn the same at every step, whatever is done, and a
// state 0 that leads to them. Readings tell the states.
struct Pieces {
  Pomdp model;
  double gain;
  double share;  // of the steps in the last piece
};

Pieces pieces(Timing timing, std::uint64_t seed, bool from_outside) {
  Rng rng({seed, 0, Role::environment});
  constexpr int kPieces = 3;
  constexpr int kStates = 2 * kPieces + 1;
  std::vector<double> weights = {1.0, 0.02 + 0.1 * rng.uniform(), 0.005 + 0.05 * rng.uniform()};
  double sum = 0.0;
  for (const double weight : weights) sum += weight;
  std::vector<double> lands(kStates, 0.0);
  std::vector<double> transition;
  std::vector<double> reward(kStates, 0.0);
  double gain = 0.0;
  for (int piece = 0; piece < kPieces; ++piece) {
    const double weight = weights[static_cast<std::size_t>(piece)] / sum;
    const double earned = piece == 0 ? 1.0 : rng.uniform();
    lands[static_cast<std::size_t>(2 * piece + 1)] = weight;
    reward[static_cast<std::size_t>(2 * piece + 1)] = earned;
    reward[static_cast<std::size_t>(2 * piece + 2)] = earned;
    gain += weight * earned;
  }
  for (int a = 0; a < 2; ++a) {
    transition.insert(transition.end(), lands.begin(), lands.end());
    for (int s = 1; s < kStates; ++s) {
      const int first = s % 2 == 0 ? s - 1 : s;
      for (int next = 0; next < kStates; ++next) {
        const bool within = next == first || next == first + 1;
        transition.push_back(within ? (next == s ? 0.3 + 0.2 * a : 0.7 - 0.2 * a) : 0.0);
      }
    }
  }
  std::vector<double> sensor(kStates * kStates, 0.0);
  for (int s = 0; s < kStates; ++s) sensor[static_cast<std::size_t>(s * kStates + s)] = 1.0;
  std::vector<double> sensors = sensor;
  sensors.insert(sensors.end(), sensor.begin(), sensor.end());
  std::vector<double> rewards = reward;
  rewards.insert(rewards.end(), reward.begin(), reward.end());
  std::vector<double> start(kStates, 0.0);
  start[0] = 1.0;
  return {test::make_model(timing, kStates, 2, kStates, transition, sensors,
                           Reward::by_action_state(rewards), from_outside ? start : lands),
          gain, weights.back() / sum};
}

TEST(FinalClasses, LimitsHoldWhereTheStartDecides) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      for (const bool from_outside : {false, true}) {
        const Pieces here = pieces(timing, seed, from_outside);
        PlanOptions options;
        options.resolution = 1;
        options.simulation.steps = 6400;
        options.simulation.burn_in = 100;
        options.iota = seed % 2 == 0 ? 0.0 : 0.1;
        const Plan plan = make_plan(here.model, options);
        EXPECT_LE(plan.gain_lower, here.gain + kExact) << seed;
        EXPECT_GE(plan.gain_upper, here.gain - kExact) << seed;
        for (const bool control_variate : {false, true}) {
          SimulationOptions simulation = options.simulation;
          simulation.control_variate = control_variate;
          const GainInterval interval =
              evaluate_by_simulation(here.model, plan, here.model, simulation);
          EXPECT_LE(interval.lower_limit, here.gain + kExact) << seed;
          EXPECT_GE(interval.upper_limit, here.gain - kExact) << seed;
          EXPECT_NEAR(interval.mean, here.gain, interval.half_width + kExact) << seed;
          EXPECT_LE(interval.lower_limit, interval.mean);
          EXPECT_LE(interval.mean, interval.upper_limit);
        }
      }
    }
  }
}

// Where every place is seen and all is told, nothing is lost.
TEST(FinalClasses, WhatTheStartSaysIsTaken) {
  const std::vector<double> stays = {1.0, 0.0, 0.0, 1.0};
  const Pomdp model = test::make_model(Timing::before, 2, 1, 2, stays, stays,
                                       Reward::by_action_state({0.2, 0.9}), {0.4, 0.6});
  PlanOptions options;
  options.simulation.steps = 6400;
  const Plan plan = make_plan(model, options);
  const GainInterval interval = evaluate_by_simulation(model, plan, model, options.simulation);
  EXPECT_FALSE(interval.unseen);
  EXPECT_NEAR(interval.mean, 0.62, kExact);
  EXPECT_NEAR(interval.lower_limit, 0.62, kExact);
  EXPECT_NEAR(interval.upper_limit, 0.62, kExact);
}

// A share of the steps in a state that no run came to.
TEST(FinalClasses, SharesOfStepsHaveUpperLimits) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Pieces here = pieces(Timing::before, seed, false);
    PlanOptions options;
    options.resolution = 1;
    options.simulation.steps = 6400;
    options.simulation.burn_in = 100;
    options.limit = "5+6=0.5";
    const Plan plan = make_plan(here.model, options);
    EXPECT_GE(plan.limited->frequency_upper, here.share - kExact) << seed;
  }
}

// One that has not failed yet will fail.
TEST(FinalClasses, SharesOfStepsAfterTheEndOfASimulation) {
  const double hazard = 1e-6;
  const Pomdp model =
      test::make_model(Timing::before, 2, 1, 2, {1.0 - hazard, hazard, 0, 1}, {1, 0, 0, 1},
                       Reward::by_action_state({0.0, 1.0}), {1.0, 0.0});
  PlanOptions options;
  options.simulation.steps = 6400;
  const Plan plan = make_plan(model, options);
  SimulationOptions simulation = options.simulation;
  simulation.control_variate = false;
  const GainInterval interval = evaluate_by_simulation(model, plan, model, simulation);
  EXPECT_TRUE(interval.transient);
  EXPECT_GE(interval.upper_limit, 1.0 - kExact);
}

}  // namespace
}  // namespace oas
