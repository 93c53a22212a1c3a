#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "command_files.hpp"
#include "estimate_report.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/estimate_json.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/structure_json.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/log_rewards.hpp"
#include "oas/logs/log_reader.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

struct EstimateArguments {
  Common common;
  std::string model;
  std::vector<std::string> logs;
  std::string estimator = Estimation().estimator;
  std::vector<Setting> settings;
  std::vector<Setting> rows;
  std::string simultaneous;  // row, all or empty
  std::string output;
};

void write_output(const EstimateArguments& options, const AnyModel& model,
                  const TransitionEstimate& estimate) {
  const bool as_json = options.output.empty() || is_json_output(options.output);
  if (!as_json) {
    write_model_file(options.output, estimated_model(std::get<Pomdp>(model), estimate), "FILE.json",
                     options.common);
    warn(options.common,
         fmt::format("{}: contains the model only; error bars need a .json file", options.output));
  } else if (!options.output.empty()) {
    std::visit([&](const auto& value) { write_estimate(options.output, value, estimate); }, model);
  }
}

void run_estimate(const EstimateArguments& options) {
  check_different(options.logs);
  const bool as_json = options.output.empty() || is_json_output(options.output);
  const AnyModel loaded = load_row_model(options.model, options.rows, options.common);
  const Pomdp& model = chain_of(loaded);
  OAS_REQUIRE(std::holds_alternative<Pomdp>(loaded) || as_json,
              "{}: only .json files hold models with real-valued observations", options.output);
  OAS_REQUIRE(
      options.simultaneous.empty() || find_estimator(options.estimator).errors != ErrorSource::none,
      "--simultaneous: {} gives no error bars", options.estimator);
  const LogOptions reading = log_options(options.rows);
  const AnyModel rows = row_model(loaded, options.logs.front(), reading);
  Estimation how = estimation_from(options.estimator, rows, options.settings, reading);
  Progress progress(options.common, "rows", 0);
  how.estimate.parallelism = options.common.parallelism();
  how.estimate.progress = [&](std::int64_t done) { progress.add(done); };
  const TransitionEstimate estimate = estimate_dynamics_and_rewards(rows, options.logs, how);
  write_output(options, loaded, estimate);
  for (const std::string& text : for_people(estimate.warnings)) warn(options.common, text);
  if (options.common.json)
    print_json(options.common, estimate_to_json(model, estimate)["estimate"]);
  std::string text = estimate_text(model, estimate, options.simultaneous);
  if (!options.output.empty()) text += fmt::format("{}: written\n", options.output);
  print(options.common, text);
}

}  // namespace

void add_estimate(CLI::App& app) {
  const auto options = std::make_shared<EstimateArguments>();
  CLI::App* verb =
      add_verb(app, "estimate", "Estimate the transition model from logs and known sensors",
               options->common, [options] { run_estimate(*options); });
  add_model_argument(*verb, "MODEL", options->model,
                     "Model file or problem name; its transition is not used "
                     "(except by --structure zeros-of-model)",
                     options->common);
  add_logs(*verb, "LOG", options->logs,
           "Log files, folders and patterns (CSV, plain, gzip or zstd); - is standard input",
           options->common)
      ->required();
  verb->add_option("--estimator", options->estimator, "Estimator (see oas list)")
      ->capture_default_str();
  verb->add_option("--simultaneous", options->simultaneous,
                   "Print intervals that hold for a whole row, or for all rows, at once: row, all")
      ->check(CLI::IsMember({"row", "all"}));
  std::vector<std::string> names;
  for (const EstimatorInfo& info : estimators()) names.emplace_back(info.name);
  add_log_options(*verb, false, options->rows, options->common, &options->settings);
  add_settings(*verb, estimation_settings(), names, options->settings);
  options->common.inputs.push_back(verb->get_option("--structure"));
  add_output(*verb, "-o,--output", options->output,
             "Estimate to write, a model file: .json (with error bars), .pomdp, .pomdpx",
             options->common);
}

}  // namespace oas::cli
