#include "plan_uncertain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "names.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/estimate_json.hpp"
#include "oas/planning/policies/plan_export.hpp"
#include "oas/planning/policies/policy_file.hpp"
#include "oas/planning/uncertain/cautious_plan.hpp"
#include "oas/planning/uncertain/posterior_value.hpp"
#include "oas/planning/uncertain/robust_plan.hpp"
#include "posterior.hpp"

namespace oas::cli {

namespace {

constexpr double kCoarse = 0.01;  // of the worth: a copy of a plan that loses more is named

using Json = nlohmann::ordered_json;

// A set of models, and how it came about.
struct NamedSet {
  ConfidenceSet set;
  std::string text;
};

// From the simultaneous bounds of an estimate without draws; nothing where it has none.
std::optional<NamedSet> set_of_bounds(const std::string& name, const Pomdp& model) {
  if (names_model(name)) return std::nullopt;
  const auto estimate = read_estimate(name).estimate;
  if (!estimate || estimate->joint_region.l1.empty()) return std::nullopt;
  ConfidenceSet set = ConfidenceSet::uniform(model, 1.0);
  for (std::size_t row = 0; row < set.radius.size(); ++row) {
    const double l1 = estimate->joint_region.l1[row];
    if (std::isfinite(l1)) set.radius[row] = std::clamp(0.5 * l1, 0.0, 1.0);
  }
  return NamedSet{std::move(set),
                  fmt::format("all models whose rows are within the simultaneous bounds of the "
                              "estimate, which hold together at {:g} %",
                              100.0 * estimate->confidence)};
}

NamedSet set_of(const std::string& name, const Pomdp& model, const Uncertainty& uncertainty,
                const Common& common) {
  if (uncertainty.radius) {
    return {ConfidenceSet::uniform(model, *uncertainty.radius),
            fmt::format("all models whose rows are within {:g} of these (total variation)",
                        *uncertainty.radius)};
  }
  const auto estimate = estimate_in(name);
  const auto draws = estimate ? drawn_transitions(*estimate) : std::vector<TransitionModel>{};
  if (draws.empty()) {
    std::optional<NamedSet> bounds = set_of_bounds(name, model);
    OAS_REQUIRE(
        bounds.has_value(),
        "--robust: {} carries no draws of the dynamics and no simultaneous bounds; oas "
        "estimate writes draws with oas-ml, em and gibbs, or say how far they may be off with "
        "--radius",
        name);
    refuse_options(common, {"--confidence"}, "the bounds have the level of the estimate");
    return std::move(*bounds);
  }
  ConfidenceSet set = credible_set(model, draws, uncertainty.confidence);
  std::string text = fmt::format(
      "all models whose rows are near the estimate's, within {:.3g} to {:.3g} (total "
      "variation); it holds {:g} % of {} drawn models",
      *std::min_element(set.radius.begin(), set.radius.end()), set.max_radius(),
      100.0 * uncertainty.confidence, draws.size());
  return {std::move(set), std::move(text)};
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

Json robust_json(const std::string& name, const RobustPlan& plan, const NamedSet& named) {
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
          {"radius", named.set.radius}};
}

// What the plan is worth from the start over the draws; the long run of a plan that is made for the
// near future, as where all ends in a failure for ever, says nothing.
DrawnRange drawn_worth(const Plan& plan, const DrawnModels& draws, const Controller& controller,
                       double confidence, Parallelism parallelism) {
  const double discount = plan.discounted->discount;
  DrawnRange range =
      range_of(discounted_over(draws.models, controller, discount, parallelism), confidence);
  for (const Pomdp& extreme : draws.extremes) {
    range = holding(range, discounted_value(extreme, controller, discount));
  }
  return range;
}

DrawnRange drawn_gain(const DrawnModels& draws, const Controller& controller, double confidence,
                      Parallelism parallelism) {
  DrawnRange range =
      range_of(evaluate_over(draws.models, controller, parallelism).gains, confidence);
  for (const Pomdp& extreme : draws.extremes) {
    range = holding(range, evaluate_controller(extreme, controller).gain);
  }
  return range;
}

// Where the controller is a coarse copy of the plan; else empty.
std::string about_coarseness(const Plan& plan, const ActingPlan& acting) {
  if (!plan.discounted) {
    if (!acting.worse) return {};
    return fmt::format(
        "the gain over the draws is that of a coarse copy of the plan, which earns {:.6g} in the "
        "plan's own model",
        acting.gain);
  }
  const double here = discounted_value(plan.model, acting.controller, plan.discounted->discount);
  const double lower = plan.discounted->lower;
  if (here >= lower - kCoarse * std::abs(lower)) return {};
  return fmt::format(
      "the worth over the draws is that of a coarse copy of the plan, which is worth {:.6g} in the "
      "plan's own model",
      here);
}

}  // namespace

void set_posterior(Plan& plan, const DrawnModels& draws, double confidence, const Common& common,
                   std::vector<std::string>& warnings) {
  if (draws.models.empty()) return;
  const ActingPlan acting = acting_controller(plan);
  if (const std::string coarse = about_coarseness(plan, acting); !coarse.empty()) {
    warnings.push_back(coarse);
    warn(common, coarse);
  }
  const DrawnRange range =
      plan.discounted
          ? drawn_worth(plan, draws, acting.controller, confidence, common.parallelism())
          : drawn_gain(draws, acting.controller, confidence, common.parallelism());
  plan.posterior = PosteriorGain{confidence, static_cast<int>(draws.models.size()), range.mean,
                                 range.lower, range.upper};
}

std::string posterior_line(const Plan& plan, const std::string& drawn) {
  if (!plan.posterior) return "";
  const PosteriorGain& gain = *plan.posterior;
  return fmt::format(
      "  over {} {} drawn from the posterior: {} {:.6g} on average, {:g} % in [{:.6g}, {:.6g}]\n",
      gain.draws, drawn, plan.discounted ? "worth" : "gain", gain.mean, 100.0 * gain.confidence,
      gain.lower, gain.upper);
}

void run_robust(const std::string& name, const Pomdp& model, const PlanOptions& options,
                const Uncertainty& uncertainty, const std::string& output,
                std::vector<std::string> warnings, const Common& common) {
  const NamedSet named = set_of(name, model, uncertainty, common);
  if (const auto estimate = estimate_in(name); estimate && !estimate->reward.empty()) {
    warnings.push_back(fmt::format(
        "{}: its rewards were learned from a log; the promise is about the dynamics and "
        "takes the rewards as exact",
        name));
    warn(common, warnings.back());
  }
  const RobustPlan plan = while_shown(
      common, "planning", [&] { return robust_plan(named.set, options, common.parallelism()); });
  if (!output.empty()) write_policy_graph(output, plan.graph);
  if (common.json) {
    Json document = robust_json(name, plan, named);
    if (!warnings.empty()) document["warnings"] = warnings;
    if (!output.empty()) document["graph"] = output;
    print_json(common, document);
  }
  std::string text = fmt::format(
      "{}: earns at least {:.6g} in every model of the set; {:.6g} in the worst one found\n"
      "  the set: {}\n"
      "  a policy graph of {}, start in {}, made for {}, the best of {}\n"
      "  in {} itself it earns {:.6g}; the plan for that earns {:.6g} and can promise {:.6g}\n",
      name, plan.worst.promise, plan.worst.attained, named.text,
      counted(plan.graph.num_nodes(), "node"),
      start_of_graph(0, plan.graph.first, model.observations()), plan.made_for, plan.candidates,
      name, plan.center_gain, plan.plain_center_gain, plan.plain_promise);
  text += open_rows(named.set);
  if (!output.empty()) text += fmt::format("{}: written\n", output);
  print(common, text);
}

CautiousChoice choose_cautiously(const std::string& name, const Pomdp& model,
                                 const DrawnModels& draws, const PlanOptions& options, double share,
                                 const Common& common) {
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
