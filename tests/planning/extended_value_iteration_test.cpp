#include "oas/planning/grid/extended_value_iteration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oas/core/contracts.hpp"
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

EviOptions bound_only(double iota = 0.0) {
  EviOptions options;
  options.rvi.iota = iota;
  options.max_members = 0;
  return options;
}

const std::vector<Reward::Kind> kRewards = {
    Reward::Kind::by_observation, Reward::Kind::by_action_state, Reward::Kind::by_transition};

TEST(ExtendedValueIteration, RadiusZeroIsPlain) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const Reward::Kind reward : kRewards) {
      for (const double iota : {0.0, 0.05}) {
        const Pomdp model = model_of(timing, 3, reward);
        const BeliefGrid grid(3, 15);
        EviOptions options = bound_only(iota);
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
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Pomdp model = model_of(timing, seed, kRewards[seed % 3]);
      const BeliefGrid grid(3, 10);
      double previous = -1e9;
      for (const double radius :
           {0.0, 1e-5, 0.003, 0.0039, 0.004, 0.03, 0.1, 0.11, 0.3, 0.6, 1.0}) {
        const EviResult result =
            extended_value_iteration(ConfidenceSet::uniform(model, radius), grid, bound_only());
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
      const double bound = extended_value_iteration(set, grid, bound_only(iota)).gain_bound;
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

TEST(ConfidenceSet, BadRadiiAndTooManyStatesAreNamed) {
  const Pomdp model = model_of(Timing::before, 1);
  EXPECT_THAT([&] { ConfidenceSet::uniform(model, 1.5).validate(); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("1.5")));
  EXPECT_THAT(
      [&] {
        static_cast<void>(extended_value_iteration(
            ConfidenceSet::uniform(model_of(Timing::before, 1, Reward::Kind::none, 7), 0.1),
            BeliefGrid(7, 2)));
      },
      testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("at most 6 states, not 7")));
}

}  // namespace
}  // namespace oas
