#include "evaluate_plan.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "evaluate_horizon.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/planner.hpp"
#include "undetermined.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

// An option that a policy of this kind has no use for must not be passed over in silence.
void check_options(const EvaluateArguments& options, const AnyPolicy& policy) {
  const bool is_graph = std::holds_alternative<PolicyGraph>(policy);
  OAS_REQUIRE((options.evaluation.vectors.empty() && !options.evaluation.start_node) || is_graph,
              "{}: --start-node and --vectors are for policy graphs (.pg)", options.plan);
  OAS_REQUIRE(options.filter.empty() || !is_graph,
              "{}: a policy graph keeps no belief; --filter is for others", options.plan);
  const Plan* const plan = std::get_if<Plan>(&policy);
  OAS_REQUIRE(options.evaluation.resolution == 0 || plan != nullptr,
              "{}: --grid is for plans (oas plan)", options.plan);
  OAS_REQUIRE(plan == nullptr || !plan->horizon ||
                  (options.evaluation.resolution == 0 && options.filter.empty()),
              "{}: a plan for a horizon keeps no belief; --filter and --grid are for others",
              options.plan);
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

// What a simulation of that kind may have missed.
void warn_of_simulation(const GainInterval& simulated, const Common& common) {
  if (simulated.transient) {
    warn(common,
         "the simulation ended before the long run began: actions were still taken that lead, "
         "sooner or later, to states that are never left");
  }
  if (simulated.unseen) {
    warn(common,
         "no simulated run ended in some of the states that are never left, so the interval allows "
         "for all rewards there");
  }
  // Below that the spread is rounding.
  const bool spread = simulated.half_width > 1e-12 * std::max(1.0, std::abs(simulated.mean));
  if (spread && simulated.by_replication) {
    warn(common,
         fmt::format("successive batches are correlated ({:.2f}), so the interval is based on "
                     "{} independent runs; more --steps give a better one",
                     simulated.lag_correlation, simulated.num_batches));
  }
}

void show(const EvaluateArguments& options, const FoundGain& found,
          const std::vector<std::string>& warnings) {
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
  print(options.common,
        fmt::format("{} in {}\n{}  simulated  {}{}\n{}", options.plan, options.model, found.aim,
                    simulated.brief(), found.aim.empty() ? "" : ", in the long run", found.text));
  warn_of_simulation(simulated, options.common);
}

}  // namespace

std::optional<Pomdp> load_filter(const EvaluateArguments& options) {
  if (options.filter.empty()) return std::nullopt;
  Pomdp filter = load_model(options.filter, options.common);
  OAS_REQUIRE(filter.has_transition(), "{}: has no transition model to filter with",
              options.filter);
  return filter;
}

void evaluate_plan(EvaluateArguments& options) {
  const ReadModel truth = load_read_model(options.model, options.common);
  OAS_REQUIRE(truth.model.has_transition(), "{}: has no transition model to evaluate in",
              options.model);
  check_reward(options.model, truth.model, options.common);
  if (options.common.verb->count("--steps") == 0) {
    const SimulationOptions usual = default_simulation(truth.model);
    options.evaluation.simulation.steps = usual.steps;
    options.evaluation.simulation.burn_in = usual.burn_in;
  }
  const AnyPolicy policy = read_any_policy(options.plan);
  check_options(options, policy);
  const EvaluationModels models{truth, load_filter(options)};
  const std::vector<std::string> warnings = warnings_of(options, truth.model, policy);
  if (const Plan* plan = std::get_if<Plan>(&policy); plan != nullptr && plan->horizon) {
    return about_file(options.plan, [&] {
      evaluate_horizon({options.model, options.plan, options.evaluation.simulation, warnings},
                       truth.model, *plan, options.common);
    });
  }
  const FoundGain found = about_file(options.plan, [&] {
    return while_shown(options.common, "evaluating " + options.plan, [&] {
      return evaluate_policy(options.evaluation, models, policy, options.common.parallelism());
    });
  });
  show(options, found, warnings);
}

}  // namespace oas::cli
