#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// The document of an estimate: the model with its transition replaced by the estimate and an
/// `estimate` object beside it (docs/reference/formats.md), so that it can be read as a model
/// everywhere.
[[nodiscard]] nlohmann::ordered_json estimate_to_json(const Pomdp& model,
                                                      const TransitionEstimate& estimate);

[[nodiscard]] nlohmann::ordered_json estimate_to_json(const ContinuousPomdp& model,
                                                      const TransitionEstimate& estimate);

/// An estimate file read back.
struct EstimateDocument {
  Pomdp model;  ///< where observations are real-valued, without them: ContinuousPomdp::chain()
  /// All that was written, unknown numbers as NaN; what older files do not tell is as in a fresh
  /// TransitionEstimate. Without error bars their level and kind are not told either. Absent: a
  /// plain model file.
  std::optional<TransitionEstimate> estimate;

  [[nodiscard]] bool has_intervals() const { return estimate && !estimate->lower.empty(); }
};

/// Reads an estimate or a plain model with transition. Throws ParseError naming file, path, value.
[[nodiscard]] EstimateDocument parse_estimate(std::string_view text, const std::string& file);
[[nodiscard]] EstimateDocument read_estimate(const std::string& path);

/// A row of the transition model that the log of an estimate did not determine.
struct UndeterminedRow {
  std::string action;
  std::string state;
  std::string reason;
};
/// Those that a document tells of: none for a plain model. Throws ParseError.
[[nodiscard]] std::vector<UndeterminedRow> parse_undetermined_rows(std::string_view text,
                                                                   const std::string& file);
/// (action, state) whose reward was to be learned from the log, which does not tell it; `model` is
/// that of the document.
[[nodiscard]] std::vector<UndeterminedRow> parse_undetermined_rewards(std::string_view text,
                                                                      const std::string& file,
                                                                      const Pomdp& model);

/// Writes it; the file appears complete or not at all.
void write_estimate(const std::string& path, const Pomdp& model,
                    const TransitionEstimate& estimate);
void write_estimate(const std::string& path, const ContinuousPomdp& model,
                    const TransitionEstimate& estimate);

}  // namespace oas
