#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/programs.hpp"
#include "oas/core/temporary_files.hpp"
#include "oas/figures/figure_file.hpp"
#include "oas/planning/grid/extended_value_iteration.hpp"
#include "oas/planning/oracles.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/planners.hpp"
#include "oas/planning/policies/policy_file.hpp"
#include "oas/planning/simplex_figure.hpp"
#include "oas/report/policy_figure.hpp"
#include "plan_horizon.hpp"
#include "plan_uncertain.hpp"
#include "posterior.hpp"
#include "setting_options.hpp"
#include "undetermined.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

struct PlanArguments {
  Common common;
  std::string model;
  std::vector<Setting> settings;
  PlanOptions plan;  // made of them
  Uncertainty uncertainty;
  bool all = false;
  std::string figure;
  std::string output;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void print_all(const PlanArguments& options, const Pomdp& model,
               const std::vector<std::string>& warnings) {
  const std::vector<OracleRow> rows = while_shown(options.common, "planning", [&] {
    return all_oracles(model, options.plan, options.common.parallelism());
  });
  Table table({"policy", "gain from", "to", "how"});
  Json list = Json::array();
  for (const OracleRow& row : rows) {
    table.add(
        {row.name, fmt::format("{:.5f}", row.lower), fmt::format("{:.5f}", row.upper), row.note});
    list.push_back(
        {{"policy", row.name}, {"lower", row.lower}, {"upper", row.upper}, {"note", row.note}});
  }
  if (options.common.json) {
    Json document = {{"model", options.model}, {"iota", options.plan.iota}, {"oracles", list}};
    if (!warnings.empty()) document["warnings"] = warnings;
    print_json(options.common, document);
  }
  print(options.common,
        fmt::format("{}, floor {:.4g}\n{}", options.model, options.plan.iota, table.text()));
}

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
std::string about_draws(const PlanArguments& options, const Plan& plan, const DrawnModels& draws) {
  if (draws.estimated && draws.models.empty()) {
    return fmt::format("  the dynamics are taken as exact: {}\n", why_no_limits(options.model));
  }
  return plan.horizon ? horizon_posterior_line(plan, draws.what())
                      : posterior_line(plan, draws.what());
}

void print_plan(const PlanArguments& options, const Plan& plan, const std::string& choice,
                const DrawnModels& draws, double seconds) {
  if (options.common.json) {
    Json document = plan_to_json(plan);
    for (const char* left_to_the_file :
         {"format", "bias", "alpha", "model", "stages", "start", "first"}) {
      document.erase(left_to_the_file);
    }
    if (plan.horizon) document["first_action"] = first_action_json(plan);
    document["seconds"] = seconds;
    if (!options.output.empty()) document["plan"] = options.output;
    print_json(options.common, document);
  }
  // A plan of --cautious was made for other dynamics than those of the file.
  std::string text = choice.empty() ? headline(options.model, plan) : choice;
  if (plan.optimism) {
    text += fmt::format(
        "  optimistic: no model within radius {:g} has a gain above {:.6g}; the plan is for the "
        "best one found\n",
        plan.optimism->radius, plan.optimism->gain_bound);
  }
  text += about_draws(options, plan, draws);
  if (plan.horizon && !options.output.empty())
    text += fmt::format("  {}: written\n", options.output);
  print(options.common, text + fmt::format("  {:.3f} s\n", seconds));
}

// What can be said before the model is read.
void check_options(const PlanArguments& options) {
  const Uncertainty& uncertainty = options.uncertainty;
  OAS_REQUIRE(options.figure.empty() || options.figure.ends_with(".svg") ||
                  options.figure.ends_with(".png"),
              "--figure {}: figures are written as .svg or .png", options.figure);
  OAS_REQUIRE(!options.all || !uncertainty.radius,
              "--all compares policies for the model itself; --radius is for a plan without it");
  OAS_REQUIRE(uncertainty.confidence > 0.0 && uncertainty.confidence < 1.0,
              "--confidence is {}; it must lie strictly between 0 and 1", uncertainty.confidence);
  OAS_REQUIRE(
      !uncertainty.robust || (!uncertainty.cautious && !options.all),
      "--robust makes one policy with a promise; it goes with neither --cautious nor --all");
  OAS_REQUIRE(!uncertainty.cautious || (!options.all && !uncertainty.radius),
              "--cautious makes one plan over draws; it goes with neither --all nor --radius");
  OAS_REQUIRE(!uncertainty.robust || options.figure.empty(),
              "--figure: a robust policy is a graph; plans without --robust can be drawn");
  OAS_REQUIRE(!uncertainty.robust || options.output.empty() || options.output.ends_with(".pg"),
              "{}: the promise of --robust is about a policy graph, which is written as .pg",
              options.output);
}

// What the model must be like for what is asked.
void check_model(const PlanArguments& options, const Pomdp& model) {
  OAS_REQUIRE(model.has_transition(), "{}: has no transition model to plan with", options.model);
  check_reward(options.model, model, options.common);
  OAS_REQUIRE(options.uncertainty.robust || !is_foreign_policy(options.output),
              "{}: a plan is written as .json; then use oas convert PLAN.json {}", options.output,
              options.output);
}

// What compares or draws plans is about those that never end.
void check_criterion(const PlanArguments& options) {
  const PlanOptions& plan = options.plan;
  OAS_REQUIRE(!options.all || (!plan.discount && !plan.horizon && plan.limit.empty()),
              "--all compares average rewards; it goes with neither --discount nor --horizon nor "
              "--limit");
  OAS_REQUIRE(options.figure.empty() || !plan.horizon,
              "--figure draws a policy that does the same at all times; one for --horizon {} has "
              "stages, which the plan file (-o) lists",
              *plan.horizon);
}

// The plan that is asked for, with what is to be said about how it was chosen.
Plan chosen_plan(const PlanArguments& options, const Pomdp& model, const DrawnModels& draws,
                 std::string& choice) {
  const Uncertainty& uncertainty = options.uncertainty;
  if (uncertainty.cautious) {
    CautiousChoice found = choose_cautiously(options.model, model, draws, options.plan,
                                             *uncertainty.cautious, options.common);
    choice = std::move(found.text);
    return std::move(found.plan);
  }
  return while_shown(options.common, "planning", [&] {
    const Parallelism threads = options.common.parallelism();
    return uncertainty.radius ? optimistic_plan(model, *uncertainty.radius, options.plan, threads)
                              : make_plan(model, options.plan, threads);
  });
}

// Regions of beliefs where these can be drawn; else the beliefs that the plan meets most.
void draw(const std::string& path, const Plan& plan, std::uint64_t seed) {
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

void run_plan(PlanArguments& options) {
  check_options(options);
  const Pomdp model = load_model(options.model, options.common);
  check_model(options, model);
  options.plan = plan_options(model, options.settings);
  check_criterion(options);
  std::vector<std::string> warnings =
      warn_of_undetermined(options.model, model, "the plan", options.common);
  if (options.uncertainty.robust) {
    return run_robust(options.model, model, options.plan, options.uncertainty, options.output,
                      warnings, options.common);
  }
  if (options.all) print_all(options, model, warnings);
  if (options.all && options.output.empty() && options.figure.empty()) return;
  const double started = now();
  const DrawnModels draws = draws_in(options.model, model);
  if (draws.models.empty()) {
    refuse_options(options.common, {"--confidence"}, why_no_limits(options.model));
  }
  warn_of_exact_rewards(options.model, draws, options.common, warnings);
  std::string choice;
  Plan plan = chosen_plan(options, model, draws, choice);
  if (plan.horizon) {
    set_horizon_posterior(plan, draws, options.uncertainty.confidence, options.common);
  } else {
    set_posterior(plan, draws, options.uncertainty.confidence, options.common, warnings);
  }
  plan.warnings = warnings;
  const double seconds = now() - started;
  if (plan.status != SolveStatus::converged) warn(options.common, plan.message);
  if (!options.output.empty()) write_plan(options.output, plan);
  if (!options.figure.empty()) draw(options.figure, plan, options.plan.simulation.seed);
  if (!options.all) print_plan(options, plan, choice, draws, seconds);
}

}  // namespace

void add_plan(CLI::App& app) {
  const auto options = std::make_shared<PlanArguments>();
  CLI::App* verb =
      add_verb(app, "plan", "Find the best policy for the long-run average reward, with bounds",
               options->common, [options] { run_plan(*options); });
  add_model_argument(*verb, "MODEL", options->model, "Model file or problem name", options->common);
  for (const SettingInfo& setting : describe_options<PlanOptions>()) {
    add_setting(*verb, setting, options->settings);
  }
  Uncertainty& uncertainty = options->uncertainty;
  verb->add_option("--radius", uncertainty.radius,
                   "Plan for the most optimistic model within this total-variation radius per row; "
                   "with --robust for the worst one")
      ->check(CLI::Range(0.0, 1.0));
  verb->add_flag("--robust", uncertainty.robust,
                 "A policy graph with a gain that it has in every model of a set: those near the "
                 "draws of an estimate, or within --radius");
  verb->add_option("--cautious", uncertainty.cautious,
                   "The plan with the best mean gain over this share of the draws of an estimate, "
                   "the worst for it")
      ->type_name("SHARE");
  verb->add_option("--confidence", uncertainty.confidence,
                   "Level of limits over the draws, and share of them in the set of --robust")
      ->capture_default_str();
  verb->add_flag("--all", options->all, "Compare with simpler policies and with the visible state");
  add_output(
      *verb, "--figure", options->figure,
      "Draw the policy, .svg or .png: regions of beliefs for 2 or 3 states, else those visited "
      "most",
      options->common);
  add_output(*verb, "-o,--output", options->output, "Plan to write (.json)", options->common);
  only_when(
      options->common, {"--confidence"},
      [options = options.get()] { return !options->all || !options->output.empty(); },
      "the comparison of --all has no limits over draws");
  only_when(
      options->common, {"--confidence"},
      [options = options.get()] {
        const Uncertainty& told = options->uncertainty;
        return !told.robust || !told.radius;
      },
      "the set of --robust is then that of --radius");
  only_when(
      options->common, {"--steps", "--seed"},
      [options = options.get()] { return !options->uncertainty.robust; },
      "the promise of --robust is proved, not simulated");
}

}  // namespace oas::cli
