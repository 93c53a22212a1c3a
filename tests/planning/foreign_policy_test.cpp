#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/formats/pomdp_text.hpp"
#include "oas/formats/pomdpx.hpp"
#include "oas/model/convert_timing.hpp"
#include "oas/planning/evaluation/policy_simulation.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/oracles.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/policies/plan_export.hpp"
#include "oas/simulation/environment.hpp"
#include "support/property.hpp"

/// Other solvers' policies are judged right, and our plans written for others keep their gain.
namespace oas::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kListen = 0.85;

Pomdp tiger() {
  return parse_pomdp(
             "discount: 0.95 values: reward states: left right actions: listen open-l open-r\n"
             "observations: hear-l hear-r\nT: listen identity T: open-l uniform T: open-r uniform\n"
             "O: listen 0.85 0.15 0.15 0.85 O: open-l uniform O: open-r uniform\n"
             "R: listen : * : * : * -1 R: open-l : left : * : * -100 R: open-l : right : * : * 10\n"
             "R: open-r : left : * : * 10 R: open-r : right : * : * -100\n",
             "tiger")
      .model;
}

// Listen until one side was heard twice more often than the other, then open the other door.
double tiger_gain() {
  const double agree = kListen * kListen + (1 - kListen) * (1 - kListen);
  const double listens = 2.0 / agree;
  const double right = kListen * kListen / agree;
  return (-listens + 10.0 * right - 100.0 * (1.0 - right)) / (listens + 1.0);
}

PolicyGraph tiger_graph() {
  // Heard on balance: 0, left, right, left twice, right twice.
  return {2, {0, 0, 0, 2, 1}, {1, 2, 3, 0, 0, 4, 0, 0, 0, 0}};
}

SimulationOptions short_simulation() {
  SimulationOptions options;
  options.steps = 20'000;
  options.level = 1.0 - 1e-6;
  return options;
}

TEST(PolicyGraphs, TigerHasItsAnalyticGain) {
  const GraphEvaluation value = evaluate_graph(tiger(), tiger_graph(), 0);
  EXPECT_NEAR(value.gain, tiger_gain(), 1e-13);
  EXPECT_EQ(value.num_pairs, 10U);
  EXPECT_EQ(value.num_classes, 1);
  const GainInterval simulated =
      evaluate_by_simulation(tiger(), tiger_graph(), 0, short_simulation());
  EXPECT_NEAR(simulated.mean, tiger_gain(), simulated.half_width);
}

// A policy that knows the last action and observation only is a graph with a node per action.
RC_GTEST_PROP(PolicyGraphs, MemorylessPoliciesHaveTheGainOfTheirChain, ()) {
  const Pomdp model = any_model(4, 3, 3);
  Rng rng({any_seed(), 0, Role::problem});
  PolicyGraph graph;
  graph.num_observations = model.num_observations();
  for (int a = 0; a < model.num_actions(); ++a) {
    graph.actions.push_back(a);
    for (int o = 0; o < model.num_observations(); ++o) {
      graph.next.push_back(
          static_cast<int>(rng.below(static_cast<std::uint32_t>(model.num_actions()))));
    }
  }
  const GraphEvaluation value = evaluate_graph(model, graph);
  const double mean = std::accumulate(value.gains.begin(), value.gains.end(), 0.0) /
                      static_cast<double>(value.gains.size());
  RC_ASSERT(std::abs(mean - memoryless_gain(model, graph.next, 0.0)) < 1e-9);
  RC_ASSERT(value.gain == *std::max_element(value.gains.begin(), value.gains.end()) ||
            std::abs(value.gain - value.gains[static_cast<std::size_t>(value.start_node)]) == 0.0);
  RC_ASSERT(value.residual < 1e-9);
}

TEST(PolicyGraphs, WhereTheLongRunDependsOnTheStart) {
  // State 0 stays or falls into 1 or 2, which are kept; node 1 never leaves a bad action.
  const Pomdp model =
      parse_pomdp(
          "discount: 1 values: reward states: 3 actions: 2 observations: 1 start: 1 0 0\n"
          "T: 0 0.5 0.2 0.3 0 1 0 0 0 1 T: 1 : * : 0 1 O: * : * : 0 1\n"
          "R: 0 : 1 : * : * 10 R: 0 : 2 : * : * 20 R: 1 : * : * : * 3",
          "split")
          .model;
  const GraphEvaluation value = evaluate_graph(model, {1, {0, 1}, {0, 1}});
  EXPECT_NEAR(value.gain, 0.4 * 10 + 0.6 * 20, 1e-12);
  EXPECT_NEAR(value.gains[1], 3.0, 1e-12);
  EXPECT_EQ(value.num_classes, 3);
  EXPECT_EQ(value.start_node, 0);
}

TEST(PolicyGraphs, WhatIsMissingOrDoesNotFitIsNamed) {
  PolicyGraph graph = tiger_graph();
  graph.next[3] = PolicyGraph::kNone;
  EXPECT_THAT([&] { (void)evaluate_graph(tiger(), graph, 0); },
              ThrowsMessage<InvalidArgument>(
                  HasSubstr("node 1 has no next node for observation hear-r, which can come")));
  graph = tiger_graph();
  graph.next[3] = PolicyGraph::kNone;
  graph.next[6] = graph.next[7] = graph.next[8] = graph.next[9] = 3;
  // Nodes 3 and 4 open for ever and are whole; the others can stop.
  EXPECT_EQ(evaluate_graph(tiger(), graph).start_node, 3);
  graph.actions[0] = 3;
  EXPECT_THAT([&] { (void)evaluate_graph(tiger(), graph); },
              ThrowsMessage<InvalidArgument>(HasSubstr("action 3, but the model has 3 actions")));
  EXPECT_THAT(
      [&] {
        (void)evaluate_graph(tiger(), {3, {0}, {0, 0, 0}});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("for 3 observations, but the model has 2")));
  EXPECT_THAT([&] { (void)evaluate_graph(tiger(), tiger_graph(), 5); },
              ThrowsMessage<InvalidArgument>(HasSubstr("start node 5 of 5")));
}

TEST(PolicyGraphs, VectorsTellTheFirstNode) {
  AlphaPolicy vectors = parse_alpha("0\n1 1\n\n0\n3 0\n\n0\n0 9\n\n2\n0 0\n\n1\n0 0\n", "v");
  EXPECT_EQ(start_node_by_vectors(tiger_graph(), vectors, tiger()), 2);
  vectors.actions[0] = 1;
  EXPECT_THAT([&] { (void)start_node_by_vectors(tiger_graph(), vectors, tiger()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("not those of the graph")));
}

TEST(AlphaPolicies, TigerHasItsAnalyticGain) {
  // Lines that cross where pomdp-solve's do: open when sure of more than 0.9.
  const AlphaPolicy policy = parse_alpha("0\n0 0\n1\n-90 10\n2\n10 -90\n", "t.alpha");
  SimulationOptions options = short_simulation();
  for (const bool control_variate : {true, false}) {
    options.control_variate = control_variate;
    const GainInterval value = evaluate_by_simulation(tiger(), policy, tiger(), {}, options);
    EXPECT_NEAR(value.mean, tiger_gain(), value.half_width);
  }
}

TEST(AlphaPolicies, TimingBeforeIsExactOrRefused) {
  const Pomdp before = *convert_timing(tiger(), Timing::before).model;
  const AlphaPolicy policy = parse_alpha("0\n0 0\n1\n-90 10\n2\n10 -90\n", "t.alpha");
  const GainInterval value = evaluate_by_simulation(before, policy, before, {}, short_simulation());
  EXPECT_NEAR(value.mean, tiger_gain(), value.half_width);
  RandomModelOptions options;
  options.num_states = 2;
  options.num_actions = 3;
  const Pomdp other = random_model(options, 1);
  EXPECT_THAT([&] { (void)AlphaActions(policy, other); },
              ThrowsMessage<InvalidArgument>(HasSubstr("are sensed differently")));
  Plan plan(other);
  plan.bias = VectorBias{{0.0, 1.0}};
  EXPECT_THAT([&] { (void)export_vectors(plan); },
              ThrowsMessage<InvalidArgument>(HasSubstr("timing before")));
}

// Two positions that are seen, a hidden flag; the position is the first variable.
const char* const kMixed =
    "<pomdpx><Discount>0.9</Discount><Variable>"
    "<StateVar vnamePrev='x0' vnameCurr='x1' fullyObs='true'><NumValues>2</NumValues></StateVar>"
    "<StateVar vnamePrev='y0' vnameCurr='y1'><NumValues>3</NumValues></StateVar>"
    "<ObsVar vname='z'><NumValues>2</NumValues></ObsVar>"
    "<ActionVar vname='u'><NumValues>2</NumValues></ActionVar><RewardVar vname='r'/></Variable>"
    "<InitialStateBelief><CondProb><Var>x0</Var><Parent>null</Parent><Parameter><Entry>"
    "<Instance>-</Instance><ProbTable>1 0</ProbTable></Entry></Parameter></CondProb>"
    "<CondProb><Var>y0</Var><Parent>null</Parent><Parameter><Entry><Instance>-</Instance>"
    "<ProbTable>uniform</ProbTable></Entry></Parameter></CondProb></InitialStateBelief>"
    "<StateTransitionFunction><CondProb><Var>x1</Var><Parent>u x0</Parent><Parameter>"
    "<Entry><Instance>* - -</Instance><ProbTable>0.7 0.3 0.4 0.6</ProbTable></Entry></Parameter>"
    "</CondProb><CondProb><Var>y1</Var><Parent>y0</Parent><Parameter><Entry>"
    "<Instance>- -</Instance><ProbTable>0.8 0.1 0.1 0 0.9 0.1 0.2 0.1 0.7</ProbTable></Entry>"
    "</Parameter></CondProb></StateTransitionFunction>"
    "<ObsFunction><CondProb><Var>z</Var><Parent>y1</Parent><Parameter><Entry>"
    "<Instance>- -</Instance><ProbTable>0.9 0.1 0.5 0.5 0.2 0.8</ProbTable></Entry></Parameter>"
    "</CondProb></ObsFunction><RewardFunction><Func><Var>r</Var><Parent>u x0 y0</Parent>"
    "<Parameter><Entry><Instance>- - -</Instance>"
    "<ValueTable>1 0 0 0 2 0 0 1 0 0 0 3</ValueTable></Entry></Parameter></Func></RewardFunction>"
    "</pomdpx>";

TEST(AlphaPolicies, SeenPartsChooseTheVectors) {
  const ReadModel read = parse_pomdpx(kMixed, "mixed");
  ASSERT_EQ(read.split.num_seen, 2);
  ASSERT_EQ(read.split.num_hidden, 3);
  EXPECT_THAT(read.split.seen, testing::ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(read.split.hidden, testing::ElementsAre(0, 1, 2, 0, 1, 2));
  const AlphaPolicy policy{3, 2, {0, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 0, 1, 1, 0, 2, 0, 1, 0, 3}};
  AlphaActions actions(policy, read.model, read.split);
  Rng rng({7, 0, Role::problem});
  for (int i = 0; i < 200; ++i) {
    const auto x = static_cast<std::size_t>(i % 2);
    std::vector<double> belief(6, 0.0);
    for (std::size_t y = 0; y < 3; ++y) belief[3 * x + y] = rng.uniform();
    double value[2];
    for (int k = 0; k < 2; ++k) {
      const auto vector = policy.vector(static_cast<int>(2 * x) + k);
      value[k] = std::inner_product(vector.begin(), vector.end(), belief.begin() + 3 * x, 0.0);
    }
    EXPECT_EQ(actions(belief), value[1] > value[0] ? 1 : 0);
  }
  EXPECT_THAT([&] { (void)AlphaActions(policy, read.model); },
              ThrowsMessage<InvalidArgument>(HasSubstr("only the .pomdpx file")));
  AlphaPolicy holes = policy;
  holes.seen = {0, 0, 0, 0};
  EXPECT_THAT([&] { (void)AlphaActions(holes, read.model, read.split); },
              ThrowsMessage<InvalidArgument>(HasSubstr("no vector for seen value 1")));
}

// The same policy with what is seen written into vectors over whole states earns the same.
TEST(AlphaPolicies, SeenPartsEarnWhatWholeStatesEarn) {
  const ReadModel read = parse_pomdpx(kMixed, "mixed");
  const AlphaPolicy split{3, 2, {0, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 0, 1, 1, 0, 2, 0, 1, 0, 3}};
  AlphaPolicy whole{6, 1, split.actions, {0, 0, 0, 0}, {}};
  for (int k = 0; k < 4; ++k) {
    for (int s = 0; s < 6; ++s) {
      whole.alpha.push_back(s / 3 == split.seen[static_cast<std::size_t>(k)]
                                ? split.vector(k)[static_cast<std::size_t>(s % 3)]
                                : -1e6);
    }
  }
  SimulationOptions options = short_simulation();
  options.control_variate = false;
  const GainInterval x = evaluate_by_simulation(read.model, split, read.model, read.split, options);
  const GainInterval y = evaluate_by_simulation(read.model, whole, read.model, {}, options);
  EXPECT_EQ(x.mean, y.mean);
}

TEST(PlanExport, TigerIsExactInEveryForm) {
  for (const char* planner : {"grid", "point"}) {
    PlanOptions options;
    options.planner = planner;
    options.simulation = short_simulation();
    const Plan plan = make_plan(tiger(), options);
    const ExportedGraph graph = export_graph(plan);
    EXPECT_EQ(graph.tolerance, 1e-9);
    EXPECT_NEAR(graph.value.gain, tiger_gain(), 1e-12);
    const ExportedVectors vectors = export_vectors(plan);
    EXPECT_EQ(vectors.agreement, 1.0);
    EXPECT_EQ(vectors.exact_where_reached, std::holds_alternative<VectorBias>(plan.bias));
    EXPECT_NE(vectors.exact_where_reached, vectors.fitted);
    EXPECT_NEAR(vectors.gain.mean, tiger_gain(), std::max(vectors.gain.half_width, 1e-8));
  }
}

// Follows the run in which the exporter looked for beliefs.
int actions_that_differ(const AlphaPolicy& policy, const Plan& plan, const ExportOptions& options) {
  AlphaActions acts(policy, plan.model);
  LookAhead look_ahead(plan);
  BeliefFilter filter(plan.model);
  Environment environment(plan.model, Rng({options.seed, 0, Role::environment}));
  int differ = 0;
  for (int t = 0; t < 2000; ++t) {
    const Action action{look_ahead.greedy(filter.belief())};
    differ += acts(filter.belief()) == action.value() ? 0 : 1;
    filter.update(action, environment.step(action).observation);
  }
  return differ;
}

// What is written acts as the plan wherever the plan went, in models where beliefs never repeat.
TEST(PlanExport, VectorsActAsThePlanAtReachedBeliefs) {
  RandomModelOptions options;
  options.timing = Timing::after;
  options.reward = Reward::Kind::by_action_state;
  for (const std::uint64_t seed : {1, 2, 3}) {
    PlanOptions planning;
    planning.planner = "point";
    planning.simulation.steps = 6400;
    planning.point.num_beliefs = 60;
    const Plan plan = make_plan(random_model(options, seed), planning);
    ExportOptions small;
    small.steps = 4000;
    const ExportedVectors vectors = export_vectors(plan, small);
    ASSERT_TRUE(vectors.exact_where_reached);
    EXPECT_EQ(actions_that_differ(vectors.policy, plan, small), 0) << seed;
    EXPECT_GT(vectors.agreement, 0.99) << seed;
    EXPECT_NEAR(vectors.gain.mean, plan.certificate.mean, 2e-3) << seed;
    const ExportedGraph graph = export_graph(plan);
    EXPECT_NEAR(graph.value.gain, plan.certificate.mean, 1e-2) << seed;
    EXPECT_LE(graph.value.gain, plan.gain_upper + 1e-9) << seed;
  }
}

// Many beliefs can be reached, few are met: a graph that merges all that can be reached until they
// fit is far from the plan. What is returned is judged, and it is the better of two.
TEST(PlanExport, GraphsInWideBeliefSpaces) {
  RandomModelOptions wide;
  wide.timing = Timing::after;
  wide.num_states = 8;
  wide.num_actions = 4;
  wide.num_observations = 4;
  wide.concentration = 0.2;
  wide.reward = Reward::Kind::by_action_state;
  int met = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    PlanOptions options;
    options.planner = "point";
    options.point.num_beliefs = 60;
    options.work = 0.2;  // the plan need not be the best for its graph to be judged
    options.simulation.steps = 20'000;
    const Plan plan = make_plan(random_model(wide, seed), options);
    ExportOptions few;
    few.max_nodes = 40;
    const ExportedGraph graph = export_graph(plan, few);
    EXPECT_EQ(graph.value.gain, evaluate_graph(plan.model, graph.graph, 0).gain);
    EXPECT_FALSE(graph.worse_than(plan)) << seed << ": " << graph.value.gain;
    EXPECT_LE(graph.value.gain, plan.gain_upper + 1e-9) << seed;
    met += graph.of_met_beliefs ? 1 : 0;  // the other graph was worse by a hundredth
    Plan better = plan;
    better.gain_lower = better.gain_upper = 1.02 * graph.value.gain;
    EXPECT_TRUE(graph.worse_than(better)) << seed;
  }
  EXPECT_GE(met, 5);
}

}  // namespace
}  // namespace oas::test
