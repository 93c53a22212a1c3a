#include "evaluate_policy.hpp"

#include <fmt/format.h>

#include <variant>

#include "names.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/policy_simulation.hpp"
#include "oas/planning/evaluation/rule_simulation.hpp"

namespace oas::cli {

namespace {

// The chain needs a grid that fits; a plan of α-vectors has none of its own.
std::optional<ChainEvaluation> on_chain(const EvaluationOptions& options, const Pomdp& truth,
                                        const Plan& plan, const Pomdp& filter,
                                        Parallelism parallelism) {
  if (plan.grid_resolution() == 0 && options.resolution == 0) return std::nullopt;
  ChainOptions chain;
  chain.resolution = options.resolution;
  return evaluate_on_chain(truth, plan, filter, chain, parallelism);
}

// What a discounted plan was made for.
void add_worth(const EvaluationOptions& options, const Pomdp& truth, const Plan& plan,
               const Pomdp& filter, FoundGain& found, Parallelism parallelism) {
  BeliefRule rule = rule_of(plan);
  rule.model = filter;
  const double discount = plan.discounted->discount;
  const GainInterval worth =
      simulate_discounted(truth, rule, discount, options.simulation, parallelism).gain;
  found.aim = fmt::format("  worth      {:.6g} ± {:.2g} from the start, discounted by {:g}\n",
                          worth.mean, worth.half_width, discount);
  found.json["discounted"] = {{"discount", discount},
                              {"simulated", worth.mean},
                              {"half_width", worth.half_width},
                              {"lower_limit", worth.lower_limit}};
}

FoundGain evaluate(const EvaluationOptions& options, const EvaluationModels& models,
                   const Plan& plan, Parallelism parallelism) {
  const Pomdp& truth = models.truth.model;
  const Pomdp filter = models.filter.value_or(plan.model);
  const auto chain = on_chain(options, truth, plan, filter, parallelism);
  FoundGain found;
  found.simulated = evaluate_by_simulation(truth, plan, filter, options.simulation, parallelism);
  if (plan.discounted) add_worth(options, truth, plan, filter, found, parallelism);
  if (chain) {
    found.json.update({{"chain", chain->gain},
                       {"chain_status", to_string(chain->status)},
                       {"chain_resolution", chain->resolution}});
    found.text = fmt::format("  chain      {:.6g} (belief grid of resolution {}, {})\n",
                             chain->gain, chain->resolution, chain->message);
  }
  return found;
}

FoundGain evaluate(const EvaluationOptions& options, const EvaluationModels& models,
                   const AlphaPolicy& policy, Parallelism parallelism) {
  const ReadModel& truth = models.truth;
  const Pomdp filter = models.filter.value_or(truth.model);
  FoundGain found;
  found.simulated = evaluate_by_simulation(truth.model, policy, filter, truth.split,
                                           options.simulation, parallelism);
  found.json = {{"vectors", policy.num_vectors()}};
  found.text = fmt::format("  policy     {}\n", policy.brief());
  return found;
}

FoundGain evaluate(const EvaluationOptions& options, const EvaluationModels& models,
                   const PolicyGraph& graph, Parallelism parallelism) {
  const Pomdp& truth = models.truth.model;
  std::optional<int> start_node = options.start_node;
  if (!options.vectors.empty()) {
    const AnyPolicy vectors = read_any_policy(options.vectors);
    OAS_REQUIRE(std::holds_alternative<AlphaPolicy>(vectors), "{}: not a file of alpha-vectors",
                options.vectors);
    start_node = start_node_by_vectors(graph, std::get<AlphaPolicy>(vectors), truth);
  }
  const GraphEvaluation exact = evaluate_graph(truth, graph, start_node);
  FoundGain found;
  PolicyGraph started = graph;
  started.first = exact.first;
  found.simulated =
      evaluate_by_simulation(truth, started, exact.start_node, options.simulation, parallelism);
  found.json = {{"exact", exact.gain},
                {"start_node", exact.start_node},
                {"nodes", graph.num_nodes()},
                {"pairs", exact.num_pairs},
                {"closed_classes", exact.num_classes},
                {"residual", exact.residual}};
  if (!exact.first.empty()) found.json["first_nodes"] = exact.first;
  found.text =
      fmt::format("  exact      {:.10g} (start in {}{}; {} pairs of node and state)\n", exact.gain,
                  start_of_graph(exact.start_node, exact.first, truth.observations()),
                  start_node ? "" : ", the best one", exact.num_pairs);
  return found;
}

}  // namespace

FoundGain evaluate_policy(const EvaluationOptions& options, const EvaluationModels& models,
                          const AnyPolicy& policy, Parallelism parallelism) {
  return std::visit(
      [&](const auto& value) { return evaluate(options, models, value, parallelism); }, policy);
}

}  // namespace oas::cli
