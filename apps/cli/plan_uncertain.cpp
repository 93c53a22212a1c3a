#include "plan_uncertain.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "names.hpp"
#include "oas/core/contracts.hpp"
#include "oas/jobs/credible_models.hpp"
#include "oas/planning/policies/policy_file.hpp"
#include "oas/planning/uncertain/cautious_plan.hpp"
#include "oas/planning/uncertain/robust_plan.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

// The set in which a robust plan keeps its promise.
CredibleModels models_of(const std::string& name, const Pomdp& model,
                         const Uncertainty& uncertainty, const Common& common) {
  if (uncertainty.radius) {
    refuse_options(common, {"--confidence"}, "the set of --robust is then that of --radius");
    return models_within(model, *uncertainty.radius);
  }
  std::optional<CredibleModels> found;
  if (const auto estimate = estimate_in(name)) {
    found = credible_models(model, *estimate, uncertainty.confidence);
  }
  OAS_REQUIRE(found.has_value(),
              "--robust: {} carries no draws of the dynamics and no simultaneous bounds; oas "
              "estimate writes draws with oas-ml, em and gibbs, or say how far they may be off "
              "with --radius",
              name);
  if (!found->of_draws) {
    refuse_options(common, {"--confidence"}, "the bounds have the level of the estimate");
  }
  return std::move(*found);
}

// The rows of which the set says next to nothing: a promise cannot count on them.
std::string open_rows(const ConfidenceSet& set) {
  constexpr double kAnything = 0.9;
  const Pomdp& model = set.center;
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < set.radius.size(); ++i) {
    if (set.radius[i] < kAnything) continue;
    const auto states = static_cast<std::size_t>(model.num_states());
    rows.push_back(fmt::format("({}, {})", model.actions()[static_cast<int>(i / states)],
                               model.states()[static_cast<int>(i % states)]));
  }
  if (rows.empty()) return "";
  return fmt::format(
      "  rows that may be nearly anything in the set, which the promise has to fear: {}\n",
      fmt::join(rows, ", "));
}

Json robust_json(const std::string& name, const RobustPlan& plan, const CredibleModels& models) {
  return {{"model", name},
          {"promise", plan.worst.promise},
          {"worst_found", plan.worst.attained},
          {"gain_in_model", plan.center_gain},
          {"plain_promise", plan.plain_promise},
          {"plain_gain_in_model", plan.plain_center_gain},
          {"made_for", plan.made_for},
          {"candidates", plan.candidates},
          {"nodes", plan.graph.num_nodes()},
          {"first_nodes", plan.graph.first},
          {"status", to_string(plan.worst.status)},
          {"radius", models.set.radius}};
}

}  // namespace

void Uncertainty::check(bool all) const {
  OAS_REQUIRE(!all || !radius,
              "--all compares policies for the model itself; --radius is for a plan without it");
  OAS_REQUIRE(!robust || (!cautious && !all),
              "--robust makes one policy with a promise; it cannot be combined with "
              "--cautious or --all");
  OAS_REQUIRE(!cautious || (!all && !radius),
              "--cautious makes one plan over draws; it cannot be combined with --all "
              "or --radius");
}

void run_robust(const std::string& name, const Pomdp& model, const PlanOptions& options,
                const Uncertainty& uncertainty, const std::string& output,
                std::vector<std::string> warnings, const Common& common) {
  const CredibleModels models = models_of(name, model, uncertainty, common);
  if (const auto estimate = estimate_in(name); estimate && !estimate->reward.empty()) {
    warnings.push_back(fmt::format(
        "{}: its rewards were learned from a log; the promise is about the dynamics and "
        "takes the rewards as exact",
        name));
    warn(common, warnings.back());
  }
  const RobustPlan plan = while_shown(
      common, "planning", [&] { return robust_plan(models.set, options, common.parallelism()); });
  if (!output.empty()) write_policy_graph(output, plan.graph);
  if (common.json) {
    Json document = robust_json(name, plan, models);
    if (!warnings.empty()) document["warnings"] = warnings;
    if (!output.empty()) document["graph"] = output;
    print_json(common, document);
  }
  std::string text = fmt::format(
      "{}: earns at least {:.6g} in every model of the set; {:.6g} in the worst one found\n"
      "  the set: {}\n"
      "  a policy graph of {}, start in {}, made for {}, the best of {}\n"
      "  in {} itself it earns {:.6g}; the plan for that earns {:.6g} and can promise {:.6g}\n",
      name, plan.worst.promise, plan.worst.attained, models.text,
      counted(plan.graph.num_nodes(), "node"),
      start_of_graph(0, plan.graph.first, model.observations()), plan.made_for, plan.candidates,
      name, plan.center_gain, plan.plain_center_gain, plan.plain_promise);
  text += open_rows(models.set);
  if (!output.empty()) text += fmt::format("{}: written\n", output);
  print(common, text);
}

MadePlan choose_cautiously(const std::string& name, const Pomdp& model, const DrawnModels& draws,
                           const PlanOptions& options, double share, const Common& common) {
  OAS_REQUIRE(
      !draws.models.empty(),
      "--cautious: {} carries no draws of the dynamics; oas estimate with oas-ml, em or gibbs "
      "writes some",
      name);
  const CautiousPlan found = while_shown(common, "planning", [&] {
    return cautious_plan(model, draws.models, share, options, common.parallelism());
  });
  return {
      found.plan,
      fmt::format("{}: of {} plans the one made for {}\n"
                  "  the worst {:g} % of the draws give it {:.6g} on average, all of them "
                  "{:.6g} (draws that did not choose)\n"
                  "  the plan for the estimate: {:.6g} and {:.6g}\n",
                  name, found.candidates, found.chosen.made_for, 100.0 * share, found.chosen.judged,
                  found.chosen.mean, found.plain.judged, found.plain.mean)};
}

}  // namespace oas::cli
