#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "command_files.hpp"
#include "discretise_report.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/jobs/log_cells.hpp"
#include "oas/logs/log_files.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/sensors/cell_search.hpp"
#include "oas/sensors/revealing.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

struct DiscretiseArguments {
  Common common;
  std::string model;
  std::vector<Setting> settings;
  std::string use;
  std::vector<std::string> logs;
  std::vector<Setting> rows;
  std::string log_output;
  std::string output;
};

// What is known of the transitions of an estimate goes with them; null for a plain model.
Json estimate_beside(const std::string& file) {
  const Json document = parse_json(read_text_file(file), file);
  return document.contains("estimate") ? document["estimate"] : Json();
}

ContinuousPomdp load_continuous(const DiscretiseArguments& options) {
  const AnyModel model = load_row_model(options.model, options.rows, options.common);
  const auto* continuous = std::get_if<ContinuousPomdp>(&model);
  OAS_REQUIRE(continuous != nullptr, "{}: the observations of this model are finite already",
              options.model);
  OAS_REQUIRE(continuous->has_sensors(), "{}: has no densities to make cells from", options.model);
  return *continuous;
}

Cells choose_cells(const DiscretiseArguments& options, const ContinuousPomdp& model) {
  if (!options.use.empty()) {
    OAS_REQUIRE(options.settings.empty(), "{}: nothing is searched for, {} has the split points",
                options.settings.front().name, options.use);
    return parse_cells(read_text_file(options.use), options.use);
  }
  const auto search = options_from<CellSearchOptions>(options.settings, "the search for cells");
  Progress progress(options.common, "sets of split points", 0);
  return find_cells(model.sensors(), search, [&] { progress.add(1); }).cells;
}

Pomdp make_finite(const DiscretiseArguments& options, const ContinuousPomdp& model,
                  const Cells& cells) {
  Progress progress(options.common, "sensors in cells",
                    model.sensors().num_actions() * model.sensors().num_states());
  return discretise(model, cells, [&] { progress.add(1); });
}

void write_model_and_cells(const DiscretiseArguments& options, const ContinuousPomdp& model,
                           const Pomdp& finite, const Cells& cells) {
  const Json document = while_shown(options.common, "draws of the sensors in cells", [&] {
    return discretised_document(model, finite, cells, estimate_beside(options.model),
                                options.common.parallelism());
  });
  write_text_file(options.output, dump_json(document));
}

std::int64_t write_log(const DiscretiseArguments& options, const ContinuousPomdp& model,
                       const Pomdp& finite, const Cells& cells) {
  Progress progress(options.common, "rows", 0);
  return discretise_log(
      model, finite, cells, one_log_of(options.logs, log_options(options.rows)), options.log_output,
      [&](std::int64_t rows) { progress.add(rows); }, log_options(options.rows));
}

void run_discretise(const DiscretiseArguments& options) {
  OAS_REQUIRE(options.logs.empty() == options.log_output.empty(),
              "--log and --log-out go together: one names the log to read, the other the one to "
              "write");
  OAS_REQUIRE(options.logs.empty() <= options.rows.empty(),
              "{}: says how a log is read, but no log is given", options.rows.front().name);
  OAS_REQUIRE(!options.output.empty() || !options.logs.empty(),
              "nothing to write: give -o FINITE.json, or --log LOG --log-out FILE");
  OAS_REQUIRE(options.output.empty() || is_json_output(options.output),
              "{}: the model must be a .json file, which keeps the split points", options.output);
  const ContinuousPomdp model = load_continuous(options);
  const bool calibrated = !model.density_draws().draws.empty() && !options.output.empty();
  const bool carried =
      calibrated && has_draws_under_densities(estimate_beside(options.model), model);
  if (calibrated && !carried) {
    warn(options.common,
         fmt::format("{}: its densities were calibrated on labelled rows; the cells take them as "
                     "exact, so that error bars of estimates with them are too small",
                     options.model));
  }
  const Cells cells = choose_cells(options, model);
  const Pomdp finite = make_finite(options, model, cells);
  const SensorReport sensors = analyse_sensors(finite.sensors());
  std::int64_t rows = 0;
  if (!options.logs.empty()) rows = write_log(options, model, finite, cells);
  if (!options.output.empty()) write_model_and_cells(options, model, finite, cells);
  if (options.common.json) {
    print_json(options.common, {{"cells", cells.num_cells()},
                                {"splits", cells.splits()},
                                {"alpha", sensors.alpha},
                                {"rows", rows}});
  }
  print(options.common,
        discretise_text({cells, sensors.alpha, carried, options.output, options.log_output, rows}));
}

}  // namespace

void add_discretise(CLI::App& app) {
  const auto options = std::make_shared<DiscretiseArguments>();
  CLI::App* verb = add_verb(app, "discretise",
                            "Turn the real-valued observations of a model and of logs into finite "
                            "ones",
                            options->common, [options] { run_discretise(*options); });
  add_model_argument(*verb, "MODEL", options->model, "Model file with densities", options->common);
  for (const SettingInfo& setting : describe_options<CellSearchOptions>()) {
    add_setting(*verb, setting, options->settings);
  }
  add_input(*verb, "--use", options->use,
            "Take the split points from this file, which an earlier call wrote", options->common);
  add_logs(*verb, "--log", options->logs,
           "Log with real-valued observations: a file, folder or pattern; may be given again",
           options->common)
      ->allow_extra_args(false);
  add_log_options(*verb, false, options->rows, options->common);
  add_output(*verb, "--log-out", options->log_output,
             "Log with cells to write; - is standard output", options->common);
  add_output(*verb, "-o,--output", options->output,
             "Model to write (.json), with exact cell probabilities and split points",
             options->common);
}

}  // namespace oas::cli
