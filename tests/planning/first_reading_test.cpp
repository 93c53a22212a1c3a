#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oas/belief/first_beliefs.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/policy_simulation.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/policies/asked_policy.hpp"
#include "oas/planning/policies/plan_export.hpp"
#include "oas/planning/uncertain/robust_plan.hpp"
#include "planning/planning_support.hpp"
#include "support/random_models.hpp"

/// Where rows are reading-first, policies answer a reading before their first action.
namespace oas {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

constexpr double kRight = 0.8;  // how often the first reading tells

// States x, y, won, lost. The first action decides for ever: 0 wins in x, 1 wins in y.
Pomdp choice_model() {
  PomdpParts parts =
      test::make_model(Timing::after, 4, 2, 2,
                       {0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1,              // action 0
                        0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1},             // action 1
                       {kRight, 1 - kRight, 1 - kRight, kRight, 0.5, 0.5, 0.5, 0.5,  //
                        kRight, 1 - kRight, 1 - kRight, kRight, 0.5, 0.5, 0.5, 0.5},
                       Reward::by_action_state({0, 0, 1, 0, 0, 0, 1, 0}), {0.5, 0.5, 0, 0})
          .parts();
  parts.states = Labels({"x", "y", "won", "lost"}, "state");
  parts.rows = Rows::reading_first;
  return Pomdp(std::move(parts));
}

Pomdp random_reading_first(std::uint64_t seed, double zeros) {
  test::RandomModelOptions options;
  options.num_observations = 3;
  options.timing = Timing::after;
  options.zero_fraction = zeros;
  PomdpParts parts = test::random_model(options, seed).parts();
  Rng rng({seed, 7, Role::policy});
  parts.first_observation = ObservationModel(3, 1, 3, test::random_rows(3, 3, 0.5, zeros, rng));
  parts.rows = Rows::reading_first;
  return Pomdp(std::move(parts));
}

TEST(FirstReadings, BeliefsAreThoseOfBayes) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Pomdp model = random_reading_first(seed, 0.3);
    double total = 0.0;
    std::vector<double> mean(3, 0.0);
    for (const FirstBelief& one : first_beliefs(model)) {
      total += one.probability;
      for (std::size_t s = 0; s < 3; ++s) mean[s] += one.probability * one.belief[s];
    }
    EXPECT_NEAR(total, 1.0, 1e-12);
    for (std::size_t s = 0; s < 3; ++s) EXPECT_NEAR(mean[s], model.start()[s], 1e-12);
  }
  const Pomdp plain = choice_model().with_rows(Rows::action_first);
  ASSERT_EQ(first_beliefs(plain).size(), 1U);
  EXPECT_EQ(first_beliefs(plain)[0].belief, plain.start());
}

// What is read decides the first action, and the first action everything.
TEST(FirstReadings, EveryWayToEvaluateTakesThemIn) {
  const Pomdp model = choice_model();
  PlanOptions options;
  options.span_tolerance = 1e-4;
  const Plan plan = make_plan(model, options);
  EXPECT_NEAR(plan.gain_upper, kRight, 1e-9);  // who sees the state from the start on earns 1
  const StartedPolicy of_plan = started(asked_policy(plan, "plan", model));
  EXPECT_NEAR(evaluate_controller(model, of_plan.controller).gain, kRight, 1e-10);
  EXPECT_NEAR(acting_controller(plan).gain, kRight, 1e-10);
  const StartedPolicy rule = started(parse_policy_text("threshold:x>0.5=0,else=1", model));
  EXPECT_NEAR(evaluate_controller(model, rule.controller).gain, kRight, 1e-10);
  const StartedPolicy wrong = started(parse_policy_text("threshold:x>0.5=1,else=0", model));
  EXPECT_NEAR(evaluate_controller(model, wrong.controller).gain, 1 - kRight, 1e-10);
  EXPECT_NEAR(evaluate_on_chain(model, plan, model, {.resolution = 10}).gain, kRight, 1e-6);
  const ExportedGraph graph = export_graph(plan);
  EXPECT_NEAR(graph.value.gain, kRight, 1e-10);
  SimulationOptions simulation;
  simulation.replications = 400;
  simulation.batches_per_replication = 1;
  simulation.steps = 4000;
  simulation.burn_in = 2;
  EXPECT_NEAR(evaluate_by_simulation(model, graph.graph, 0, simulation).mean, kRight, 0.1);
}

// A file does not say where a graph starts: in the node that is best after the reading.
TEST(FirstReadings, AGraphStartsInTheBestNodeAfterEach) {
  const Pomdp model = choice_model();
  const PolicyGraph graph{2, {1, 0}, {0, 0, 1, 1}, {}};  // always 1; always 0
  const GraphEvaluation value = evaluate_graph(model, graph);
  EXPECT_THAT(value.first, ElementsAre(1, 0));
  EXPECT_NEAR(value.gain, kRight, 1e-10);
  EXPECT_THAT(value.gains, ElementsAre(DoubleNear(0.5, 1e-10), DoubleNear(0.5, 1e-10)));
  EXPECT_NEAR(evaluate_graph(model, graph, 1).gain, 0.5, 1e-10);
  const AskedPolicy asked = asked_policy(graph, "graph", model);
  EXPECT_NEAR(evaluate_controller(model, started(asked).controller).gain, kRight, 1e-10);
}

TEST(FirstReadings, LimitsThatNeedThemCanBeKept) {
  PlanOptions options;
  options.span_tolerance = 1e-4;
  options.simulation.replications = 64;
  options.limit = "lost=0.45";
  EXPECT_LT(make_plan(choice_model(), options).limited->frequency, 0.45);
}

TEST(FirstReadings, DiscountedValuesAreMeansOverThem) {
  PlanOptions options;
  options.discount = 0.9;
  options.simulation.steps = 400'000;
  const DiscountedValue value = *make_plan(choice_model(), options).discounted;
  const double expected = kRight * 0.9 / (1 - 0.9);
  EXPECT_LE(value.lower, expected);
  EXPECT_GE(value.upper, expected - 1e-6);
  EXPECT_LT(value.upper - value.lower, 0.5);
}

// No member of the set earns less than what is promised to policies that begin with a reading.
TEST(FirstReadings, PromisesHold) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Pomdp model = random_reading_first(seed, 0.0);
    PlanOptions options;
    options.simulation.steps = 640;
    options.resolution = 10;
    const RobustPlan plan = robust_plan(ConfidenceSet::uniform(model, 0.1), options);
    const Controller controller = controller_of(plan.graph, 0, 2);
    EXPECT_GE(evaluate_controller(model, controller).gain, plan.worst.promise - 1e-9);
    EXPECT_GE(plan.worst.attained, plan.worst.promise - 1e-9);
  }
}

TEST(FirstReadings, ALogsOwnPolicyAnswersThem) {
  const Pomdp model = choice_model();
  const std::vector<double> given(2 * 2 * 2, 0.5);
  const Controller controller =
      last_row_controller(given, std::vector{0.5, 0.5}, model, std::vector{1.0, 0.0, 0.0, 1.0});
  EXPECT_NEAR(evaluate_controller(model, controller).gain, kRight, 1e-10);
  EXPECT_THROW(static_cast<void>(
                   last_row_controller(given, std::vector{0.5, 0.5}, model, std::vector{1.0, 0.0})),
               InvalidArgument);
}

TEST(FirstReadings, PoliciesThatNeedOneSaySo) {
  const Pomdp model = choice_model();
  const Controller controller =
      started(parse_policy_text("threshold:x>0.5=0,else=1", model)).controller;
  EXPECT_THAT(
      [&] {
        static_cast<void>(evaluate_controller(model.with_rows(Rows::action_first), controller));
      },
      testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("begins with a reading")));
  Controller without = controller;
  without.first[0] = Controller::kNone;
  EXPECT_THAT(
      [&] { static_cast<void>(evaluate_controller(model, without)); },
      testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("no node for the first reading")));
}

}  // namespace
}  // namespace oas
