#include "oas/planning/grid/extended_value_iteration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/planning/grid/detail/shift_prices.hpp"
#include "oas/planning/oracles.hpp"
#include "oas/planning/planner.hpp"
#include "planning/planning_support.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

Pomdp model_of(Timing timing, std::uint64_t seed,
               Reward::Kind reward = Reward::Kind::by_observation, int states = 3) {
  test::RandomModelOptions options;
  options.num_states = states;
  options.num_actions = 2;
  options.num_observations = 3;
  options.timing = timing;
  options.concentration = 1.0;
  options.reward = reward;
  return test::random_model(options, seed);
}

EviOptions bound_only(double iota = 0.0, bool by_price = false) {
  EviOptions options;
  options.rvi.iota = iota;
  options.by_price = by_price;
  options.max_members = 0;
  return options;
}

const std::vector<Reward::Kind> kRewards = {
    Reward::Kind::by_observation, Reward::Kind::by_action_state, Reward::Kind::by_transition};

TEST(ExtendedValueIteration, RadiusZeroIsPlain) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const Reward::Kind reward : kRewards) {
      for (const auto& [iota, by_price] :
           {std::pair{0.0, false}, {0.05, false}, {0.0, true}, {0.05, true}}) {
        const Pomdp model = model_of(timing, 3, reward);
        const BeliefGrid grid(3, 15);
        EviOptions options = bound_only(iota, by_price);
        options.rvi.span_tolerance = 1e-12;
        const EviResult result =
            extended_value_iteration(ConfidenceSet::uniform(model, 0.0), grid, options);
        const RviResult plain = relative_value_iteration(model, grid, options.rvi);
        EXPECT_NEAR(result.gain_bound, plain.largest_increment, 3e-12);
        for (std::size_t i = 0; i < grid.size(); ++i) {
          EXPECT_NEAR(result.bias[i], plain.bias[i], 1e-10);
        }
        EXPECT_EQ(result.member, model.transition());
      }
    }
  }
}

TEST(ExtendedValueIteration, NeverFallsWithTheRadius) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Pomdp model = model_of(timing, seed, kRewards[seed % 3]);
      const BeliefGrid grid(3, 10);
      const bool by_price = seed >= 6;
      double previous = -1e9;
      for (const double radius :
           {0.0, 1e-5, 0.003, 0.0039, 0.004, 0.03, 0.1, 0.11, 0.3, 0.6, 1.0}) {
        const EviResult result = extended_value_iteration(ConfidenceSet::uniform(model, radius),
                                                          grid, bound_only(0.0, by_price));
        EXPECT_EQ(result.status, SolveStatus::converged);
        EXPECT_GE(result.gain_bound, previous - 2e-6) << "radius " << radius << " seed " << seed;
        previous = result.gain_bound;
      }
    }
  }
}

// Members solved one by one: their certified gains, and (up to the grid's error) their grid gains.
TEST(ExtendedValueIteration, BoundsEverySampledMember) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const double iota = seed % 2 == 0 ? 0.0 : 0.05;
      ConfidenceSet set = ConfidenceSet::uniform(model_of(timing, seed, kRewards[seed % 3]), 0.1);
      Rng rng({seed, 0, Role::test});
      for (double& r : set.radius) r = 0.3 * rng.uniform() * rng.uniform();
      const BeliefGrid grid(3, 12);
      const double bound =
          std::min(extended_value_iteration(set, grid, bound_only(iota)).gain_bound,
                   extended_value_iteration(set, grid, bound_only(iota, true)).gain_bound);
      RviOptions rvi;
      rvi.iota = iota;
      GridSolver solver(grid);
      for (int k = 0; k < 30; ++k) {
        const TransitionModel member = set.sample(rng);
        ASSERT_TRUE(set.contains(member));
        EXPECT_LE(solver.solve(set.center.with_transition(member), rvi).gain(), bound + 1e-5);
      }
      PlanOptions plan;
      plan.iota = iota;
      plan.resolution = 12;
      plan.simulation.steps = 6400;
      const Pomdp member = set.center.with_transition(set.sample(rng));
      EXPECT_LE(make_plan(member, plan).gain_lower, bound);
    }
  }
}

// The set of all models: the best one keeps the best state for ever.
TEST(ExtendedValueIteration, RadiusOneReachesTheBestReward) {
  const Pomdp model = model_of(Timing::before, 4, Reward::Kind::by_action_state);
  const EviResult result =
      extended_value_iteration(ConfidenceSet::uniform(model, 1.0), BeliefGrid(3, 10));
  EXPECT_NEAR(result.gain_bound, model.expected_reward().maxCoeff(), 1e-5);
  EXPECT_NEAR(result.member_solution.gain(), model.expected_reward().maxCoeff(), 1e-5);
}

TEST(ExtendedValueIteration, MemberIsInTheSetBetweenCenterAndBound) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Pomdp model = model_of(timing, seed);
      const ConfidenceSet set = ConfidenceSet::uniform(model, 0.1);
      const BeliefGrid grid(3, 12);
      const EviResult result = extended_value_iteration(set, grid);
      const double center = relative_value_iteration(model, grid).gain();
      EXPECT_TRUE(set.contains(result.member));
      EXPECT_GE(result.member_solution.gain(), center);
      EXPECT_LE(result.member_solution.gain(), result.gain_bound + 1e-5);
      Rng rng({seed, 1, Role::test});
      for (int k = 0; k < 20; ++k) {  // a search is worth having if it beats chance
        EXPECT_LE(relative_value_iteration(model.with_transition(set.sample(rng)), grid).gain(),
                  result.member_solution.gain() + 1e-5);
      }
    }
  }
}

TEST(ExtendedValueIteration, MoreStatesAndThreadsGiveTheSameBits) {
  const ConfidenceSet set =
      ConfidenceSet::uniform(model_of(Timing::after, 2, Reward::Kind::by_observation, 4), 0.05);
  const EviResult one = extended_value_iteration(set, BeliefGrid(4, 8), bound_only(), {1});
  const EviResult two = extended_value_iteration(set, BeliefGrid(4, 8), bound_only(), {3});
  EXPECT_EQ(one.bias, two.bias);
  EXPECT_EQ(one.gain_bound, two.gain_bound);
}

TEST(OptimisticRow, MovesMassFromTheWorstToTheBest) {
  const std::vector<double> row = {0.5, 0.1, 0.4};
  const std::vector<double> h = {1.0, 0.0, 3.0};
  const auto near = [](const std::vector<double>& expected) {
    return testing::Pointwise(testing::DoubleNear(1e-12), expected);
  };
  EXPECT_THAT(optimistic_row(row, 0.0, h), near({0.5, 0.1, 0.4}));
  EXPECT_THAT(optimistic_row(row, 0.25, h), near({0.35, 0.0, 0.65}));
  EXPECT_THAT(optimistic_row(row, 1.0, h), near({0.0, 0.0, 1.0}));
}

// A convex function lies below what its values at a few beliefs say, wherever nature moves.
TEST(ShiftPrices, BoundEveryShiftOfAConvexFunction) {
  Rng rng({5, 0, Role::test});
  for (int repeat = 0; repeat < 60; ++repeat) {
    const int states = 2 + repeat % 4;
    const auto n = static_cast<std::size_t>(states);
    const BeliefGrid grid(states, 1 + repeat % 5);
    Eigen::MatrixXd planes(states, 4);
    for (double& x : planes.reshaped()) x = rng.uniform() - 0.5;
    const auto convex = [&](std::span<const double> b) {
      return (planes.transpose() * VectorView(b.data(), states)).maxCoeff();
    };
    std::vector<double> bias(grid.size());
    std::vector<double> belief(n);
    for (std::size_t i = 0; i < bias.size(); ++i) {
      grid.point(i, belief);
      bias[i] = convex(belief);
    }
    std::vector<double> arriving(n);
    for (double& reward : arriving) reward = repeat % 3 == 0 ? 0.0 : rng.uniform();
    std::vector<double> p(n);
    sample_dirichlet(std::vector<double>(n, 0.6), p, rng);
    detail::ShiftPrices prices(grid);
    prices.set_bias(bias);
    prices.begin();
    std::vector<std::uint32_t> indices(n);
    std::vector<double> weights(n);
    const int cell = grid.interpolate(p, indices.data(), weights.data());
    double plain = 0.0;
    for (int k = 0; k < cell; ++k) {
      prices.add(indices[k], weights[k]);
      plain += weights[k] * bias[indices[k]];
    }
    for (std::size_t s = 0; s < n; ++s) plain += p[s] * arriving[s];
    double before = plain;
    for (const double t : {0.0, 0.02, 0.1, 0.3, 0.7, 1.0}) {
      const auto& move = prices.move(p, t, arriving);
      if (t == 0.0) {
        EXPECT_NEAR(move.value, plain, 1e-10);
      }
      EXPECT_GE(move.value, before - 1e-12) << repeat << " " << t;
      before = move.value;
      double mass = 0.0;
      double moved = 0.0;
      std::vector<double> mean(n, 0.0);
      for (const auto& entry : move.entries) {
        EXPECT_GE(entry.mass, 0.0);
        mass += entry.mass;
        grid.point(entry.point, belief);
        for (std::size_t s = 0; s < n; ++s) mean[s] += entry.mass * belief[s];
      }
      for (std::size_t s = 0; s < n; ++s) moved += std::abs(mean[s] - p[s]);
      EXPECT_NEAR(mass, 1.0, 1e-10);  // the grid takes beliefs within 1e-12 of a point for it
      EXPECT_LE(moved, 2.0 * t + 1e-10);
      for (int k = 0; k < 300; ++k) {
        std::vector<double> h(n);  // vertices by orders of draining, and what lies between
        for (double& x : h) x = rng.uniform();
        std::vector<double> q = optimistic_row(p, k % 4 == 0 ? t * rng.uniform() : t, h);
        double worth = convex(q);
        for (std::size_t s = 0; s < n; ++s) worth += q[s] * arriving[s];
        EXPECT_LE(worth, move.value + 1e-10) << repeat << " " << t;
      }
    }
  }
}

// Twenty states, on a grid of hardly more than the edges: no member earns more.
TEST(ExtendedValueIteration, BoundsMembersOfTwentyStates) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = model_of(timing, 7, Reward::Kind::by_action_state, 20);
    double previous = 0.0;
    for (const double radius : {0.0, 0.02, 0.2, 1.0}) {
      const ConfidenceSet set = ConfidenceSet::uniform(model, radius);
      EviOptions options;
      options.max_members = 4;
      const EviResult result = extended_value_iteration(set, BeliefGrid(20, 2), options);
      EXPECT_GE(result.gain_bound, previous - 2e-6);
      previous = result.gain_bound;
      EXPECT_TRUE(set.contains(result.member));
      Rng rng({7, 2, Role::test});
      for (int k = 0; k < 20; ++k) {
        const Pomdp member = model.with_transition(k == 0 ? result.member : set.sample(rng));
        for (int a = 0; a < 2; ++a) {  // constant actions
          const std::vector<int> always(6, a);
          EXPECT_LE(memoryless_gain(member, always, 0.0), result.gain_bound + 1e-9) << radius;
        }
      }
    }
    EXPECT_NEAR(previous, model.expected_reward().maxCoeff(), 1e-5);
  }
}

// The plan is made for a member, whatever its number of states.
TEST(OptimisticPlan, TakesTwentyStates) {
  const Pomdp model = model_of(Timing::after, 8, Reward::Kind::by_observation, 20);
  PlanOptions options;
  options.simulation.steps = 6400;
  options.work = 0.02;
  options.point.num_beliefs = 40;
  options.point.rounds = 1;
  const Plan plan = optimistic_plan(model, 0.05, options);
  EXPECT_TRUE(ConfidenceSet::uniform(model, 0.05).contains(plan.model.transition()));
  ASSERT_TRUE(plan.optimism.has_value());
  EXPECT_GE(plan.optimism->gain_bound, plan.gain_upper);
  EXPECT_GT(plan.gain_lower, make_plan(model, options).gain_lower);
}

TEST(ConfidenceSet, BadRadiiAreNamed) {
  const Pomdp model = model_of(Timing::before, 1);
  EXPECT_THAT([&] { ConfidenceSet::uniform(model, 1.5).validate(); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("1.5")));
}

}  // namespace
}  // namespace oas
