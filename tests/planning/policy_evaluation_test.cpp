#include "oas/planning/evaluation/policy_evaluation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oas/core/contracts.hpp"
#include "oas/planning/planner.hpp"
#include "planning/planning_support.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

// Limits at this level are missed once in a million times.
constexpr double kLevel = 1.0 - 1e-6;

Pomdp model_of(Timing timing, std::uint64_t seed, double concentration = 0.5) {
  test::RandomModelOptions options;
  options.num_states = 3;
  options.num_actions = 3;
  options.num_observations = 3;
  options.timing = timing;
  options.concentration = concentration;
  return test::random_model(options, seed);
}

Plan plan_for(const Pomdp& model, double iota, int resolution = 40) {
  PlanOptions options;
  options.iota = iota;
  options.resolution = resolution;
  options.simulation.steps = 6400;
  return make_plan(model, options);
}

SimulationOptions simulation(bool control_variate, std::uint64_t steps = 200'000) {
  SimulationOptions options;
  options.level = kLevel;
  options.steps = steps;
  options.seed = 77;
  options.control_variate = control_variate;
  return options;
}

// Running earns most until a failure that is for ever and comes once in so many steps; resting
// never fails. Whatever the planner makes of it, its lower limit must hold.
TEST(PolicyEvaluation, FailuresTooRareToBeSimulatedAreNotForgotten) {
  for (const double hazard : {1e-3, 1e-5, 1e-7}) {
    const Pomdp model =
        test::make_model(Timing::before, 2, 2, 2, {1.0 - hazard, hazard, 0, 1, 1, 0, 0, 1},
                         {0.9, 0.1, 0.1, 0.9, 0.9, 0.1, 0.1, 0.9},
                         Reward::by_action_state({1.0, 0.0, 0.3, 0.0}), {1.0, 0.0});
    PlanOptions options;
    options.resolution = 100;
    const Plan plan = make_plan(model, options);
    EXPECT_LE(plan.gain_lower, 0.3 + 1e-9) << hazard;
    EXPECT_GE(plan.gain_upper, 0.3 - 1e-9) << hazard;
    const GainInterval interval = evaluate_by_simulation(model, plan, model, simulation(false));
    EXPECT_TRUE(interval.transient || std::abs(interval.mean - 0.3) < 1e-9) << hazard;
  }
}

TEST(PolicyEvaluation, ChainSimulationAndGridAgree) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const double iota = seed % 2 == 0 ? 0.0 : 1.0 / 30.0;
      const Pomdp model = model_of(timing, seed);
      const Plan plan = plan_for(model, iota);
      ChainOptions finer;
      finer.resolution = 80;
      const ChainEvaluation chain = evaluate_on_chain(model, plan, model, finer);
      EXPECT_EQ(chain.status, SolveStatus::converged);
      const GainInterval precise = evaluate_by_simulation(model, plan, model, simulation(true));
      const GainInterval plain = evaluate_by_simulation(model, plan, model, simulation(false));
      EXPECT_NEAR(precise.mean, plain.mean, plain.half_width + precise.half_width) << seed;
      EXPECT_NEAR(chain.gain, precise.mean, 1e-4 + precise.half_width) << seed;
      EXPECT_LT(precise.half_width, plain.half_width);
      EXPECT_LE(precise.lower_limit, plan.gain_upper);
      EXPECT_NEAR(plan.gain_upper, precise.mean, 2e-3);
    }
  }
}

// Beliefs kept with another model, and a plan made for a third: the gain is that in the truth.
TEST(PolicyEvaluation, WrongFiltersAreJudgedInTheTruth) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Pomdp truth = model_of(timing, seed, 1.0);
      const Pomdp filter = truth.with_transition(model_of(timing, seed + 100, 1.0).transition());
      const Plan plan = plan_for(truth, seed % 2 == 0 ? 0.0 : 0.05);
      ChainOptions finer;
      finer.resolution = 80;
      const double chain = evaluate_on_chain(truth, plan, filter, finer).gain;
      const GainInterval precise = evaluate_by_simulation(truth, plan, filter, simulation(true));
      const GainInterval plain = evaluate_by_simulation(truth, plan, filter, simulation(false));
      EXPECT_NEAR(precise.mean, plain.mean, plain.half_width + precise.half_width) << seed;
      EXPECT_NEAR(chain, precise.mean, 1e-3 + precise.half_width) << seed;
      EXPECT_LE(precise.lower_limit, plan.gain_upper);
    }
  }
}

TEST(PolicyEvaluation, ATransposedFilterCosts) {
  const Pomdp truth = model_of(Timing::before, 1, 0.3);
  const Plan plan = plan_for(truth, 0.0);
  const double right = evaluate_on_chain(truth, plan, truth).gain;
  const double wrong = evaluate_on_chain(truth, plan, test::transposed(truth)).gain;
  EXPECT_LE(wrong, right + 1e-4);
}

// Uniform play has an exact answer: the stationary distribution of the mean chain.
TEST(PolicyEvaluation, UniformPlayIsExact) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = model_of(timing, 4);
    const Plan plan = plan_for(model, 1.0 / 3.0, 10);
    Matrix mean = Matrix::Zero(3, 3);
    for (int a = 0; a < 3; ++a) mean += model.transition().matrix(Action{a}) / 3.0;
    const double expected = (model.expected_reward() * stationary_distribution(mean)).mean();
    EXPECT_NEAR(evaluate_on_chain(model, plan, model).gain, expected, 1e-6);
    EXPECT_NEAR(plan.gain_upper, expected, 2e-6);
    const GainInterval plain = evaluate_by_simulation(model, plan, model, simulation(false));
    EXPECT_NEAR(plain.mean, expected, plain.half_width);
  }
}

// A plan for the model, in the model.
ChainEvaluation own_chain(const Pomdp& model, int resolution) {
  PlanOptions options;
  options.resolution = resolution;
  options.simulation.steps = 640;
  return evaluate_on_chain(model, make_plan(model, options), model);
}

TEST(PolicyEvaluation, GainFromTheStartWhereItDependsOnIt) {
  const Pomdp model = test::make_model(Timing::before, 2, 1, 1, {1, 0, 0, 1}, {1, 1},
                                       Reward::by_action_state({1.0, 0.0}), {0.25, 0.75});
  const ChainEvaluation chain = own_chain(model, 8);
  EXPECT_EQ(chain.status, SolveStatus::stalled);
  EXPECT_NEAR(chain.gain, 0.25, 1e-9);
  EXPECT_THAT(chain.message, testing::HasSubstr("depends on the start"));
}

// Pieces that mix settle soon, each at its own gain; that the span never closes is no reason to
// go on.
TEST(PolicyEvaluation, PiecesThatMixSettleInHundredsOfSweeps) {
  const Pomdp model = test::make_model(
      Timing::before, 4, 1, 2, {0.9, 0.1, 0, 0, 0.2, 0.8, 0, 0, 0, 0, 0.7, 0.3, 0, 0, 0.4, 0.6},
      {0.7, 0.3, 0.1, 0.9, 0.6, 0.4, 0.2, 0.8}, Reward::by_action_state({1.0, 0.0, 0.5, 0.2}),
      {0.1, 0.2, 0.3, 0.4});
  const ChainEvaluation chain = own_chain(model, 6);
  EXPECT_EQ(chain.status, SolveStatus::stalled);
  EXPECT_LE(chain.iterations, 1024);
  EXPECT_NEAR(chain.gain, 0.3 * 2.0 / 3.0 + 0.7 * (0.5 * 4.0 / 7.0 + 0.2 * 3.0 / 7.0), 1e-6);
}

// An observation that the filter thinks impossible must not stop it.
TEST(PolicyEvaluation, ImpossibleObservationsInTheFilter) {
  const Pomdp truth = test::make_model(
      Timing::before, 2, 2, 2, {0.9, 0.1, 0.2, 0.8, 0.5, 0.5, 0.5, 0.5},
      {0.8, 0.2, 0.3, 0.7, 0.5, 0.5, 0.5, 0.5}, Reward::by_observation({0.0, 1.0}));
  const Pomdp filter = test::make_model(
      Timing::before, 2, 2, 2, {0.9, 0.1, 0.2, 0.8, 0.5, 0.5, 0.5, 0.5},
      {1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0}, Reward::by_observation({0.0, 1.0}));
  PlanOptions options;
  options.resolution = 100;
  options.simulation.steps = 640;
  const Plan plan = make_plan(truth, options);
  const ChainEvaluation chain = evaluate_on_chain(truth, plan, filter);
  const GainInterval plain = evaluate_by_simulation(truth, plan, filter, simulation(false));
  EXPECT_NEAR(chain.gain, plain.mean, plain.half_width + 1e-3);
}

TEST(BatchMeans, IntervalOfAKnownSample) {
  const std::vector<double> means = {1.0, 2.0, 3.0, 4.0};
  const GainInterval interval = batch_means_interval(means, 4, 0.95);
  EXPECT_DOUBLE_EQ(interval.mean, 2.5);
  EXPECT_NEAR(interval.standard_error, 0.6454972, 1e-7);
  EXPECT_NEAR(interval.half_width, 3.1824463 * 0.6454972, 1e-6);         // t_{0.975, 3}
  EXPECT_NEAR(interval.lower_limit, 2.5 - 2.3533634 * 0.6454972, 1e-6);  // t_{0.95, 3}
  EXPECT_NEAR(interval.lag_correlation, 0.25, 1e-12);
  EXPECT_FALSE(interval.by_replication);
}

// Replications that never leave where they started: 16 batches, but only four values.
TEST(BatchMeans, BatchesThatDependCountByReplication) {
  std::vector<double> means;
  for (const double value : {1.0, 2.0, 3.0, 4.0}) means.insert(means.end(), 4, value);
  const GainInterval interval = batch_means_interval(means, 4, 0.95);
  EXPECT_GT(interval.lag_correlation, 0.5);
  EXPECT_TRUE(interval.by_replication);
  EXPECT_EQ(interval.num_batches, 4);
  EXPECT_NEAR(interval.standard_error, 0.6454972, 1e-7);
  EXPECT_NEAR(interval.lower_limit, 2.5 - 2.3533634 * 0.6454972, 1e-6);
}

TEST(PolicyEvaluation, BadInputIsNamed) {
  const Pomdp model = model_of(Timing::before, 1);
  const Plan plan = plan_for(model, 0.0, 6);
  test::RandomModelOptions other;
  other.num_states = 4;
  const Pomdp four = test::random_model(other, 1);
  EXPECT_THAT([&] { static_cast<void>(evaluate_on_chain(four, plan, four)); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("4 states")));
  EXPECT_THROW(static_cast<void>(evaluate_on_chain(model, plan, model.without_transition())),
               InvalidArgument);
  SimulationOptions options;
  options.level = 1.0;
  EXPECT_THROW(static_cast<void>(evaluate_by_simulation(model, plan, model, options)),
               InvalidArgument);
}

}  // namespace
}  // namespace oas
