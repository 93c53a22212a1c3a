#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "oas/planning/planner.hpp"
#include "planning/planning_support.hpp"

/// Systems without chance: next to nothing is forgotten, and sensors tell little or nothing, so
/// that sweeps over all beliefs settle late or never. Their gains are means over cycles.
namespace oas {
namespace {

// Maps of the states by two actions, and rewards.
struct Clockwork {
  int states = 0;
  std::vector<std::vector<int>> next;  // [a][s]
  std::vector<double> rewards;         // [a][s]
  [[nodiscard]] Pomdp model(int readings, double told, std::vector<double> start) const;
  [[nodiscard]] double best_cycle_from(int state) const;
};

Clockwork clockwork(int states, std::uint64_t seed) {
  Rng rng({seed, 0, Role::environment});
  Clockwork out;
  out.states = states;
  for (int a = 0; a < 2; ++a) {
    std::vector<int> map;
    for (int s = 0; s < states; ++s) map.push_back(s);
    for (int s = states - 1; s > 0; --s) {
      std::swap(map[static_cast<std::size_t>(s)],
                map[rng.below(static_cast<std::uint32_t>(s + 1))]);
    }
    out.next.push_back(map);
    for (int s = 0; s < states; ++s) out.rewards.push_back(rng.uniform());
  }
  return out;
}

Pomdp Clockwork::model(int readings, double told, std::vector<double> start) const {
  std::vector<double> moves(2 * static_cast<std::size_t>(states * states), 0.0);
  std::vector<double> sensors;
  for (int a = 0; a < 2; ++a) {
    for (int s = 0; s < states; ++s) {
      moves[static_cast<std::size_t>((a * states + s) * states + next[a][s])] = 1.0;
      for (int o = 0; o < readings; ++o) {
        const double right = s % readings == o ? told : 0.0;
        sensors.push_back(right + (1.0 - told) / readings);
      }
    }
  }
  return test::make_model(Timing::before, states, 2, readings, moves, sensors,
                          Reward::by_action_state(rewards), std::move(start));
}

// The best of the 2^S stationary policies: each ends in a cycle.
double Clockwork::best_cycle_from(int state) const {
  double best = -1e9;
  for (int policy = 0; policy < 1 << states; ++policy) {
    const auto act = [&](int s) { return policy >> s & 1; };
    int s = state;
    for (int t = 0; t < states; ++t) s = next[act(s)][s];
    const int first = s;
    double sum = 0.0;
    int length = 0;
    do {
      sum += rewards[static_cast<std::size_t>(act(s) * states + s)];
      s = next[act(s)][s];
      ++length;
    } while (s != first);
    best = std::max(best, sum / length);
  }
  return best;
}

std::vector<double> corner(int states) {
  std::vector<double> start(static_cast<std::size_t>(states), 0.0);
  start[0] = 1.0;
  return start;
}

// The state is known and stays known, though nothing is seen: the start leads to corners only, and
// what other starts could earn does not count.
TEST(SlowGrid, WhatTheStartLeadsToDecides) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Clockwork clock = clockwork(4, seed);
    PlanOptions options;
    options.simulation.steps = 6400;
    const Plan plan = make_plan(clock.model(1, 0.0, corner(4)), options);
    const double gain = clock.best_cycle_from(0);
    EXPECT_NEAR(plan.gain_upper, gain, 1e-5) << seed;
    EXPECT_GE(plan.gain_upper, gain - 1e-9) << seed;
    EXPECT_NEAR(plan.gain_lower, gain, 1e-3) << seed;
    EXPECT_EQ(plan.status, SolveStatus::converged) << plan.message;
  }
}

// Two pieces that nothing tells apart: from the poor one the rich one is out of reach, and a start
// in either earns the mean of both.
TEST(SlowGrid, ThePieceOfTheStartIsTheBound) {
  const std::vector<double> moves = {0.5, 0.5, 0,   0,   0.5, 0.5, 0,   0,
                                     0,   0,   0.5, 0.5, 0,   0,   0.5, 0.5};
  const std::vector<double> sensors = {0.8, 0.2, 0.3, 0.7, 0.8, 0.2, 0.3, 0.7};
  for (const double rich : {0.0, 0.5, 1.0}) {
    const Pomdp model = test::make_model(
        Timing::before, 4, 1, 2, moves, sensors, Reward::by_action_state({0.2, 0.4, 0.7, 0.9}),
        {0.5 * (1.0 - rich), 0.5 * (1.0 - rich), 0.5 * rich, 0.5 * rich});
    PlanOptions options;
    options.resolution = 10;
    options.simulation.steps = 6400;
    EXPECT_NEAR(make_plan(model, options).gain_upper, 0.3 + 0.5 * rich, 1e-5) << rich;
  }
}

// A place that is hardly ever left, to a better one that is left as rarely: the bound is said to be
// proved, so it holds however long it takes to get there.
TEST(SlowGrid, WhatIsHardlyEverLeftIsNoPieceOfItsOwn) {
  for (const double leak : {1e-6, 1e-10, 1e-12, 1e-14, 1e-16, 1e-300, 5e-324}) {
    for (const Timing timing : {Timing::before, Timing::after}) {
      const Pomdp model =
          test::make_model(timing, 2, 1, 2, {1.0 - leak, leak, 3.0 * leak, 1.0 - 3.0 * leak},
                           {0.9, 0.1, 0.2, 0.8}, Reward::by_action_state({0.0, 1.0}), {1.0, 0.0});
      PlanOptions options;
      options.resolution = 6;
      options.simulation.steps = 640;
      EXPECT_GE(make_plan(model, options).gain_upper, 0.25 - 1e-9) << leak;
    }
  }
}

// Six states, and readings that tell little: in the long run the state is known. The upper bound is
// there long before the span falls.
TEST(SlowGrid, SweepsEndWhereBoundsStandStill) {
  const Clockwork clock = clockwork(6, 3);
  PlanOptions options;
  options.simulation.steps = 6400;
  const Plan plan = make_plan(clock.model(2, 0.1, std::vector<double>(6, 1.0 / 6.0)), options);
  double gain = 0.0;
  for (int s = 0; s < 6; ++s) gain = std::max(gain, clock.best_cycle_from(s));
  EXPECT_LE(plan.gain_upper, gain + 1e-4);
  EXPECT_LE(plan.gain_lower, plan.gain_upper);
  EXPECT_LT(plan.iterations, 2000);
  EXPECT_NE(plan.status, SolveStatus::stalled);  // a finer grid may do better
}

}  // namespace
}  // namespace oas
