#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "cli.hpp"
#include "command_files.hpp"
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

struct CalibrateArguments {
  Common common;
  std::string model;
  std::string timing;
  std::vector<std::string> logs;
  CalibrationOptions calibration;
  DensityCalibrationOptions densities;
  std::string family;  // empty: not given
  std::string unread;  // states, "dead+sold"
  std::string figure;
  std::vector<Setting> rows;
  std::string output;
};

// Sensors of more numbers than this in a row are left to the file.
constexpr int kMostColumns = 8;

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

// The sensor of first readings, where it was found by itself.
std::string first_text(const Pomdp& model, const Calibration& calibration) {
  const auto width = static_cast<std::size_t>(model.num_observations());
  std::vector<std::string> header = {"state", "rows"};
  for (int o = 0; o < model.num_observations(); ++o) header.push_back(model.observations()[o]);
  Table table(std::move(header));
  for (State s{0}; s < model.num_states(); ++s) {
    const auto counts =
        std::span(calibration.counts.first).subspan(static_cast<std::size_t>(s) * width, width);
    const std::int64_t rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    std::vector<std::string> row = {model.states()[s], big_number(static_cast<double>(rows))};
    for (const double p : calibration.first_observation->distribution(Action{0}, s)) {
      row.push_back(fmt::format("{:.3f}", p));
    }
    table.add(std::move(row));
  }
  return "\nfirst readings of runs\n" + table.text();
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
  if (calibration.first_observation) text += first_text(model, calibration);
  return text + fmt::format("\n[lower, upper] hold for a whole row at once, at {:.0f} %\n",
                            100.0 * calibration.confidence);
}

std::string unused_text(const LabelledTally& tally, const Pomdp& model) {
  if (tally.unused == 0) return {};
  return fmt::format("{} could not be used ({})\n", counted(tally.unused, "row"),
                     unused_rows_text(tally, model.timing(), model.rows()));
}

// Whether names that were found in a log are numbers with decimals, as no names would be.
bool look_like_readings(const Labels& observations) {
  if (!observations.has_names()) return false;
  bool decimals = false;
  for (int o = 0; o < observations.size(); ++o) {
    const std::string& name = observations[o];
    double value = 0.0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) return false;
    decimals = decimals || name.find('.') != std::string::npos;
  }
  return decimals;
}

void calibrate_finite(const CalibrateArguments& options) {
  OAS_REQUIRE(options.figure.empty(),
              "--figure: shows densities of real-valued readings; observations here are finite "
              "(--family says that they are numbers)");
  OAS_REQUIRE(!options.densities.by_action,
              "--by-action: for densities of real-valued readings; finite sensors are by action "
              "unless --same-for-all-actions is given");
  OAS_REQUIRE(
      options.unread.empty(),
      "--unread: for densities of real-valued readings; a finite sensor needs labelled rows "
      "of every state, or --prior");
  refuse_options(options.common, {"--draws"}, "random densities are of real-valued readings");
  options.calibration.validate();
  const Pomdp model = skeleton(options);
  if (options.model.empty() && look_like_readings(model.observations())) {
    warn(options.common,
         "all observations are numbers, and each different one is taken as an observation of its "
         "own; --family auto fits densities to them");
  }
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
  text += unused_text(counts.tally, model);
  if (calibration.dependence.degrees > 0.0) {
    text += fmt::format("observations against actions, in the same state: p = {:.2g}\n",
                        calibration.dependence.p_value);
  }
  if (model.num_observations() <= kMostColumns) text += sensors_text(model, calibration);
  if (!options.output.empty()) text += fmt::format("{}: written\n", options.output);
  print(options.common, text);
}

std::string score_text(const FamilyScore& score) {
  if (!score.left_out.empty()) return fmt::format("left out: {}", score.left_out);
  const std::string held = std::isfinite(score.score) ? fmt::format("{:.4f}", score.score) : "?";
  if (!(score.behind > 0.0)) return held;
  return fmt::format("{} (behind the best by {:.4f} ± {:.4f})", held, score.behind, score.error);
}

// Which family was chosen for each component, and why.
std::string scores_text(const DensityCalibration& calibration) {
  std::string text;
  const std::vector<std::string>& columns = calibration.readings.columns;
  for (std::size_t i = 0; i < calibration.scores.size(); ++i) {
    const bool whole =
        calibration.scores.size() != columns.size() && i + 1 == calibration.scores.size();
    text += fmt::format("\n{}: mean log-density of held-out readings\n",
                        whole ? fmt::format("{} together", fmt::join(columns, ", ")) : columns[i]);
    for (const FamilyScore& score : calibration.scores[i]) {
      text += fmt::format("  {} {:<22}  {}\n", score.chosen ? "*" : " ", score.family,
                          score_text(score));
    }
  }
  return text + "* is taken\n";
}

// Mean and standard deviation by the middle of the density, whatever its family.
std::string densities_text(const Pomdp& model, const DensityCalibration& calibration) {
  std::string text;
  const LabelledReadings& readings = calibration.readings;
  const auto add = [&](const std::string& title, const DensitySensors& sensors, Action a,
                       std::span<const ReadingGroup> groups) {
    std::vector<std::string> header = {"state", "rows"};
    for (const std::string& column : readings.columns) {
      header.push_back(fmt::format("{}: 5 %, median, 95 %", column));
    }
    Table table(std::move(header));
    for (State s{0}; s < readings.num_states; ++s) {
      const std::size_t rows = groups[static_cast<std::size_t>(s)].size();
      std::vector<std::string> row = {model.states()[s], big_number(static_cast<double>(rows))};
      for (const Density& density : sensors(a, s).marginals()) {
        row.push_back(fmt::format("{:.4g}  {:.4g}  {:.4g}", density.quantile(0.05),
                                  density.quantile(0.5), density.quantile(0.95)));
      }
      table.add(std::move(row));
    }
    text += fmt::format("\n{}\n{}", title, table.text());
  };
  const auto states = static_cast<std::size_t>(readings.num_states);
  for (Action a{0}; a < readings.num_actions; ++a) {
    add(calibration.by_action ? model.actions()[a] : "all actions", calibration.sensors, a,
        std::span(readings.groups).subspan(static_cast<std::size_t>(a) * states, states));
  }
  if (calibration.first_density) {
    add("first readings of runs", *calibration.first_density, Action{0}, readings.first);
  }
  return text;
}

void require_finite_options_unused(const CalibrateArguments& options) {
  OAS_REQUIRE(options.calibration.prior == 0.0, "--prior: for finite observations");
  OAS_REQUIRE(!options.calibration.same_for_all_actions,
              "--same-for-all-actions: densities are, unless --by-action is given");
  OAS_REQUIRE(!options.calibration.differ_by_action,
              "--differ-by-action: for finite observations; densities take --by-action");
}

void calibrate_readings(const CalibrateArguments& options, const Pomdp* chain) {
  require_finite_options_unused(options);
  DensityCalibrationOptions how = options.densities;
  if (!options.family.empty()) how.family = options.family;
  how.confidence = options.calibration.confidence;
  how.seed = options.calibration.seed;
  how.validate();
  const LogOptions rows = log_options(options.rows);
  const DensitySkeleton skeleton =
      density_skeleton(options.model, chain, options.logs, given_timing(options), rows);
  Progress progress(options.common, "rows", 0);
  LabelledReadings readings = read_labelled(
      skeleton, options.logs, options.common.parallelism(),
      [&](std::int64_t done) { progress.add(done); }, rows);
  if (!options.unread.empty()) {
    const Labels& states = skeleton.chain.states();
    readings.borrow_for(elements_named(options.unread, states, "state", "--unread"), states);
  }
  const DensityCalibration calibration =
      calibrate_densities(readings, skeleton.chain, how, options.common.parallelism());
  const nlohmann::ordered_json document = calibration_to_json(skeleton, calibration);
  if (!options.output.empty()) write_text_file(options.output, dump_json(document));
  if (!options.figure.empty()) {
    write_figure(options.figure, calibration_figure_svg(skeleton.chain, calibration));
  }
  for (const std::string& warning : calibration.warnings) warn(options.common, warning);
  if (options.common.json) print_json(options.common, document["calibration"]);
  std::string text = calibration.brief() + "\n" + unused_text(readings.tally, skeleton.chain);
  if (calibration.dependence.degrees > 0.0) {
    text += fmt::format("readings against actions, in the same state: p = {:.2g}\n",
                        calibration.dependence.p_value);
  }
  text += scores_text(calibration) + densities_text(skeleton.chain, calibration);
  for (const std::string& file : {options.output, options.figure}) {
    if (!file.empty()) text += fmt::format("{}: written\n", file);
  }
  print(options.common, text);
}

void run_calibrate(const CalibrateArguments& options) {
  if (!options.output.empty()) {
    OAS_REQUIRE(is_json_output(options.output),
                "{}: counts and intervals need a .json file; oas convert makes other formats of it",
                options.output);
  }
  OAS_REQUIRE(options.figure.empty() || options.figure.ends_with(".svg") ||
                  options.figure.ends_with(".png"),
              "--figure {}: figures are written as .svg or .png", options.figure);
  check_different(options.logs);
  const bool is_file = options.model.empty() || std::filesystem::exists(options.model);
  if (!is_file && !options.family.empty()) {
    const AnyModel model = load_any_model(options.model, options.common);
    return calibrate_readings(options, &chain_of(model));
  }
  if (!options.family.empty() ||
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
  verb->add_option(
      "--family", options->family,
      "Readings are numbers; fit densities of this family: auto (the default where "
      "the model or the columns say that they are numbers), normal, log-normal, "
      "gamma, poisson, mixture, kernel, one for each component (normal+gamma), joint-normal");
  verb->add_option("--unread", options->unread,
                   "Readings are numbers; states in which nothing is ever read, dead+sold, and "
                   "which have no labelled readings: their density is that of all readings");
  add_fields(*verb, options->densities, {"by_action", "draws"});
  add_output(*verb, "--figure", options->figure,
             "Draw the labelled readings and the densities: .svg or .png", options->common);
  add_log_options(*verb, false, options->rows, options->common);
  add_lenient_flag(*verb, options->common);
  add_output(*verb, "-o,--output", options->output, "Model to write, with its calibration: .json",
             options->common);
}

}  // namespace oas::cli
