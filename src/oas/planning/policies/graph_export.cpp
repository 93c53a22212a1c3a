#include <algorithm>

#include "oas/belief/filter.hpp"
#include "oas/belief/first_beliefs.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/points/detail/point_solver.hpp"
#include "oas/planning/policies/belief_rule.hpp"
#include "oas/planning/policies/detail/follow_plan.hpp"
#include "oas/planning/policies/plan_export.hpp"

namespace oas {

namespace {

// Whether an observation comes under an action in some state.
bool can_come(const Pomdp& model, Action action, int observation) {
  return (model.sensors().matrix(action).row(observation).array() > 0.0).any();
}

// The nodes of a controller that leaves nothing to chance.
PolicyGraph graph_of(const Controller& controller) {
  PolicyGraph graph;
  graph.num_observations = controller.num_observations;
  graph.first = controller.first;
  for (int n = 0; n < controller.num_nodes(); ++n) {
    Action a{0};
    while (!(controller.probability(n, a) > 0.0)) ++a;
    graph.actions.push_back(a.value());
    for (Observation o{0}; o < controller.num_observations; ++o) {
      graph.next.push_back(controller.next_node(n, a, o));
    }
  }
  return graph;
}

// The column that is nearest (L1) to a belief.
int nearest_column(const Eigen::MatrixXd& beliefs, std::span<const double> belief) {
  const VectorView point(belief.data(), static_cast<Eigen::Index>(belief.size()));
  Eigen::Index nearest = 0;
  (beliefs.colwise() - point).colwise().lpNorm<1>().minCoeff(&nearest);
  return static_cast<int>(nearest);
}

// A node for each of these beliefs, of which the first is the start: the plan's action, and next
// the node whose belief is nearest to the one that follows.
PolicyGraph nearest_graph(const Plan& plan, const Eigen::MatrixXd& beliefs) {
  const Pomdp& model = plan.model;
  LookAhead look_ahead(plan);
  BeliefFilter filter(model);
  PolicyGraph graph;
  graph.num_observations = model.num_observations();
  for (Eigen::Index n = 0; n < beliefs.cols(); ++n) {
    const Belief belief({beliefs.col(n).begin(), beliefs.col(n).end()});
    const Action a{look_ahead.greedy(belief.values())};
    graph.actions.push_back(a.value());
    for (Observation o{0}; o < model.num_observations(); ++o) {
      filter.reset(belief);
      filter.update(a, o);  // an impossible one is skipped
      graph.next.push_back(can_come(model, a, o) ? nearest_column(beliefs, filter.belief())
                                                 : PolicyGraph::kNone);
    }
  }
  if (!model.reading_first()) return graph;
  graph.first.assign(static_cast<std::size_t>(model.num_observations()), PolicyGraph::kNone);
  for (const FirstBelief& start : first_beliefs(model)) {
    graph.first[static_cast<std::size_t>(start.first)] = nearest_column(beliefs, start.belief);
  }
  return graph;
}

// Of beliefs that runs of the plan meet, spread out, twice as many as max_nodes where they fit.
ExportedGraph graph_of_met_beliefs(const Plan& plan, const ExportOptions& options, int fitting) {
  constexpr std::uint64_t kPool = 4000;
  const Eigen::MatrixXd pool =
      detail::reached_beliefs(plan, std::min(options.steps, kPool), options.seed);
  ExportedGraph result;
  result.graph =
      nearest_graph(plan, detail::spread_out(pool, std::min(2 * options.max_nodes, fitting)));
  result.of_met_beliefs = true;
  result.value = evaluate_graph(plan.model, result.graph, 0);
  return result;
}

}  // namespace

bool ExportedGraph::worse_than(const Plan& plan) const {
  return detail::is_worse(value.gain, plan);
}

ExportedGraph export_graph(const Plan& plan, const ExportOptions& options) {
  options.validate();
  plan.validate();
  const auto fitting = static_cast<int>(kMaxGraphPairs) / plan.model.num_states();
  OAS_REQUIRE(fitting >= 1, "{} states are more than the limit of {} pairs of node and state",
              plan.model.num_states(), kMaxGraphPairs);
  ExportedGraph result;
  BeliefRule greedy = rule_of(plan);
  greedy.floor = 0.0;
  const BeliefNodes nodes = nodes_from_start(greedy, std::min(options.max_nodes, fitting));
  result.graph = graph_of(nodes.controller);
  result.tolerance = nodes.tolerance;
  result.value = evaluate_graph(plan.model, result.graph, 0);
  if (!result.worse_than(plan)) return result;
  const ExportedGraph met = graph_of_met_beliefs(plan, options, fitting);
  return met.value.gain > result.value.gain ? met : result;
}

ActingPlan acting_controller(const Plan& plan) {
  ActingPlan result;
  if (plan.iota > 0.0) {
    const int most = std::max(1, static_cast<int>(kMaxGraphPairs) / plan.model.num_states());
    result.controller =
        nodes_from_start(rule_of(plan), std::min(ExportOptions().max_nodes, most)).controller;
    result.gain = evaluate_controller(plan.model, result.controller).gain;
  } else {
    const ExportedGraph exported = export_graph(plan);
    result.controller = controller_of(exported.graph, 0, plan.model.num_actions());
    result.gain = exported.value.gain;
  }
  result.worse = detail::is_worse(result.gain, plan);
  return result;
}

}  // namespace oas
