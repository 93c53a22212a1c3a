#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli.hpp"
#include "command_files.hpp"
#include "names.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/report/log_report.hpp"
#include "posterior.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

struct ReportArguments {
  Common common;
  std::string model;
  std::vector<std::string> logs;
  std::vector<Setting> rows;
  std::vector<std::string> schedule;
  std::vector<std::string> reach;
  std::string plan;
  ReportOptions report;
  std::string output = "report.html";
};

void run_report(const ReportArguments& given) {
  ReportArguments options = given;
  ReportOptions& report = options.report;
  const AnyModel any = load_row_model(options.model, options.rows, options.common);
  const Pomdp& model = chain_of(any);
  OAS_REQUIRE(model.has_transition(), "{}: has no transition model to report on", options.model);
  OAS_REQUIRE(report.confidence > 0.0 && report.confidence < 1.0,
              "--confidence {}: it must lie strictly between 0 and 1", report.confidence);
  OAS_REQUIRE(options.reach.empty() || !options.schedule.empty() || model.num_actions() == 1,
              "--reach needs --actions: say which actions are to come; there are {}",
              listed(model.actions()));
  OAS_REQUIRE(options.logs.front() != "-",
              "a report reads its log twice, so it cannot be standard input");
  ForecastQuestion& question = report.question;
  question.schedule = indices_of<Action>(options.schedule, model.actions(), "--actions", "action");
  if (question.schedule.empty() && !options.reach.empty()) question.schedule = {Action{0}};
  question.reach = indices_of<State>(options.reach, model.states(), "--reach", "state");
  if (!options.plan.empty()) {
    OAS_REQUIRE(!options.plan.ends_with(".pg"),
                "--plan {}: a policy graph; the page shows plans of oas plan (.json)",
                options.plan);
    report.plan = read_plan(options.plan);
    about_file(options.plan,
               [&] { report.plan->require_endless("the page shows plans for the long run"); });
    OAS_REQUIRE(report.plan->model.num_states() == model.num_states(),
                "{}: a plan for {}; {} has {} states", options.plan, report.plan->model.brief(),
                options.model, model.num_states());
  }
  const std::optional<TransitionEstimate> estimate = estimate_in(options.model);
  if (!estimate || estimate->draws.empty()) {
    refuse_options(options.common, {"--confidence"}, why_no_limits(options.model));
  }
  const OneLog log = one_log_of(options.logs, log_options(options.rows));
  if (report.title.empty()) report.title = log.title();
  report.parallelism = options.common.parallelism();
  Progress progress(options.common, "rows", 0);
  const ReportContents contents = report_log(any, estimate, log, report, log_options(options.rows),
                                             [&](std::int64_t rows) { progress.add(rows); });
  write_text_file(options.output, report_page(contents));
  print(options.common, fmt::format("{}: written\n", options.output));
}

}  // namespace

void add_report(CLI::App& app) {
  const auto options = std::make_shared<ReportArguments>();
  CLI::App* verb =
      add_verb(app, "report", "Write one page about a log: dynamics, units, forecasts, plan, fit",
               options->common, [options] { run_report(*options); });
  add_model_argument(*verb, "MODEL", options->model,
                     "Estimate, or model with transition, as the log is read with",
                     options->common);
  add_logs(*verb, "LOG", options->logs, "Log: files, folders and patterns", options->common)
      ->required();
  add_input(*verb, "--plan", options->plan, "Plan to show, as oas plan -o writes it",
            options->common);
  verb->add_option("--actions", options->schedule,
                   "Future actions, repeated in this order: adds forecasts")
      ->delimiter(',');
  verb->add_option("--reach", options->reach, "States whose first visit is predicted: failed")
      ->delimiter(',');
  add_fields(*verb, options->report, {"title", "steps", "units", "confidence"});
  add_log_options(*verb, true, options->rows, options->common);
  add_output(*verb, "-o,--output", options->output, "Page to write", options->common)
      ->capture_default_str();
  only_when(
      options->common, {"--steps", "--confidence"},
      [options = options.get()] { return !options->schedule.empty() || !options->reach.empty(); },
      "used only by forecasts: say with --actions which actions are to come");
}

}  // namespace oas::cli
