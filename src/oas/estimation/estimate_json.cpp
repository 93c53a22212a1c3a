#include "oas/estimation/estimate_json.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/core/version.hpp"
#include "oas/estimation/detail/carried_draws.hpp"
#include "oas/estimation/detail/interval_checks.hpp"
#include "oas/model/continuous_json.hpp"
#include "oas/model/model_json.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

// NaN is no JSON; unknown values are null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json rows_of(const std::vector<double>& values, std::size_t start, int count) {
  Json row = Json::array();
  for (int i = 0; i < count; ++i)
    row.push_back(number(values[start + static_cast<std::size_t>(i)]));
  return row;
}

Json table2(const std::vector<double>& values, int rows, int columns) {
  Json table = Json::array();
  for (int r = 0; r < rows; ++r) {
    table.push_back(
        rows_of(values, static_cast<std::size_t>(r) * static_cast<std::size_t>(columns), columns));
  }
  return table;
}

Json table3(const std::vector<double>& values, int actions, int states) {
  Json table = Json::array();
  const auto block = static_cast<std::size_t>(states) * static_cast<std::size_t>(states);
  for (int a = 0; a < actions; ++a) {
    Json matrix = Json::array();
    for (int s = 0; s < states; ++s) {
      matrix.push_back(rows_of(values,
                               static_cast<std::size_t>(a) * block +
                                   static_cast<std::size_t>(s) * static_cast<std::size_t>(states),
                               states));
    }
    table.push_back(std::move(matrix));
  }
  return table;
}

// A list of tables, one after the other in `values`.
Json list_of(const std::vector<double>& values, std::size_t size, const auto& table) {
  Json list = Json::array();
  for (std::size_t first = 0; first < values.size(); first += size) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    list.push_back(table(std::vector(begin, begin + static_cast<std::ptrdiff_t>(size))));
  }
  return list;
}

Json flagged_rows(const Pomdp& model, const TransitionEstimate& estimate) {
  Json rows = Json::array();
  for (const FlaggedRow& row : estimate.flagged) {
    rows.push_back({{"action", model.actions()[row.action]},
                    {"state", model.states()[row.state]},
                    {"reason", row.reason}});
    if (!row.settled) rows.back()["settled"] = false;
  }
  return rows;
}

Json region_to_json(const ConfidenceRegion& region, int actions, int states) {
  Json json;
  json["factor"] = table2(region.factor, actions, states);
  json["l1"] = table2(region.l1, actions, states);
  json["lower"] = table3(region.lower, actions, states);
  json["upper"] = table3(region.upper, actions, states);
  return json;
}

// [a][s]: whether the row is determined by this estimator.
Json determined_rows(const Pomdp& model, const TransitionEstimate& estimate) {
  Json table(static_cast<std::size_t>(model.num_actions()),
             Json(static_cast<std::size_t>(model.num_states()), Json(true)));
  for (const FlaggedRow& row : estimate.flagged) {
    table[static_cast<std::size_t>(row.action)][static_cast<std::size_t>(row.state)] = false;
  }
  return table;
}

Json sensor_draws_to_json(const Pomdp& model, const std::vector<double>& draws) {
  const int s = model.num_states();
  const int o = model.num_observations();
  const std::size_t matrix = static_cast<std::size_t>(s) * static_cast<std::size_t>(o);
  const std::size_t all = static_cast<std::size_t>(model.num_actions()) * matrix;
  return list_of(draws, all, [&](const auto& draw) {
    return list_of(draw, matrix, [&](const auto& one) { return table2(one, s, o); });
  });
}

Json about_estimate(const Pomdp& model, const TransitionEstimate& estimate) {
  estimate.check_fits(model.num_states(), model.num_actions());
  const int s = model.num_states();
  const int a = model.num_actions();
  Json about;
  about["estimator"] = estimate.estimator;
  about["version"] = version();
  about["status"] = estimate.status == EstimateStatus::ok ? "ok" : "flagged";
  about["rows"] = estimate.rows;
  about["runs"] = estimate.runs;
  about["missing_observations"] = estimate.missing;
  if (estimate.log_likelihood) about["log_likelihood"] = *estimate.log_likelihood;
  if (estimate.passes > 0) about["passes"] = estimate.passes;
  if (estimate.fit_p_value) about["fit_p_value"] = number(*estimate.fit_p_value);
  if (estimate.effective_rows) about["effective_rows"] = *estimate.effective_rows;
  if (!estimate.unknown_start.empty()) about["unknown_start"] = estimate.unknown_start;
  if (estimate.labelled_rows) about["labelled_rows"] = *estimate.labelled_rows;
  if (!estimate.reward.empty()) {
    about["reward_standard_error"] = table2(estimate.reward_standard_error, a, s);
  }
  if (!estimate.structure.empty()) about["structure"] = estimate.structure;
  // Empty only in what was read from older files.
  if (!estimate.pairs.empty()) about["pairs"] = estimate.pairs;
  if (!estimate.alpha.empty()) about["alpha"] = estimate.alpha;
  if (!estimate.visits.empty()) about["visits"] = table2(estimate.visits, a, s);
  if (!estimate.clipped.empty()) about["clipped_share"] = table2(estimate.clipped, a, s);
  about["determined"] = determined_rows(model, estimate);
  about["flagged_rows"] = flagged_rows(model, estimate);
  about["warnings"] = estimate.warnings;
  if (!estimate.standard_error.empty()) {
    about["confidence"] = estimate.confidence;
    about["error_bars"] = estimate.error_bars;
    if (estimate.resamples > 0) about["resamples"] = estimate.resamples;
    if (estimate.num_batches > 0) about["batches"] = estimate.num_batches;
    about["standard_error"] = table3(estimate.standard_error, a, s);
    about["lower"] = table3(estimate.lower, a, s);
    about["upper"] = table3(estimate.upper, a, s);
    if (!estimate.row_region.factor.empty()) {
      about["simultaneous"] = {{"row", region_to_json(estimate.row_region, a, s)},
                               {"all", region_to_json(estimate.joint_region, a, s)}};
    }
    const auto rows = static_cast<std::size_t>(a) * static_cast<std::size_t>(s);
    if (!estimate.draws.empty()) {
      about["draws"] = list_of(estimate.draws, rows * static_cast<std::size_t>(s),
                               [&](const auto& draw) { return table3(draw, a, s); });
    }
    if (!estimate.reward_draws.empty()) {
      about["reward_draws"] = list_of(estimate.reward_draws, rows,
                                      [&](const auto& draw) { return table2(draw, a, s); });
    }
    if (!estimate.sensor_draws.empty()) {
      about["sensor_draws"] = sensor_draws_to_json(model, estimate.sensor_draws);
    }
  }
  return about;
}

// null is an unknown number.
double number_from(const JsonView& json) {
  return json.json().is_null() ? std::nan("") : json.as_double();
}

void require_size(const JsonView& json, int expected) {
  if (json.size() == static_cast<std::size_t>(expected)) return;
  json.fail(fmt::format("{} entries where {} are needed", json.size(), expected));
}

void append_numbers(const JsonView& json, std::span<const int> extents, std::vector<double>& out) {
  if (extents.empty()) {
    out.push_back(number_from(json));
    return;
  }
  require_size(json, extents.front());
  for (std::size_t i = 0; i < json.size(); ++i) {
    append_numbers(json.at(i), extents.subspan(1), out);
  }
}

// Reads what stands under the keys of an object, if it does: older files have fewer of them.
class AboutReader {
 public:
  AboutReader(const JsonView& about, const Pomdp& model)
      : about_(about),
        by_action_{model.num_actions()},
        by_row_{model.num_actions(), model.num_states()},
        by_entry_{model.num_actions(), model.num_states(), model.num_states()} {}

  void by_action(std::string_view key, std::vector<double>& out) { table(key, by_action_, out); }
  void by_row(std::string_view key, std::vector<double>& out) { table(key, by_row_, out); }
  void by_entry(std::string_view key, std::vector<double>& out) { table(key, by_entry_, out); }

  template <class T>
  void integer(std::string_view key, T& out) {
    if (!about_.has(key)) return;
    const long value = about_.at(key).as_integer();
    if (!std::in_range<T>(value)) about_.at(key).fail("too large");
    out = static_cast<T>(value);
  }
  void real(std::string_view key, std::optional<double>& out) {
    if (about_.has(key)) out = number_from(about_.at(key));
  }
  void text(std::string_view key, std::string& out) {
    if (about_.has(key)) out = about_.at(key).as_string();
  }

 private:
  void table(std::string_view key, std::span<const int> extents, std::vector<double>& out) {
    if (about_.has(key)) append_numbers(about_.at(key), extents, out);
  }

  JsonView about_;
  std::array<int, 1> by_action_;
  std::array<int, 2> by_row_;
  std::array<int, 3> by_entry_;
};

ConfidenceRegion region_from_json(const JsonView& json, const Pomdp& model) {
  ConfidenceRegion region;
  AboutReader read(json, model);
  for (const char* key : {"factor", "l1", "lower", "upper"}) static_cast<void>(json.at(key));
  read.by_row("factor", region.factor);
  read.by_row("l1", region.l1);
  read.by_entry("lower", region.lower);
  read.by_entry("upper", region.upper);
  detail::require_intervals(json, region.lower, region.upper);
  return region;
}

int index_from(const JsonView& json, const Labels& labels) {
  const std::string name = json.as_string();
  for (int i = 0; i < labels.size(); ++i) {
    if (labels[i] == name) return i;
  }
  json.fail(fmt::format("\"{}\" is not in the model", name));
}

std::vector<FlaggedRow> flagged_from_json(const JsonView& json, const Pomdp& model) {
  std::vector<FlaggedRow> rows;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const JsonView row = json.at(i);
    rows.push_back({Action{index_from(row.at("action"), model.actions())},
                    State{index_from(row.at("state"), model.states())},
                    row.at("reason").as_string(),
                    !row.has("settled") || row.at("settled").as_bool()});
  }
  return rows;
}

std::vector<std::int64_t> pairs_from_json(const JsonView& json, int actions) {
  require_size(json, actions);
  std::vector<std::int64_t> pairs;
  for (std::size_t a = 0; a < json.size(); ++a) pairs.push_back(json.at(a).as_integer());
  return pairs;
}

// Arrays of one shape, one after the other; `check` throws on one that cannot be.
std::vector<double> draws_from_json(const JsonView& json, std::span<const int> extents,
                                    const std::function<void(const std::vector<double>&)>& check) {
  std::vector<double> draws;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::vector<double> draw = json.at(i).as_array(extents);
    draws.insert(draws.end(), draw.begin(), draw.end());
    try {
      check(draw);
    } catch (const InvalidArgument& error) {
      json.at(i).fail(error.what());
    }
  }
  return draws;
}

void read_draws(const JsonView& about, const Pomdp& model, TransitionEstimate& estimate) {
  const int s = model.num_states();
  const int a = model.num_actions();
  const int o = model.num_observations();
  const std::size_t draws = about.has("draws") ? about.at("draws").size() : 0;
  if (about.has("draws")) {
    detail::require_few_draws(about.at("draws"));
    estimate.draws = draws_from_json(about.at("draws"), std::array{a, s, s},
                                     [&](const std::vector<double>& draw) {
                                       static_cast<void>(TransitionModel(s, a, draw, "draw"));
                                     });
  }
  if (about.has("reward_draws")) {
    const JsonView json = about.at("reward_draws");
    require_size(json, static_cast<int>(draws));
    estimate.reward_draws = draws_from_json(json, std::array{a, s}, [](const auto&) {});
  }
  if (about.has("sensor_draws")) {
    const JsonView json = about.at("sensor_draws");
    if (json.size() == 0 || draws % json.size() != 0) {
      json.fail(fmt::format("{} sensors for {} draws: each must be that of equally many",
                            json.size(), draws));
    }
    estimate.sensor_draws =
        draws_from_json(json, std::array{a, s, o}, [&](const std::vector<double>& draw) {
          static_cast<void>(ObservationModel(s, a, o, draw));
        });
  }
}

EstimateStatus status_from(const JsonView& json) {
  const std::string status = json.as_string();
  if (status == "ok") return EstimateStatus::ok;
  if (status != "flagged") json.fail("neither \"ok\" nor \"flagged\"");
  return EstimateStatus::flagged;
}

void read_error_bars(const JsonView& about, const Pomdp& model, TransitionEstimate& estimate) {
  AboutReader read(about, model);
  estimate.confidence = about.at("confidence").as_double();
  read.text("error_bars", estimate.error_bars);
  read.integer("resamples", estimate.resamples);
  read.integer("batches", estimate.num_batches);
  for (const char* key : {"standard_error", "lower", "upper"}) static_cast<void>(about.at(key));
  read.by_entry("standard_error", estimate.standard_error);
  read.by_entry("lower", estimate.lower);
  read.by_entry("upper", estimate.upper);
  detail::require_error_bars(about, estimate);
  read_draws(about, model, estimate);
  if (!about.has("simultaneous")) return;
  estimate.row_region = region_from_json(about.at("simultaneous").at("row"), model);
  estimate.joint_region = region_from_json(about.at("simultaneous").at("all"), model);
}

TransitionEstimate about_from_json(const JsonView& about, const Pomdp& model) {
  TransitionEstimate estimate;
  AboutReader read(about, model);
  estimate.estimator = about.at("estimator").as_string();
  if (about.has("status")) estimate.status = status_from(about.at("status"));
  estimate.transition = model.transition();
  read.integer("rows", estimate.rows);
  read.integer("runs", estimate.runs);
  read.integer("missing_observations", estimate.missing);
  read.real("log_likelihood", estimate.log_likelihood);
  read.integer("passes", estimate.passes);
  read.real("fit_p_value", estimate.fit_p_value);
  read.real("effective_rows", estimate.effective_rows);
  if (about.has("unknown_start")) {
    estimate.unknown_start = about.at("unknown_start").as_array(std::array{model.num_states()});
  }
  read.real("labelled_rows", estimate.labelled_rows);
  // Of real-valued observations the chain shows one only: densities stay in the model.
  if (estimate.labelled_rows && model.num_observations() > 1) estimate.sensors = model.sensors();
  if (about.has("reward_standard_error")) {
    const auto rewards = model.reward().values();
    estimate.reward.assign(rewards.begin(), rewards.end());
    read.by_row("reward_standard_error", estimate.reward_standard_error);
  }
  read.text("structure", estimate.structure);
  if (about.has("pairs")) estimate.pairs = pairs_from_json(about.at("pairs"), model.num_actions());
  read.by_action("alpha", estimate.alpha);
  read.by_row("visits", estimate.visits);
  read.by_row("clipped_share", estimate.clipped);
  if (about.has("flagged_rows")) {
    estimate.flagged = flagged_from_json(about.at("flagged_rows"), model);
  }
  if (about.has("warnings")) estimate.warnings = about.at("warnings").as_strings();
  if (about.has("confidence")) read_error_bars(about, model, estimate);
  return estimate;
}

}  // namespace

Json estimate_to_json(const Pomdp& model, const TransitionEstimate& estimate) {
  Json document = model_to_json(estimated_model(model, estimate));
  document["estimate"] = about_estimate(model, estimate);
  return document;
}

Json estimate_to_json(const ContinuousPomdp& model, const TransitionEstimate& estimate) {
  Json document = model_to_json(model.with_transition(estimate.transition));
  if (!estimate.reward.empty()) {
    document["reward"] = table2(estimate.reward, model.num_actions(), model.num_states());
  }
  document["estimate"] = about_estimate(model.chain(), estimate);
  return document;
}

EstimateDocument parse_estimate(std::string_view text, const std::string& file) {
  EstimateDocument document{is_continuous_model(text) ? parse_continuous_model(text, file).chain()
                                                      : parse_model(text, file),
                            {}};
  const Json json = parse_json(text, file);
  const JsonView root(json, file);
  if (!document.model.has_transition()) root.fail("key \"transition\" is missing");
  if (root.has("estimate")) {
    document.estimate = about_from_json(root.at("estimate"), document.model);
  }
  return document;
}

EstimateDocument read_estimate(const std::string& path) {
  return parse_estimate(read_text_file(path), path);
}

std::vector<UndeterminedRow> parse_undetermined_rows(std::string_view text,
                                                     const std::string& file) {
  const Json json = parse_json(text, file);
  const JsonView root(json, file);
  std::vector<UndeterminedRow> rows;
  if (!root.has("estimate") || !root.at("estimate").has("flagged_rows")) return rows;
  const JsonView flagged = root.at("estimate").at("flagged_rows");
  for (std::size_t i = 0; i < flagged.size(); ++i) {
    const JsonView row = flagged.at(i);
    rows.push_back(
        {row.at("action").as_string(), row.at("state").as_string(), row.at("reason").as_string()});
  }
  return rows;
}

std::vector<UndeterminedRow> parse_undetermined_rewards(std::string_view text,
                                                        const std::string& file,
                                                        const Pomdp& model) {
  const Json json = parse_json(text, file);
  const JsonView root(json, file);
  std::vector<UndeterminedRow> rows;
  if (!root.has("estimate")) return rows;
  std::vector<double> errors;
  AboutReader(root.at("estimate"), model).by_row("reward_standard_error", errors);
  for (std::size_t row = 0; row < errors.size(); ++row) {
    if (std::isfinite(errors[row])) continue;
    const int index = static_cast<int>(row);
    rows.push_back({model.actions()[index / model.num_states()],
                    model.states()[index % model.num_states()], "the log does not tell"});
  }
  return rows;
}

void write_estimate(const std::string& path, const Pomdp& model,
                    const TransitionEstimate& estimate) {
  write_text_file(path, dump_json(estimate_to_json(model, estimate)));
}

void write_estimate(const std::string& path, const ContinuousPomdp& model,
                    const TransitionEstimate& estimate) {
  write_text_file(path, dump_json(estimate_to_json(model, estimate)));
}

}  // namespace oas
