#include "oas/estimation/estimate_json.hpp"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/core/version.hpp"
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

Json flagged_rows(const Pomdp& model, const TransitionEstimate& estimate) {
  Json rows = Json::array();
  for (const FlaggedRow& row : estimate.flagged) {
    rows.push_back({{"action", model.actions()[row.action]},
                    {"state", model.states()[row.state]},
                    {"reason", row.reason}});
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

// The factors, of use to people only, are left.
ConfidenceRegion region_from_json(const JsonView& json, int actions, int states) {
  ConfidenceRegion region;
  const std::array<int, 2> rows = {actions, states};
  const std::array<int, 3> entries = {actions, states, states};
  region.l1 = json.at("l1").as_array(rows);
  region.lower = json.at("lower").as_array(entries);
  region.upper = json.at("upper").as_array(entries);
  return region;
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

Json about_estimate(const Pomdp& model, const TransitionEstimate& estimate) {
  const int s = model.num_states();
  const int a = model.num_actions();
  Json about;
  about["estimator"] = estimate.estimator;
  about["version"] = version();
  about["status"] = estimate.status == EstimateStatus::ok ? "ok" : "flagged";
  about["rows"] = estimate.rows;
  about["runs"] = estimate.runs;
  about["missing_observations"] = estimate.missing;
  if (estimate.log_likelihood) {
    about["log_likelihood"] = *estimate.log_likelihood;
    about["passes"] = estimate.passes;
    if (estimate.fit_p_value) about["fit_p_value"] = number(*estimate.fit_p_value);
  }
  if (estimate.effective_rows) about["effective_rows"] = *estimate.effective_rows;
  if (estimate.labelled_rows) about["labelled_rows"] = *estimate.labelled_rows;
  if (!estimate.structure.empty()) about["structure"] = estimate.structure;
  about["pairs"] = estimate.pairs;
  about["alpha"] = estimate.alpha;
  about["visits"] = table2(estimate.visits, a, s);
  about["clipped_share"] = table2(estimate.clipped, a, s);
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
    if (!estimate.draws.empty()) {
      const auto entries = static_cast<std::size_t>(a) * static_cast<std::size_t>(s * s);
      Json draws = Json::array();
      for (std::size_t first = 0; first < estimate.draws.size(); first += entries) {
        const auto begin = estimate.draws.begin() + static_cast<std::ptrdiff_t>(first);
        draws.push_back(table3({begin, begin + static_cast<std::ptrdiff_t>(entries)}, a, s));
      }
      about["draws"] = std::move(draws);
    }
  }
  return about;
}

}  // namespace

Json estimate_to_json(const Pomdp& model, const TransitionEstimate& estimate) {
  Json document = model_to_json(estimated_model(model, estimate));
  document["estimate"] = about_estimate(model, estimate);
  return document;
}

Json estimate_to_json(const ContinuousPomdp& model, const TransitionEstimate& estimate) {
  Json document = model_to_json(model.with_transition(estimate.transition));
  document["estimate"] = about_estimate(model.chain(), estimate);
  return document;
}

EstimateDocument parse_estimate(std::string_view text, const std::string& file) {
  EstimateDocument document{is_continuous_model(text) ? parse_continuous_model(text, file).chain()
                                                      : parse_model(text, file),
                            {},
                            0.0,
                            {},
                            {},
                            {},
                            {},
                            {}};
  const Json json = parse_json(text, file);
  const JsonView root(json, file);
  if (!document.model.has_transition()) root.fail("key \"transition\" is missing");
  if (!root.has("estimate")) return document;
  const JsonView about = root.at("estimate");
  document.estimator = about.at("estimator").as_string();
  if (about.has("confidence")) {
    const int s = document.model.num_states();
    const std::array<int, 3> extents = {document.model.num_actions(), s, s};
    document.confidence = about.at("confidence").as_double();
    document.lower = about.at("lower").as_array(extents);
    document.upper = about.at("upper").as_array(extents);
    if (about.has("simultaneous")) {
      const JsonView regions = about.at("simultaneous");
      document.row_region = region_from_json(regions.at("row"), extents[0], s);
      document.joint_region = region_from_json(regions.at("all"), extents[0], s);
    }
    if (about.has("draws")) {
      const JsonView draws = about.at("draws");
      for (std::size_t i = 0; i < draws.size(); ++i) {
        document.draws.emplace_back(s, extents[0], draws.at(i).as_array(extents),
                                    fmt::format("$.estimate.draws[{}]", i));
      }
    }
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

void write_estimate(const std::string& path, const Pomdp& model,
                    const TransitionEstimate& estimate) {
  write_text_file(path, dump_json(estimate_to_json(model, estimate)));
}

void write_estimate(const std::string& path, const ContinuousPomdp& model,
                    const TransitionEstimate& estimate) {
  write_text_file(path, dump_json(estimate_to_json(model, estimate)));
}

}  // namespace oas
