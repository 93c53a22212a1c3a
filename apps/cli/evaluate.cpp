#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli.hpp"
#include "command_files.hpp"
#include "names.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/evaluation/policy_simulation.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/policies/policy_file.hpp"
#include "plan_horizon.hpp"
#include "setting_options.hpp"
#include "undetermined.hpp"
#include "what_if.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

struct EvaluateArguments {
  Common common;
  std::string model;
  std::string plan;
  std::string filter;
  std::string vectors;
  std::optional<int> start_node;
  WhatIf question;
  int resolution = 0;
  SimulationOptions simulation;
};

struct Models {
  ReadModel truth;
  std::optional<Pomdp> filter;  // that keeps beliefs, where one is named
};

// What was found out, for people and machines.
struct Found {
  GainInterval simulated;
  std::string text;  // lines beside that of the simulation
  Json json = Json::object();
};

// The chain needs a grid that fits; a plan of α-vectors has none of its own.
std::optional<ChainEvaluation> on_chain(const EvaluateArguments& options, const Pomdp& truth,
                                        const Plan& plan, const Pomdp& filter) {
  if (plan.grid_resolution() == 0 && options.resolution == 0) return std::nullopt;
  ChainOptions chain;
  chain.resolution = options.resolution;
  return evaluate_on_chain(truth, plan, filter, chain, options.common.parallelism());
}

std::optional<Pomdp> load_filter(const EvaluateArguments& options) {
  if (options.filter.empty()) return std::nullopt;
  Pomdp filter = load_model(options.filter, options.common);
  OAS_REQUIRE(filter.has_transition(), "{}: has no transition model to filter with",
              options.filter);
  return filter;
}

Found evaluate(const EvaluateArguments& options, const Models& models, const Plan& plan) {
  const Pomdp& truth = models.truth.model;
  const Pomdp filter = models.filter.value_or(plan.model);
  const auto chain = on_chain(options, truth, plan, filter);
  Found found;
  found.simulated =
      evaluate_by_simulation(truth, plan, filter, options.simulation, options.common.parallelism());
  if (chain) {
    found.json = {{"chain", chain->gain},
                  {"chain_status", to_string(chain->status)},
                  {"chain_resolution", chain->resolution}};
    found.text = fmt::format("  chain      {:.6g} (belief grid of resolution {}, {})\n",
                             chain->gain, chain->resolution, chain->message);
  }
  return found;
}

Found evaluate(const EvaluateArguments& options, const Models& models, const AlphaPolicy& policy) {
  const ReadModel& truth = models.truth;
  const Pomdp filter = models.filter.value_or(truth.model);
  Found found;
  found.simulated = evaluate_by_simulation(truth.model, policy, filter, truth.split,
                                           options.simulation, options.common.parallelism());
  found.json = {{"vectors", policy.num_vectors()}};
  found.text = fmt::format("  policy     {}\n", policy.brief());
  return found;
}

Found evaluate(const EvaluateArguments& options, const Models& models, const PolicyGraph& graph) {
  const Pomdp& truth = models.truth.model;
  std::optional<int> start_node = options.start_node;
  if (!options.vectors.empty()) {
    const AnyPolicy vectors = read_any_policy(options.vectors);
    OAS_REQUIRE(std::holds_alternative<AlphaPolicy>(vectors), "{}: no file of alpha-vectors",
                options.vectors);
    start_node = start_node_by_vectors(graph, std::get<AlphaPolicy>(vectors), truth);
  }
  const GraphEvaluation exact = evaluate_graph(truth, graph, start_node);
  Found found;
  PolicyGraph started = graph;
  started.first = exact.first;
  found.simulated = evaluate_by_simulation(truth, started, exact.start_node, options.simulation,
                                           options.common.parallelism());
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

// An option that a policy of this kind has no use for must not be passed over in silence.
void check_options(const EvaluateArguments& options, const AnyPolicy& policy) {
  const bool is_graph = std::holds_alternative<PolicyGraph>(policy);
  OAS_REQUIRE((options.vectors.empty() && !options.start_node) || is_graph,
              "{}: --start-node and --vectors are for policy graphs (.pg)", options.plan);
  OAS_REQUIRE(options.filter.empty() || !is_graph,
              "{}: a policy graph keeps no belief; --filter is for others", options.plan);
  const Plan* const plan = std::get_if<Plan>(&policy);
  OAS_REQUIRE(options.resolution == 0 || plan != nullptr, "{}: --grid is for plans (oas plan)",
              options.plan);
  OAS_REQUIRE(
      plan == nullptr || !plan->horizon || (options.resolution == 0 && options.filter.empty()),
      "{}: a plan for a horizon keeps no belief; --filter and --grid are for others", options.plan);
}

// About the model that is taken for the truth, and what the plan was made with.
std::vector<std::string> warnings_of(const EvaluateArguments& options, const Pomdp& truth,
                                     const AnyPolicy& policy) {
  std::vector<std::string> warnings =
      warn_of_undetermined(options.model, truth, "the gain", options.common);
  if (const Plan* plan = std::get_if<Plan>(&policy)) {
    for (const std::string& warning : plan->warnings) {
      warnings.push_back(fmt::format("{}: made with a warning: {}", options.plan, warning));
      warn(options.common, warnings.back());
    }
  }
  return warnings;
}

// The table of --policy. What only the evaluation of one plan looks at is refused.
void run_what_if(EvaluateArguments& options) {
  OAS_REQUIRE(options.plan.empty(), "{}: with --policy, plans are named as --policy {}",
              options.plan, options.plan);
  const Pomdp model = load_model(options.model, options.common);
  OAS_REQUIRE(model.has_transition(), "{}: has no transition model to evaluate in", options.model);
  check_reward(options.model, model, options.common);
  options.question.name = options.model;
  compare_policies(options.question, model, load_filter(options), options.common);
}

void run_evaluate(EvaluateArguments& options) {
  if (!options.question.policies.empty()) return run_what_if(options);
  OAS_REQUIRE(!options.plan.empty(), "what is to be evaluated? Name a PLAN, or --policy");
  const ReadModel truth = load_read_model(options.model, options.common);
  OAS_REQUIRE(truth.model.has_transition(), "{}: has no transition model to evaluate in",
              options.model);
  check_reward(options.model, truth.model, options.common);
  if (options.common.verb->count("--steps") == 0) {
    const SimulationOptions usual = default_simulation(truth.model);
    options.simulation.steps = usual.steps;
    options.simulation.burn_in = usual.burn_in;
  }
  const AnyPolicy policy = read_any_policy(options.plan);
  check_options(options, policy);
  const Models models{truth, load_filter(options)};
  const std::vector<std::string> warnings = warnings_of(options, truth.model, policy);
  if (const Plan* plan = std::get_if<Plan>(&policy); plan != nullptr && plan->horizon) {
    return about_file(options.plan, [&] {
      evaluate_horizon({options.model, options.plan, options.simulation, warnings}, truth.model,
                       *plan, options.common);
    });
  }
  const Found found = about_file(options.plan, [&] {
    return while_shown(options.common, "evaluating " + options.plan, [&] {
      return std::visit([&](const auto& value) { return evaluate(options, models, value); },
                        policy);
    });
  });
  const GainInterval& simulated = found.simulated;
  if (options.common.json) {
    Json document = {{"model", options.model},
                     {"plan", options.plan},
                     {"simulated", simulated.mean},
                     {"half_width", simulated.half_width},
                     {"level", simulated.level},
                     {"lower_limit", simulated.lower_limit},
                     {"lag_correlation", simulated.lag_correlation},
                     {"steps", simulated.steps},
                     {"seed", simulated.seed}};
    document.update(found.json);
    if (!warnings.empty()) document["warnings"] = warnings;
    print_json(options.common, document);
  }
  print(options.common, fmt::format("{} in {}\n  simulated  {}\n{}", options.plan, options.model,
                                    simulated.brief(), found.text));
  if (simulated.transient) {
    warn(options.common,
         "the simulation ended before the long run began: actions were still taken that lead, "
         "sooner or later, to states that are never left");
  }
  // Below that the spread is rounding.
  const bool spread = simulated.half_width > 1e-12 * std::max(1.0, std::abs(simulated.mean));
  if (spread && simulated.by_replication) {
    warn(options.common,
         fmt::format("successive batches are correlated ({:.2f}), so the interval is based on "
                     "{} independent runs; more --steps give a better one",
                     simulated.lag_correlation, simulated.num_batches));
  }
}

}  // namespace

void add_evaluate(CLI::App& app) {
  const auto options = std::make_shared<EvaluateArguments>();
  CLI::App* verb = add_verb(app, "evaluate", "Compute the gain of a plan or policy in a model",
                            options->common, [options] { run_evaluate(*options); });
  add_model_argument(*verb, "MODEL", options->model, "The true model: file or problem name",
                     options->common);
  add_input(*verb, "PLAN", options->plan,
            "Plan (oas plan), or a policy of other solvers: .alpha, .policy, .pg", options->common);
  verb->add_option("--policy", options->question.policies,
                   "Instead of PLAN, one or more for a table: uniform, constant:run, "
                   "schedule:run,run,repair, threshold:failed>0.3=repair,else=run, "
                   "log:machines.csv (as that log was made), or a file")
      ->allow_extra_args(false);
  verb->add_option("--confidence", options->question.confidence,
                   "Level of the limits over the draws of an estimate, with --policy")
      ->capture_default_str();
  add_input(*verb, "--filter", options->filter,
            "Model used to compute beliefs (default: the plan's own, else MODEL)", options->common);
  add_whole_number(*verb, "--start-node", options->start_node, {},
                   "First node of a .pg (default: the best one)");
  add_input(*verb, "--vectors", options->vectors,
            "The .alpha file of a .pg: start in the node of its best vector at the start",
            options->common);
  add_whole_number(*verb, "--grid", options->resolution, {0, 1'000'000},
                   "Resolution of the chain's belief grid (0: the plan's)")
      ->capture_default_str();
  add_whole_number(*verb, "--steps", options->simulation.steps, {kFewestSimulated, kMostSteps},
                   "Simulated steps (default: fewer for models of more than 1,000 states)")
      ->capture_default_str();
  add_fields(*verb, options->simulation, {"level", "seed"});
  add_log_options(*verb, false, options->question.rows, options->common);
  only_when(
      options->common, log_option_names(false),
      [options = options.get()] {
        const auto& asked = options->question.policies;
        return std::any_of(asked.begin(), asked.end(),
                           [](const std::string& policy) { return policy.starts_with("log:"); });
      },
      "says how a log is read, and only --policy log:… reads one");
  only_when(
      options->common, {"--confidence"},
      [options = options.get()] { return !options->question.policies.empty(); },
      "only a table of --policy looks at it");
  only_when(
      options->common, {"--start-node", "--vectors", "--grid", "--steps", "--level", "--seed"},
      [options = options.get()] { return options->question.policies.empty(); },
      "only the evaluation of one PLAN looks at it; a table of --policy is exact");
}

}  // namespace oas::cli
