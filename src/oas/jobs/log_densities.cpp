#include "oas/jobs/log_densities.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/core/version.hpp"
#include "oas/logs/log_files.hpp"
#include "oas/logs/log_labels.hpp"
#include "oas/model/continuous_json.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

// A reading that waits for its state.
struct SeenReading {
  std::vector<double> values;
  ReadingPlace place;
};

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Pomdp chain_of_file(const std::string& path) {
  const std::string text = read_text_file(path);
  Json document = parse_json(text, path);
  if (!document.is_object()) JsonView(document, path).fail("expected an object");
  for (const char* key : {"observation", "observations", "observation_counts", "density",
                          "first_density", "density_draws", "estimate", "calibration", "cells"}) {
    document.erase(key);
  }
  return parse_continuous_model(document.dump(), path).chain();
}

// What a model file says of first readings by themselves.
std::optional<DensitySensors> first_of_file(const std::string& path) {
  const std::string text = read_text_file(path);
  if (!parse_json(text, path).contains("first_density")) return {};
  const ContinuousPomdp model = parse_continuous_model(text, path);
  return model.first_is_common() ? std::nullopt : model.first_density();
}

// The dimension that a model file names, if it does.
std::optional<int> dimension_of_file(const std::string& path) {
  const Json document = parse_json(read_text_file(path), path);
  const JsonView root(document, path);
  if (!root.has("observations") || !root.at("observations").json().is_object()) return {};
  return static_cast<int>(root.at("observations").at("dimension").as_integer());
}

bool learns_first(const DensitySkeleton& skeleton) {
  return skeleton.chain.reading_first() && !skeleton.first_density;
}

LabelledReadings read_one(const DensitySkeleton& skeleton, const OneLog& log,
                          const RowsRead& progress, const LogOptions& options) {
  LogReader reader(log, skeleton.chain, skeleton.dimension, options);
  reader.set_rows(LogRows::as_written);
  if (!reader.has_state()) {
    throw ParseError(reader.name(), reader.line(), 0,
                     "column 'state' is missing: sensors are calibrated on rows whose state is "
                     "known");
  }
  OAS_REQUIRE(!reader.has_likelihood(),
              "{}: contains likelihoods, but densities are fitted to observations", log.name());
  const auto d = static_cast<std::size_t>(skeleton.dimension);
  LabelledReadings result(skeleton.chain.num_states(), skeleton.chain.num_actions(),
                          skeleton.dimension);
  if (learns_first(skeleton)) result.first.resize(static_cast<std::size_t>(result.num_states));
  LabelledRows<SeenReading> rows(skeleton.chain.timing(), skeleton.chain.rows());
  std::int64_t known_first = 0;
  const auto use = [&](Action action, State state, SeenReading seen) {
    if (action < 0 && result.first.empty()) {
      ++known_first;
      return;
    }
    ReadingGroup& group =
        action < 0 ? result.first[static_cast<std::size_t>(state)] : result.at(action, state);
    group.values.insert(group.values.end(), seen.values.begin(), seen.values.end());
    group.places.push_back(seen.place);
  };
  for (LogBlock block; reader.read_block(block, kLogBlockRows);) {
    std::size_t run = 0;
    for (std::size_t t = 0; t < block.rows.size(); ++t) {
      if (run < block.run_starts.size() && block.run_starts[run] == t) {
        rows.start_run();
        ++run;
      }
      std::optional<SeenReading> seen;
      if (block.rows.observations[t] != kMissing) {
        const auto first = block.readings.begin() + static_cast<std::ptrdiff_t>(t * d);
        seen = SeenReading{{first, first + static_cast<std::ptrdiff_t>(d)},
                           {reader.file_of(t), reader.line_of(t)}};
      }
      rows.add(block.rows.actions[t], block.rows.states[t], std::move(seen), use);
    }
    if (progress) progress(static_cast<std::int64_t>(block.rows.size()));
  }
  result.tally = rows.finish();
  result.tally.unused += known_first;
  result.tally.known_first = known_first;
  return result;
}

Json score_to_json(const FamilyScore& score) {
  Json json = {{"family", score.family}, {"chosen", score.chosen}};
  if (score.left_out.empty()) {
    json["held_out"] = number_or_null(score.score);
    json["behind"] = number_or_null(score.behind);
    json["standard_error"] = number_or_null(score.error);
  } else {
    json["left_out"] = score.left_out;
  }
  return json;
}

}  // namespace

bool asks_for_densities(const std::string& path, std::span<const std::string> logs,
                        const LogOptions& options) {
  if (path.empty()) {
    // What cannot be read twice is left to those who say so.
    return !logs.empty() && std::filesystem::is_regular_file(logs.front()) &&
           reading_columns(logs.front(), options).size() > 1;
  }
  if (!path.ends_with(".json")) return false;
  const Json document = parse_json(read_text_file(path), path);
  const bool none = !document.contains("observations") || document["observations"].is_object();
  return document.is_object() && !document.contains("observation") &&
         (document.contains("density") || none);
}

DensitySkeleton density_skeleton(const std::string& path, const Pomdp* chain,
                                 std::span<const std::string> logs, std::optional<Timing> timing,
                                 const LogOptions& options) {
  const std::vector<LogField> columns = reading_columns(logs.front(), options);
  OAS_REQUIRE(!columns.empty(), "{}: there is no column of observations", logs.front());
  const auto dimension = static_cast<int>(columns.size());
  const auto check_timing = [&](const Pomdp& model) {
    OAS_REQUIRE(timing.value_or(model.timing()) == model.timing(), "{}: has timing {}, not {}",
                path, to_string(model.timing()), to_string(*timing));
  };
  const auto as_read = [&](const Pomdp& model) {
    return options.rows.empty() ? model : model.with_rows(parse_rows(options.rows));
  };
  if (chain != nullptr) {
    check_timing(*chain);
    return {as_read(*chain), dimension};
  }
  if (!path.empty()) {
    const Pomdp model = chain_of_file(path);
    check_timing(model);
    const std::optional<int> expected = dimension_of_file(path);
    OAS_REQUIRE(expected.value_or(dimension) == dimension,
                "{}: observations have dimension {}, but {} has {} column{} of them", path,
                *expected, logs.front(), dimension, dimension == 1 ? "" : "s");
    const Pomdp read = as_read(model);
    return {read, dimension, read.reading_first() ? first_of_file(path) : std::nullopt};
  }
  const LogLabels labels = scan_log_labels(logs, options, dimension);
  PomdpParts parts = named_parts(labels, timing);
  OAS_REQUIRE(labels.states.size() > 1,
              "{}: all labels are of one state, '{}'; a model with the names of all states "
              "(--model) says what the others are",
              fmt::join(logs, ", "), labels.states[0]);
  parts.observations = Labels(1, "observation");
  const auto size = static_cast<std::size_t>(labels.states.size() * labels.actions.size());
  parts.sensors = ObservationModel(labels.states.size(), labels.actions.size(), 1,
                                   std::vector<double>(size, 1.0));
  return {Pomdp(std::move(parts)), dimension};
}

LabelledReadings read_labelled(const DensitySkeleton& skeleton, std::span<const std::string> paths,
                               Parallelism parallelism, const RowsRead& progress,
                               const LogOptions& options) {
  OAS_REQUIRE(!paths.empty(), "no log to calibrate from");
  const std::vector<OneLog> logs = logs_of(paths, options);
  std::mutex progress_mutex;
  const RowsRead report = [&](std::int64_t rows) {
    const std::lock_guard lock(progress_mutex);
    if (progress) progress(rows);
  };
  std::vector<std::optional<LabelledReadings>> parts(logs.size());
  parallel_for(logs.size(), parallelism,
               [&](std::size_t i) { parts[i] = read_one(skeleton, logs[i], report, options); });
  LabelledReadings readings(skeleton.chain.num_states(), skeleton.chain.num_actions(),
                            skeleton.dimension);
  readings.first.resize(parts.front()->first.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    readings.add(*parts[i], readings.files.size());
    const std::vector<std::string>& files = logs[i].files();
    readings.files.insert(readings.files.end(), files.begin(), files.end());
  }
  for (const LogField& column : reading_columns(paths.front(), options)) {
    readings.columns.push_back(column.name);
    readings.fields.push_back(column.field);
  }
  const LabelledTally& tally = readings.tally;
  OAS_REQUIRE(tally.unused < tally.rows, "{}: no row to calibrate from. Rows: {}; {}",
              fmt::join(paths, ", "), tally.rows,
              unused_rows_text(tally, skeleton.chain.timing(), skeleton.chain.rows()));
  return readings;
}

ContinuousPomdp calibrated_model(const DensitySkeleton& skeleton,
                                 const DensityCalibration& calibration) {
  const LabelledTally& tally = calibration.readings.tally;
  return ContinuousPomdp(
      skeleton.chain, calibration.sensors,
      skeleton.first_density ? skeleton.first_density : calibration.first_density,
      {static_cast<double>(tally.rows - tally.unused), calibration.draws});
}

Json calibration_to_json(const DensitySkeleton& skeleton, const DensityCalibration& calibration) {
  Json document = model_to_json(calibrated_model(skeleton, calibration));
  const LabelledReadings& readings = calibration.readings;
  Json about;
  about["version"] = version();
  about["same_for_all_actions"] = !calibration.by_action;
  about["rows"] = readings.tally.rows;
  about["runs"] = readings.tally.runs;
  about["unused_rows"] = readings.tally.unused;
  about["columns"] = readings.columns;
  about["families"] = calibration.families;
  about["confidence"] = calibration.confidence;
  for (const AlphaInterval& alpha : calibration.alpha) {
    about["alpha"].push_back(alpha.value);
    about["alpha_lower"].push_back(alpha.lower);
    about["alpha_upper"].push_back(alpha.upper);
  }
  if (calibration.dependence.degrees > 0.0) {
    about["action_dependence"] = {{"kruskal_wallis", calibration.dependence.statistic},
                                  {"degrees", calibration.dependence.degrees},
                                  {"p_value", calibration.dependence.p_value}};
  }
  for (Action a{0}; a < readings.num_actions; ++a) {
    Json row = Json::array();
    for (State s{0}; s < readings.num_states; ++s) row.push_back(readings.at(a, s).size());
    about["readings"].push_back(std::move(row));
  }
  for (const ReadingGroup& group : readings.first) about["first_readings"].push_back(group.size());
  for (const auto& list : calibration.scores) {
    Json scores = Json::array();
    for (const FamilyScore& score : list) scores.push_back(score_to_json(score));
    about["scores"].push_back(std::move(scores));
  }
  about["warnings"] = calibration.warnings;
  document["calibration"] = std::move(about);
  return document;
}

}  // namespace oas
