#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "calibrate.hpp"
#include "calibration_report.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/figures/figure_file.hpp"
#include "oas/jobs/log_calibration.hpp"
#include "oas/jobs/log_densities.hpp"
#include "oas/model/label_lookup.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

std::optional<Timing> given_timing(const CalibrateArguments& options) {
  if (options.timing.empty()) return {};
  return options.timing == to_string(Timing::before) ? Timing::before : Timing::after;
}

Pomdp skeleton(const CalibrateArguments& options) {
  const std::optional<Timing> timing = given_timing(options);
  if (!options.model.empty() && !std::filesystem::exists(options.model)) {
    Pomdp model = load_model(options.model, options.common);
    OAS_REQUIRE(timing.value_or(model.timing()) == model.timing(), "{}: has timing {}, not {}",
                options.model, to_string(model.timing()), options.timing);
    const std::string rows = log_options(options.rows).rows;
    return rows.empty() ? model : model.with_rows(parse_rows(rows));
  }
  return calibration_skeleton(options.model, options.logs, timing, log_options(options.rows));
}

// Writes the files, warns and prints.
void show(const CalibrateArguments& options, const nlohmann::ordered_json& document,
          const std::vector<std::string>& warnings, std::string text) {
  if (!options.output.empty()) write_text_file(options.output, dump_json(document));
  for (const std::string& warning : warnings) warn(options.common, warning);
  if (options.common.json) print_json(options.common, document["calibration"]);
  for (const std::string& file : {options.output, options.figure}) {
    if (!file.empty()) text += fmt::format("{}: written\n", file);
  }
  print(options.common, text);
}

}  // namespace

void calibrate_finite(const CalibrateArguments& options) {
  const Common& common = options.common;
  refuse_options(common, {"--figure"},
                 "shows densities of real-valued readings; observations here are finite (--family "
                 "says that they are numbers)");
  refuse_options(common, {"--by-action"},
                 "for densities of real-valued readings; finite sensors are by action unless "
                 "--same-for-all-actions is given");
  refuse_options(common, {"--unread"},
                 "for densities of real-valued readings; a finite sensor needs labelled rows of "
                 "every state, or --prior");
  refuse_options(common, {"--draws"}, "random densities are of real-valued readings");
  options.calibration.validate();
  const Pomdp model = skeleton(options);
  if (options.model.empty() && look_like_readings(model.observations())) {
    warn(common,
         "all observations are numbers, and each different one is taken as an observation of its "
         "own; --family auto fits densities to them");
  }
  Progress progress(common, "rows", 0);
  const SensorCounts counts = count_labelled_rows(
      model, options.logs, common.parallelism(), [&](std::int64_t rows) { progress.add(rows); },
      log_options(options.rows));
  const Calibration calibration = calibrate(counts, model, options.calibration);
  show(options, calibration_to_json(model, calibration), calibration.warnings,
       calibration_text(model, counts, calibration));
}

void calibrate_readings(const CalibrateArguments& options, const Pomdp* chain) {
  const Common& common = options.common;
  refuse_options(common, {"--prior"}, "for finite observations");
  refuse_options(common, {"--same-for-all-actions"}, "densities are, unless --by-action is given");
  refuse_options(common, {"--differ-by-action"},
                 "for finite observations; densities take --by-action");
  DensityCalibrationOptions how = options.densities;
  how.confidence = options.calibration.confidence;
  how.seed = options.calibration.seed;
  how.validate();
  const LogOptions rows = log_options(options.rows);
  const DensitySkeleton skeleton =
      density_skeleton(options.model, chain, options.logs, given_timing(options), rows);
  Progress progress(common, "rows", 0);
  LabelledReadings readings = read_labelled(
      skeleton, options.logs, common.parallelism(), [&](std::int64_t done) { progress.add(done); },
      rows);
  if (!options.unread.empty()) {
    const Labels& states = skeleton.chain.states();
    readings.borrow_for(elements_named(options.unread, states, "state", "--unread"), states);
  }
  const DensityCalibration calibration =
      calibrate_densities(readings, skeleton.chain, how, common.parallelism());
  if (!options.figure.empty()) {
    write_figure(options.figure, calibration_figure_svg(skeleton.chain, calibration));
  }
  show(options, calibration_to_json(skeleton, calibration), calibration.warnings,
       calibration_text(skeleton.chain, calibration));
}

}  // namespace oas::cli
