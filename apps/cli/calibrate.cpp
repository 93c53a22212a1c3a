#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/jobs/log_calibration.hpp"
#include "setting_options.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

struct CalibrateArguments {
  Common common;
  std::string model;
  std::string timing;
  std::vector<std::string> logs;
  CalibrationOptions calibration;
  std::vector<Setting> rows;
  std::string output;
};

// Sensors of more numbers than this in a row are left to the file.
constexpr int kMostColumns = 8;

Pomdp skeleton(const CalibrateArguments& options) {
  std::optional<Timing> timing;
  if (!options.timing.empty()) {
    timing = options.timing == to_string(Timing::before) ? Timing::before : Timing::after;
  }
  if (!options.model.empty() && !std::filesystem::exists(options.model)) {
    Pomdp model = load_model(options.model, options.common);
    OAS_REQUIRE(timing.value_or(model.timing()) == model.timing(), "{}: has timing {}, not {}",
                options.model, to_string(model.timing()), options.timing);
    const std::string rows = log_options(options.rows).rows;
    return rows.empty() ? model : model.with_rows(parse_rows(rows));
  }
  return calibration_skeleton(options.model, options.logs, timing, log_options(options.rows));
}

std::string sensors_text(const Pomdp& model, const Calibration& calibration) {
  std::string text;
  std::size_t index = 0;
  for (Action a{0}; a < model.num_actions(); ++a) {
    const AlphaInterval& alpha = calibration.alpha[static_cast<std::size_t>(a)];
    text += fmt::format("\n{} (alpha {:.3g}, between {:.3g} and {:.3g})\n", model.actions()[a],
                        alpha.value, alpha.lower, alpha.upper);
    std::vector<std::string> header = {"state", "rows"};
    for (int o = 0; o < model.num_observations(); ++o) header.push_back(model.observations()[o]);
    Table table(std::move(header));
    for (State s{0}; s < model.num_states(); ++s) {
      std::vector<std::string> row = {
          model.states()[s], big_number(static_cast<double>(calibration.counts.total(a, s)))};
      for (int o = 0; o < model.num_observations(); ++o, ++index) {
        row.push_back(fmt::format("{:.3f} [{:.3f}, {:.3f}]", calibration.sensors.values()[index],
                                  calibration.lower[index], calibration.upper[index]));
      }
      table.add(std::move(row));
    }
    text += table.text();
  }
  return text + fmt::format("\n[lower, upper] hold for a whole row at once, at {:.0f} %\n",
                            100.0 * calibration.confidence);
}

void run_calibrate(const CalibrateArguments& options) {
  if (!options.output.empty()) {
    OAS_REQUIRE(is_json_output(options.output),
                "{}: counts and intervals need a .json file; oas convert makes other formats of it",
                options.output);
  }
  options.calibration.validate();
  check_different(options.logs);
  const Pomdp model = skeleton(options);
  Progress progress(options.common, "rows", 0);
  const SensorCounts counts = count_labelled_rows(
      model, options.logs, options.common.parallelism(),
      [&](std::int64_t rows) { progress.add(rows); }, log_options(options.rows));
  const Calibration calibration = calibrate(counts, model, options.calibration);
  const nlohmann::ordered_json document = calibration_to_json(model, calibration);
  if (!options.output.empty()) write_text_file(options.output, dump_json(document));
  for (const std::string& warning : calibration.warnings) warn(options.common, warning);
  if (options.common.json) print_json(options.common, document["calibration"]);
  std::string text = calibration.brief() + "\n";
  if (counts.unused > 0) {
    text += fmt::format("{} could not be used: no observation, no state, or the last of a run\n",
                        counted(counts.unused, "row"));
  }
  if (calibration.dependence.degrees > 0.0) {
    text += fmt::format("observations against actions, in the same state: p = {:.2g}\n",
                        calibration.dependence.p_value);
  }
  if (model.num_observations() <= kMostColumns) text += sensors_text(model, calibration);
  if (!options.output.empty()) text += fmt::format("{}: written\n", options.output);
  print(options.common, text);
}

}  // namespace

void add_calibrate(CLI::App& app) {
  const auto options = std::make_shared<CalibrateArguments>();
  CLI::App* verb = add_verb(app, "calibrate", "Estimate the sensors from logs with known states",
                            options->common, [options] { run_calibrate(*options); });
  add_input(*verb, "LOG", options->logs, "Log files with a column state (CSV, plain, gzip or zstd)",
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
  verb->add_option("--prior", options->calibration.prior,
                   "Imaginary observations added to every entry")
      ->capture_default_str();
  auto* const same = verb->add_flag(
      "--same-for-all-actions", options->calibration.same_for_all_actions,
      "The sensors do not depend on the action; right if actions were chosen from readings");
  verb->add_flag("--differ-by-action", options->calibration.differ_by_action,
                 "I confirm: sensors depend on the action, and no action was chosen from the "
                 "observation of its own row")
      ->excludes(same);
  verb->add_option("--confidence", options->calibration.confidence,
                   "Confidence level of the intervals")
      ->capture_default_str();
  add_log_options(*verb, false, options->rows);
  add_seed(*verb, options->calibration.seed, "Seed for the intervals of alpha");
  add_lenient_flag(*verb, options->common);
  add_output(*verb, "-o,--output", options->output, "Model to write, with its calibration: .json",
             options->common);
}

}  // namespace oas::cli
