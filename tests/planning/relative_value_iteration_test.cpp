#include "oas/planning/grid/relative_value_iteration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oas/core/contracts.hpp"
#include "planning/planning_support.hpp"
#include "support/allocations.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using test::make_model;

test::RandomModelOptions sizes(int s, int a, int o, Timing timing) {
  test::RandomModelOptions options;
  options.num_states = s;
  options.num_actions = a;
  options.num_observations = o;
  options.timing = timing;
  return options;
}

// Seen states, transition rows on the grid: the grid MDP is the MDP itself.
TEST(RelativeValueIteration, IdentityObservationsAfterGiveTheMdp) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng({seed, 0, Role::test});
    const int s = 3;
    const int a = 3;
    std::vector<double> rewards(static_cast<std::size_t>(s) * a);
    for (double& r : rewards) r = rng.uniform();
    const Pomdp model = make_model(Timing::after, s, a, s, test::lattice_rows(s * a, s, 7, rng),
                                   test::identity_sensors(s, a), Reward::by_action_state(rewards));
    Matrix table(s, a);
    std::vector<Matrix> next;
    for (int i = 0; i < a; ++i) {
      next.emplace_back(model.transition().matrix(Action{i}));
      for (int k = 0; k < s; ++k) table(k, i) = rewards[static_cast<std::size_t>(i * s + k)];
    }
    for (const double iota : {0.0, 0.1}) {
      const double expected = test::dense_mdp_gain(table, next, iota);
      if (std::isnan(expected)) continue;  // several classes
      RviOptions options;
      options.iota = iota;
      options.span_tolerance = 1e-9;
      const RviResult result = relative_value_iteration(model, BeliefGrid(s, 5), options);
      if (result.status != SolveStatus::converged) continue;
      EXPECT_NEAR(result.gain(), expected, 1e-8) << "seed " << seed;
      ++compared;
    }
  }
  EXPECT_GE(compared, 30);
}

// In `before` timing the state is seen one step late: an MDP on (last state, last action).
TEST(RelativeValueIteration, IdentityObservationsBeforeGiveTheLateMdp) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng({seed, 1, Role::test});
    const int s = 3;
    const int a = 2;
    const int parts = 10;
    std::vector<double> rewards(static_cast<std::size_t>(s) * a);
    for (double& r : rewards) r = rng.uniform();
    const Pomdp model =
        make_model(Timing::before, s, a, s, test::lattice_rows(s * a, s, parts, rng),
                   test::identity_sensors(s, a), Reward::by_action_state(rewards));
    Matrix table = Matrix::Zero(s * a, a);
    std::vector<Matrix> next(a, Matrix::Zero(s * a, s * a));
    for (int last = 0; last < a; ++last) {
      for (int from = 0; from < s; ++from) {
        for (int now = 0; now < s; ++now) {
          const double p = model.transition()(Action{last}, State{from}, State{now});
          for (int i = 0; i < a; ++i) {
            table(last * s + from, i) += p * rewards[static_cast<std::size_t>(i * s + now)];
            next[i](last * s + from, i * s + now) += p;
          }
        }
      }
    }
    RviOptions options;
    options.span_tolerance = 1e-9;
    const RviResult result = relative_value_iteration(model, BeliefGrid(s, parts), options);
    const double expected = test::dense_mdp_gain(table, next);
    if (std::isnan(expected) || result.status != SolveStatus::converged) continue;
    EXPECT_NEAR(result.gain(), expected, 1e-8) << "seed " << seed;
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

TEST(RelativeValueIteration, ReplacementProblemHasItsClosedForm) {
  for (const double wear : {0.05, 0.2}) {
    const double cost = 0.5;
    const Pomdp model = test::replacement_problem(wear, cost);
    const double gain = test::replacement_gain(wear, cost);
    GridSolver solver(BeliefGrid(2, 2000));
    const RviResult& result = solver.solve(model);
    ASSERT_EQ(result.status, SolveStatus::converged);
    EXPECT_NEAR(result.gain(), gain, 2e-5);
    EXPECT_GE(result.largest_increment, gain - 1e-12);
    // Replace exactly when P(broken) >= 1 - gain.
    std::vector<double> belief(2);
    std::vector<double> q(2);
    for (std::size_t i = 0; i < solver.grid().size(); ++i) {
      solver.grid().point(i, belief);
      if (std::abs(belief[1] - (1.0 - gain)) < 2e-3) continue;
      solver.mdp().action_values(i, result.bias, q);
      EXPECT_EQ(q[1] > q[0], belief[1] > 1.0 - gain) << belief[1];
    }
  }
}

// (1-γ) V_γ on the same grid approaches the gain: the error falls like 1-γ.
TEST(RelativeValueIteration, DiscountedValuesApproachTheGain) {
  const Pomdp model = test::random_model(sizes(3, 2, 3, Timing::before), 5);
  GridSolver solver(BeliefGrid(3, 12));
  RviOptions options;
  options.span_tolerance = 1e-9;
  const double gain = solver.solve(model, options).gain();
  double previous = 1e9;
  for (const double gamma : {0.9, 0.99, 0.999}) {
    std::vector<double> v(solver.grid().size(), 0.0);
    std::vector<double> q(2);
    for (int sweep = 0; sweep < static_cast<int>(20.0 / (1.0 - gamma)); ++sweep) {
      std::vector<double> scaled(v);
      for (double& x : scaled) x *= gamma;
      for (std::size_t i = 0; i < v.size(); ++i) {
        solver.mdp().action_values(i, scaled, q);
        v[i] = std::max(q[0], q[1]);
      }
    }
    double error = 0.0;
    for (const double x : v) error = std::max(error, std::abs((1.0 - gamma) * x - gain));
    EXPECT_LT(error, 0.2 * previous);
    previous = error;
  }
  EXPECT_LT(previous, 3e-3);
}

TEST(RelativeValueIteration, NestedGridsDoNotRise) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Pomdp model = test::random_model(sizes(3, 3, 3, timing), seed);
      double previous = 1e9;
      for (const int m : {6, 12, 24}) {
        const RviResult result = relative_value_iteration(model, BeliefGrid(3, m));
        ASSERT_EQ(result.status, SolveStatus::converged);
        EXPECT_LE(result.gain(), previous + 1e-4) << "seed " << seed << " m " << m;
        previous = result.gain();
      }
    }
  }
}

// Undamped, a periodic model never settles; damped it does. The swap pays in state 0 only.
TEST(RelativeValueIteration, PeriodicModelNeedsDamping) {
  const Pomdp model = make_model(Timing::after, 2, 1, 2, {0.0, 1.0, 1.0, 0.0},
                                 test::identity_sensors(2, 1), Reward::by_action_state({1.0, 0.0}));
  RviOptions options;
  options.max_sweeps = 2000;
  EXPECT_EQ(relative_value_iteration(model, BeliefGrid(2, 4), options).status,
            SolveStatus::converged);
  EXPECT_NEAR(relative_value_iteration(model, BeliefGrid(2, 4), options).gain(), 0.5, 1e-6);
  options.damping = 1.0;
  const RviResult undamped = relative_value_iteration(model, BeliefGrid(2, 4), options);
  EXPECT_EQ(undamped.status, SolveStatus::sweep_limit);
  EXPECT_NEAR(undamped.residual, 1.0, 1e-9);
}

TEST(RelativeValueIteration, SaysWhenTheGainDependsOnTheStart) {
  const Pomdp model = make_model(Timing::before, 2, 1, 1, {1.0, 0.0, 0.0, 1.0}, {1.0, 1.0},
                                 Reward::by_action_state({1.0, 0.25}));
  const RviResult result = relative_value_iteration(model, BeliefGrid(2, 10));
  EXPECT_EQ(result.status, SolveStatus::stalled);
  EXPECT_THAT(result.message, testing::HasSubstr("depends on the start"));
  EXPECT_NEAR(result.smallest_increment, 0.25, 1e-9);
  EXPECT_NEAR(result.largest_increment, 1.0, 1e-9);
}

TEST(RelativeValueIteration, ImpossibleObservationsOneStateOneAction) {
  const Pomdp impossible = make_model(Timing::after, 2, 1, 3, {0.5, 0.5, 0.25, 0.75},
                                      {1, 0, 0, 0, 1, 0}, Reward::by_observation({1.0, 0.0, 77.0}));
  EXPECT_NEAR(relative_value_iteration(impossible, BeliefGrid(2, 8)).gain(), 1.0 / 3.0, 1e-6);
  const Pomdp one_state = make_model(Timing::before, 1, 2, 2, {1.0, 1.0}, {1, 0, 0.5, 0.5},
                                     Reward::by_observation({0.2, 1.0}));
  const RviResult result = relative_value_iteration(one_state, BeliefGrid(1, 5));
  EXPECT_EQ(result.status, SolveStatus::converged);
  EXPECT_NEAR(result.gain(), 0.6, 1e-12);
}

// The bound holds for any v, after any number of sweeps. With seen states and rows on the grid, the
// gain is known exactly.
TEST(RelativeValueIteration, LargestIncrementBoundsTheGainFromAnyBias) {
  Rng rng({3, 0, Role::test});
  const Pomdp model = make_model(Timing::after, 3, 2, 3, test::random_rows(6, 3, 1.0, 0.0, rng),
                                 test::identity_sensors(3, 2),
                                 Reward::by_action_state({0.1, 0.9, 0.3, 0.4, 0.2, 0.6}));
  RviOptions options;
  options.span_tolerance = 1e-11;
  GridSolver solver(BeliefGrid(3, 6));
  const double gain = solver.solve(model, options).gain();
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> bias(solver.grid().size());
    for (double& v : bias) v = 3.0 * rng.uniform();
    solver.reset(bias);
    options.max_sweeps = 1 + trial % 5;
    EXPECT_GE(solver.iterate(options).largest_increment, gain - 1e-10);
    EXPECT_LE(solver.result().smallest_increment, gain + 1e-10);
  }
}

TEST(RelativeValueIteration, ThreadsDoNotChangeABit) {
  const Pomdp model = test::random_model(sizes(4, 3, 4, Timing::after), 9);
  RviOptions options;
  options.iota = 0.02;
  GridSolver one(BeliefGrid(4, 30), {1});
  GridSolver three(BeliefGrid(4, 30), {3});
  one.solve(model, options);
  three.solve(model, options);
  EXPECT_GT(one.mdp().num_entries(), 100'000U);
  EXPECT_EQ(one.result().bias, three.result().bias);
  EXPECT_EQ(one.result().iterations, three.result().iterations);
  EXPECT_EQ(one.result().largest_increment, three.result().largest_increment);
}

TEST(RelativeValueIteration, WarmStartGivesTheSameGainSooner) {
  const Pomdp model = test::random_model(sizes(3, 3, 3, Timing::before), 2);
  GridSolver solver(BeliefGrid(3, 20));
  RviOptions options;
  const double gain = solver.solve(model, options).gain();
  const int cold = solver.result().iterations;
  EXPECT_NEAR(solver.solve(model, options).gain(), gain, 1e-6);
  EXPECT_LT(solver.result().iterations, cold / 3);
}

// Small rewards of both timings against the floor: a floor costs, and 1/A is the uniform policy.
RC_GTEST_PROP(RelativeValueIterationProperty, FloorOnlyLowersTheGain, ()) {
  const Pomdp model = test::any_model(3, 3, 3);
  const BeliefGrid grid(model.num_states(), 8);
  double previous = 1e9;
  for (const double share : {0.0, 0.3, 1.0}) {
    RviOptions options;
    options.iota = share / model.num_actions();
    const RviResult result = relative_value_iteration(model, grid, options);
    RC_ASSERT(result.largest_increment <= previous + 1e-5);
    previous = result.largest_increment;
  }
}

TEST(RelativeValueIteration, SweepsAllocateNothing) {
  const Pomdp model = test::random_model(sizes(4, 3, 4, Timing::after), 9);
  for (const int threads : {1, 2}) {
    GridSolver solver(BeliefGrid(4, 30), {threads});
    RviOptions options;
    options.span_tolerance = 1e-300;
    const auto count = [&](int sweeps) {
      options.max_sweeps = sweeps;
      const std::size_t before = test::allocations();
      solver.iterate(options);
      return test::allocations() - before;
    };
    solver.solve(model, options = {});
    options.span_tolerance = 1e-300;
    count(1);
    const std::size_t few = count(1);
    EXPECT_EQ(count(200), few) << threads << " threads";
  }
}

TEST(RelativeValueIteration, RecompilingAllocatesNothingOfTheOrderOfTheGrid) {
  const Pomdp model = test::random_model(sizes(3, 3, 3, Timing::before), 1);
  GridSolver solver(BeliefGrid(3, 50), {1});
  RviOptions options;
  options.span_tolerance = 5e-3;
  solver.solve(model, options);
  const std::size_t before = test::allocations();
  solver.solve(model, options);
  EXPECT_LT(test::allocations() - before, 20U);
}

TEST(RviOptions, ValidateNamesFieldAndValue) {
  const auto message = [](RviOptions options) {
    try {
      options.validate(2);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message({.iota = 0.6}), testing::HasSubstr("0.6"));
  EXPECT_THAT(message({.span_tolerance = 0.0}), testing::HasSubstr("span_tolerance is 0"));
  EXPECT_THAT(message({.max_sweeps = 0}), testing::HasSubstr("max_sweeps is 0"));
  EXPECT_THAT(message({.damping = 1.5}), testing::HasSubstr("damping is 1.5"));
  EXPECT_EQ(message({}), "");
}

}  // namespace
}  // namespace oas
