#include "oas/jobs/log_calibration.hpp"

#include <charconv>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/core/version.hpp"
#include "oas/formats/model_file.hpp"
#include "oas/logs/log_files.hpp"
#include "oas/logs/log_labels.hpp"
#include "oas/model/model_json.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

ObservationModel uniform_sensors(int states, int actions, int observations) {
  const auto size = static_cast<std::size_t>(states) * static_cast<std::size_t>(actions) *
                    static_cast<std::size_t>(observations);
  return {states, actions, observations, std::vector<double>(size, 1.0 / observations)};
}

long size_of(const JsonView& view) {
  return view.is_array() ? static_cast<long>(view.size()) : view.as_integer();
}

Pomdp read_skeleton(const std::string& path) {
  if (!path.ends_with(".json")) return read_any_model(path).model;
  const std::string text = read_text_file(path);
  Json document = parse_json(text, path);
  const JsonView root(document, path);
  if (!document.is_object() || root.has("observation")) return parse_model(text, path);
  const long states = size_of(root.at("states"));
  const long actions = size_of(root.at("actions"));
  const long observations = size_of(root.at("observations"));
  if (states < 1 || actions < 1 || observations < 1) {
    root.fail(fmt::format("{} states, {} actions and {} observations cannot be", states, actions,
                          observations));
  }
  check_calibrated_size(static_cast<double>(states), static_cast<double>(actions),
                        static_cast<double>(observations));
  const Json row(static_cast<std::size_t>(observations), 1.0 / static_cast<double>(observations));
  const Json matrix(static_cast<std::size_t>(states), row);
  document["observation"] = Json(static_cast<std::size_t>(actions), matrix);
  return parse_model(document.dump(), path);
}

Json table3(const auto& values, const SensorCounts& counts) {
  Json table = Json::array();
  std::size_t index = 0;
  for (int a = 0; a < counts.num_actions; ++a) {
    Json matrix = Json::array();
    for (int s = 0; s < counts.num_states; ++s) {
      Json row = Json::array();
      for (int o = 0; o < counts.num_observations; ++o) row.push_back(values[index++]);
      matrix.push_back(std::move(row));
    }
    table.push_back(std::move(matrix));
  }
  return table;
}

}  // namespace

Pomdp calibration_skeleton(const std::string& path, std::span<const std::string> logs,
                           std::optional<Timing> timing, const LogOptions& options) {
  if (!path.empty()) {
    PomdpParts parts = read_skeleton(path).parts();
    OAS_REQUIRE(timing.value_or(parts.timing) == parts.timing, "{}: has timing {}, not {}", path,
                to_string(parts.timing), to_string(*timing));
    if (!options.rows.empty()) parts.rows = parse_rows(options.rows);
    return Pomdp(std::move(parts));
  }
  const LogLabels labels = scan_log_labels(logs, options);
  PomdpParts parts = named_parts(labels, timing);
  parts.observations = labels.observations;
  parts.sensors =
      uniform_sensors(labels.states.size(), labels.actions.size(), labels.observations.size());
  return Pomdp(std::move(parts));
}

SensorCounts count_labelled_rows(const Pomdp& model, std::span<const std::string> paths,
                                 Parallelism parallelism, const RowsRead& progress,
                                 const LogOptions& options) {
  OAS_REQUIRE(!paths.empty(), "no log to calibrate from");
  const std::vector<OneLog> logs = logs_of(paths, options);
  std::vector<SensorCounts> parts(logs.size());
  std::mutex progress_mutex;
  parallel_for(logs.size(), parallelism, [&](std::size_t i) {
    LogReader reader(logs[i], model, options);
    reader.set_rows(LogRows::as_written);
    if (!reader.has_state()) {
      throw ParseError(reader.name(), reader.line(), 0,
                       "column 'state' is missing: sensors are calibrated on rows whose state is "
                       "known");
    }
    SensorCounter counter(model);
    for (LogBlock block; reader.read_block(block, kLogBlockRows);) {
      std::size_t first = 0;
      by_runs(
          block.view(), [&] { counter.start_run(); },
          [&](const RowBlock& rows) {
            counter.add(block.rows, first, rows.size());
            first += rows.size();
          });
      const std::lock_guard lock(progress_mutex);
      if (progress) progress(static_cast<std::int64_t>(block.rows.size()));
    }
    parts[i] = counter.finish();
  });
  SensorCounts counts = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) counts.add(parts[i]);
  OAS_REQUIRE(counts.tally.unused < counts.tally.rows, "{}: no row to calibrate from. Rows: {}; {}",
              fmt::join(paths, ", "), counts.tally.rows,
              unused_rows_text(counts.tally, model.timing(), model.rows()));
  return counts;
}

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

Json calibration_to_json(const Pomdp& skeleton, const Calibration& calibration) {
  PomdpParts parts = skeleton.parts();
  const SensorCounts& counts = calibration.counts;
  // What was taken from sensors that are not used is not what was said of first readings.
  if (skeleton.first_is_common()) parts.first_observation = calibration.first_observation;
  parts.sensors = calibration.sensors;
  // Counts that were pooled stand there once for every action, and must count once.
  const std::size_t tables = calibration.same_for_all_actions ? counts.num_actions : 1;
  const auto end =
      counts.values.begin() + static_cast<std::ptrdiff_t>(counts.values.size() / tables);
  parts.observation_counts = ObservationCounts(
      counts.num_states, counts.num_actions, counts.num_observations, {counts.values.begin(), end});
  Json document = model_to_json(Pomdp(std::move(parts)));
  Json about;
  about["version"] = version();
  about["same_for_all_actions"] = calibration.same_for_all_actions;
  about["rows"] = counts.tally.rows;
  about["runs"] = counts.tally.runs;
  about["unused_rows"] = counts.tally.unused;
  about["confidence"] = calibration.confidence;
  about["suffices"] = calibration.suffices();
  for (const AlphaInterval& alpha : calibration.alpha) {
    about["alpha"].push_back(alpha.value);
    about["alpha_lower"].push_back(alpha.lower);
    about["alpha_upper"].push_back(alpha.upper);
  }
  if (calibration.dependence.degrees > 0.0) {
    about["action_dependence"] = {{"chi_square", calibration.dependence.statistic},
                                  {"degrees", calibration.dependence.degrees},
                                  {"p_value", calibration.dependence.p_value}};
  }
  about["unseen"] = Json::array();
  for (const auto& [action, state] : calibration.unseen) {
    about["unseen"].push_back({skeleton.actions()[action], skeleton.states()[state]});
  }
  about["counts"] = table3(counts.values, counts);
  if (!counts.first.empty()) {
    const SensorCounts one_action(counts.num_states, 1, counts.num_observations);
    about["first_counts"] = table3(counts.first, one_action).front();
  }
  about["lower"] = table3(calibration.lower, counts);
  about["upper"] = table3(calibration.upper, counts);
  about["warnings"] = calibration.warnings;
  document["calibration"] = std::move(about);
  return document;
}

}  // namespace oas
