#include "plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "horizon_report.hpp"
#include "oas/figures/figure_file.hpp"
#include "oas/planning/oracles.hpp"
#include "oas/planning/simplex_figure.hpp"
#include "oas/report/policy_figure.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

// Of a gain: worth a word.
constexpr double kMuchLeft = 0.05;

// What is worth most to know about a plan, by what it was made for.
std::string headline(const std::string& model, const Plan& plan) {
  const std::string checked =
      fmt::format("simulation of {} steps, seed {}, level {:g}", plan.certificate.steps,
                  plan.certificate.seed, plan.certificate.level);
  if (const auto& limit = plan.limited) {
    const double left = limit->gain_upper - limit->gain_lower;
    const std::string room =
        left > kMuchLeft * std::max(std::abs(limit->gain_lower), std::abs(limit->gain_upper))
            ? fmt::format(
                  "  up to {:.4g} more may be left: the best policy under a limit often "
                  "switches between two plans, which is not tried\n",
                  left)
            : "";
    return fmt::format(
        "{}: gain in [{:.6g}, {:.6g}], {} in {:.4g} of the steps (at most {:.4g}, limit {:g})\n"
        "  lower and shares: {}; upper: proved for every policy that keeps the limit\n"
        "  by a penalty of {:.6g} for each such step; with it: {}\n{}",
        model, limit->gain_lower, limit->gain_upper, fmt::join(limit->states, " or "),
        limit->frequency, limit->frequency_upper, limit->most, checked, limit->multiplier,
        plan.brief(), room);
  }
  if (plan.horizon) return horizon_headline(model, plan);
  if (const auto& value = plan.discounted) {
    return fmt::format(
        "{}: worth [{:.6g}, {:.6g}] from the start, discounted by {:g}\n"
        "  lower: {}; upper: proved\n"
        "  in the long run: {}\n",
        model, value->lower, value->upper, value->discount, checked, plan.brief());
  }
  return fmt::format("{}: {}\n  {}\n  lower: {}; upper: proved\n", model, plan.brief(),
                     plan.message, checked);
}

// What the log leaves open, or that nobody says how much that is.
std::string about_draws(const MadePlan& made, const DrawnModels& draws, const PlanLimits& limits) {
  if (draws.estimated && draws.models.empty()) {
    return fmt::format("  the dynamics are taken as exact: {}\n", why_no_limits(made.model));
  }
  return posterior_text(made.plan, limits, draws.what());
}

Json summary_json(const MadePlan& made, const PlanLimits& limits) {
  Json document = plan_to_json(made.plan);
  for (const char* left_to_the_file :
       {"format", "bias", "alpha", "model", "stages", "start", "first"}) {
    document.erase(left_to_the_file);
  }
  for (const std::string& note : {long_run_note(made.plan), limits.beyond_draws}) {
    if (!note.empty()) document["notes"].push_back(note);
  }
  if (made.plan.horizon) document["first_action"] = first_action_json(made.plan);
  document["seconds"] = made.seconds;
  if (!made.output.empty()) document["plan"] = made.output;
  return document;
}

}  // namespace

void print_plan(const MadePlan& made, const DrawnModels& draws, const PlanLimits& limits,
                const Common& common) {
  const Plan& plan = made.plan;
  if (common.json) print_json(common, summary_json(made, limits));
  std::string text = made.choice.empty() ? headline(made.model, plan) : made.choice;
  if (plan.optimism) {
    text += fmt::format(
        "  optimistic: no model within radius {:g} has a gain above {:.6g}; the plan is for the "
        "best one found\n",
        plan.optimism->radius, plan.optimism->gain_bound);
  }
  if (const std::string note = long_run_note(plan); !note.empty()) {
    text += fmt::format("  {}\n", note);
  }
  text += about_draws(made, draws, limits);
  if (plan.horizon && !made.output.empty()) text += fmt::format("  {}: written\n", made.output);
  print(common, text + fmt::format("  {:.3f} s\n", made.seconds));
}

void print_comparison(const std::string& name, const Pomdp& model, const PlanOptions& options,
                      const std::vector<std::string>& warnings, const Common& common) {
  const std::vector<OracleRow> rows = while_shown(
      common, "planning", [&] { return all_oracles(model, options, common.parallelism()); });
  Table table({"policy", "gain from", "to", "how"});
  Json list = Json::array();
  for (const OracleRow& row : rows) {
    table.add(
        {row.name, fmt::format("{:.5f}", row.lower), fmt::format("{:.5f}", row.upper), row.note});
    list.push_back(
        {{"policy", row.name}, {"lower", row.lower}, {"upper", row.upper}, {"note", row.note}});
  }
  if (common.json) {
    Json document = {{"model", name}, {"iota", options.iota}, {"oracles", list}};
    if (!warnings.empty()) document["warnings"] = warnings;
    print_json(common, document);
  }
  print(common, fmt::format("{}, floor {:.4g}\n{}", name, options.iota, table.text()));
}

void draw_plan(const std::string& path, const Plan& plan, std::uint64_t seed) {
  constexpr std::size_t kShownBeliefs = 8;  // of each action
  const int states = plan.model.num_states();
  if (states == 2 || states == 3) {
    FigureOptions figure;
    figure.seed = seed;
    write_policy_figure(path, plan, figure);
  } else {
    write_figure(path, policy_svg(plan.model, visited_beliefs(plan, seed, kShownBeliefs)));
  }
}

}  // namespace oas::cli
