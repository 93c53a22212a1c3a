#include "calibrate.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/jobs/log_densities.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

void run_calibrate(const CalibrateArguments& options) {
  OAS_REQUIRE(options.output.empty() || is_json_output(options.output),
              "{}: counts and intervals need a .json file; oas convert makes other formats of it",
              options.output);
  check_figure(options.figure);
  check_different(options.logs);
  const bool is_file = options.model.empty() || std::filesystem::exists(options.model);
  const bool densities = options.common.verb->count("--family") > 0;
  if (densities && !is_file) {
    const AnyModel model = load_any_model(options.model, options.common);
    return calibrate_readings(options, &chain_of(model));
  }
  if (densities ||
      (is_file && asks_for_densities(options.model, options.logs, log_options(options.rows)))) {
    return calibrate_readings(options, nullptr);
  }
  calibrate_finite(options);
}

}  // namespace

void add_calibrate(CLI::App& app) {
  const auto options = std::make_shared<CalibrateArguments>();
  CLI::App* verb = add_verb(app, "calibrate", "Estimate the sensors from logs with known states",
                            options->common, [options] { run_calibrate(*options); });
  add_logs(*verb, "LOG", options->logs, "Log files with a column state (CSV, plain, gzip or zstd)",
           options->common)
      ->required();
  add_input(
      *verb, "--model", options->model,
      "Model file or problem name that gives names, timing, start and rewards (its sensors are "
      "not used and may be missing); default: names from the logs",
      options->common);
  verb->add_option("--timing", options->timing,
                   "Which state a row observes, if neither model nor log says so: before or after")
      ->check(CLI::IsMember({"before", "after"}));
  add_fields(*verb, options->calibration,
             {"confidence", "prior", "same_for_all_actions", "differ_by_action", "seed"});
  verb->get_option("--differ-by-action")->excludes(verb->get_option("--same-for-all-actions"));
  add_fields(*verb, options->densities, {"family", "by_action", "draws"});
  verb->add_option(
      "--unread", options->unread,
      "For readings that are numbers: states without labelled readings because nothing is "
      "ever read there, dead+sold; they get the density of all readings");
  add_output(*verb, "--figure", options->figure,
             "Draw the labelled readings and the densities: .svg or .png", options->common);
  add_log_options(*verb, false, options->rows, options->common);
  add_lenient_flag(*verb, options->common);
  add_output(*verb, "-o,--output", options->output, "Model to write, with its calibration: .json",
             options->common);
}

}  // namespace oas::cli
