#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli.hpp"
#include "command_files.hpp"
#include "evaluate_plan.hpp"
#include "oas/core/contracts.hpp"
#include "setting_options.hpp"
#include "what_if.hpp"

namespace oas::cli {

namespace {

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
  OAS_REQUIRE(!options.plan.empty(), "nothing to evaluate: name a PLAN, or use --policy");
  evaluate_plan(options);
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
                   "Instead of PLAN, one or more policies for a table: uniform, "
                   "constant:run, schedule:run,run,repair, "
                   "threshold:failed>0.3=repair,else=run, log:machines.csv (imitates the "
                   "policy that made the log), or a file")
      ->allow_extra_args(false);
  add_fields(*verb, options->question);
  add_input(*verb, "--filter", options->filter,
            "Model used to compute beliefs (default: the plan's own, else MODEL)", options->common);
  add_fields(*verb, options->evaluation);
  add_input(
      *verb, "--vectors", options->evaluation.vectors,
      "The .alpha file of a .pg: start in the node whose vector is best for the starting belief",
      options->common);
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
      "used only for a table of --policy");
  only_when(
      options->common, {"--discount"},
      [options = options.get()] { return !options->question.policies.empty(); },
      "only a table of --policy looks at it; a plan is judged by the aim that it was made for");
  only_when(
      options->common, {"--start-node", "--vectors", "--grid", "--steps", "--level", "--seed"},
      [options = options.get()] { return options->question.policies.empty(); },
      "used only to evaluate one PLAN; a table of --policy is exact");
}

}  // namespace oas::cli
