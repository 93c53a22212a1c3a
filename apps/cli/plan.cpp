#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/jobs/plan_limits.hpp"
#include "oas/planning/policies/policy_file.hpp"
#include "plan_report.hpp"
#include "plan_uncertain.hpp"
#include "setting_options.hpp"
#include "undetermined.hpp"

namespace oas::cli {

namespace {

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

// What can be said before the model is read.
void check_options(const PlanArguments& options) {
  check_figure(options.figure);
  options.uncertainty.check(options.all);
  OAS_REQUIRE(!options.uncertainty.robust || options.figure.empty(),
              "--figure: a robust policy is a graph; plans without --robust can be drawn");
  OAS_REQUIRE(
      !options.uncertainty.robust || options.output.empty() || options.output.ends_with(".pg"),
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
              "--all compares average rewards; it cannot be combined with --discount, "
              "--horizon or --limit");
  OAS_REQUIRE(options.figure.empty() || !plan.horizon,
              "--figure draws a policy that does the same at all times; one for --horizon {} has "
              "stages, which the plan file (-o) lists",
              *plan.horizon);
}

// The plan that is asked for, with what is to be said about how it was chosen.
MadePlan make(const PlanArguments& options, const Pomdp& model, const DrawnModels& draws) {
  const Uncertainty& uncertainty = options.uncertainty;
  if (uncertainty.cautious) {
    return choose_cautiously(options.model, model, draws, options.plan, *uncertainty.cautious,
                             options.common);
  }
  return {while_shown(options.common, "planning", [&] {
    const Parallelism threads = options.common.parallelism();
    return uncertainty.radius ? optimistic_plan(model, *uncertainty.radius, options.plan, threads)
                              : make_plan(model, options.plan, threads);
  })};
}

void run_plan(PlanArguments& options) {
  const Common& common = options.common;
  check_options(options);
  const Pomdp model = load_model(options.model, common);
  check_model(options, model);
  options.plan = plan_options(model, options.settings);
  check_criterion(options);
  std::vector<std::string> warnings =
      warn_of_undetermined(options.model, model, "the plan", common);
  if (options.uncertainty.robust) {
    return run_robust(options.model, model, options.plan, options.uncertainty, options.output,
                      warnings, common);
  }
  if (options.all) print_comparison(options.model, model, options.plan, warnings, common);
  if (options.all && options.output.empty() && options.figure.empty()) return;
  const auto started = std::chrono::steady_clock::now();
  const DrawnModels draws = draws_in(options.model, model);
  if (draws.models.empty()) {
    refuse_options(common, {"--confidence"}, why_no_limits(options.model));
  }
  warn_of_exact_rewards(options.model, draws, common, warnings);
  MadePlan made = make(options, model, draws);
  made.model = options.model;
  made.output = options.output;
  const PlanLimits limits =
      set_limits_over_draws(made.plan, draws, options.uncertainty.confidence, common.parallelism());
  if (!limits.coarseness.empty()) {
    warnings.push_back(limits.coarseness);
    warn(common, limits.coarseness);
  }
  made.plan.warnings = warnings;
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (made.plan.status != SolveStatus::converged) warn(common, made.plan.message);
  if (!options.output.empty()) write_plan(options.output, made.plan);
  if (!options.figure.empty()) {
    draw_plan(options.figure, made.plan, options.plan.simulation.seed);
  }
  if (!options.all) print_plan(made, draws, limits, common);
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
  add_fields(*verb, options->uncertainty);
  verb->add_flag("--all", options->all,
                 "Compare with simpler policies, and with what could be earned if the "
                 "state were visible");
  add_output(*verb, "--figure", options->figure,
             "Draw the policy (.svg or .png): with 2 or 3 states the action at every "
             "belief, else the beliefs visited most",
             options->common);
  add_output(*verb, "-o,--output", options->output, "Plan to write (.json)", options->common);
  only_when(
      options->common, {"--confidence"},
      [options = options.get()] { return !options->all || !options->output.empty(); },
      "the comparison of --all has no limits over draws");
  only_when(
      options->common, {"--steps", "--seed"},
      [options = options.get()] { return !options->uncertainty.robust; },
      "the promise of --robust is proved, not simulated");
}

}  // namespace oas::cli
