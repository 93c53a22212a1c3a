#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "oas/logs/log_options.hpp"
#include "oas/model/labels.hpp"
#include "oas/model/timing.hpp"

/// The lines above the rows of a log, "oas-log/1". Messages name the value; the caller adds file
/// and line.
namespace oas::detail {

enum class LogColumn {
  action,
  observation,
  run,
  propensity,
  reward,
  state,
  time,
  reading,
  likelihood,
  ignored
};

/// In the order of LogColumn, those that stand for themselves.
inline constexpr std::array<std::string_view, 7> kLogColumnNames = {
    "action", "observation", "run", "propensity", "reward", "state", "time"};

/// One column of a log; `index` counts components of a reading and states of a likelihood.
struct HeaderColumn {
  LogColumn column;
  int index = 0;

  friend bool operator==(const HeaderColumn&, const HeaderColumn&) = default;
};

/// What a log with real numbers may hold in place of a finite observation.
struct ContinuousColumns {
  int dimension = 0;  ///< of readings; 0: the model has no densities, so that there can be none
  const Labels* states = nullptr;  ///< of likelihoods
};

/// What the line "# oas-log/1 timing=after rows=reading-first" says; rows that are not named are
/// action-first.
struct RowComment {
  Timing timing = Timing::before;
  Rows rows = Rows::action_first;
};
/// Reads a line that begins with '#'; nothing where it is some other comment. Throws
/// InvalidArgument on an unknown version, or where it does not go on as it should.
[[nodiscard]] std::optional<RowComment> parse_comment(std::string_view line);

/// Throws InvalidArgument where a line that begins with '#' says that the log has another timing or
/// other rows than these, or where parse_comment() does.
void check_comment(std::string_view line, Timing timing, Rows rows);

/// The columns of a header row that ends with a line feed. Throws InvalidArgument for an unknown or
/// doubled column, when action (unless not `needs_action`) or observation is missing, and when the
/// row is no header at all.
/// With `names`, parts of a row stand where these say, or else in the column of their own name;
/// other columns are ignored, and one that is not there throws, listing those that are.
/// `continuous` null: observations are finite. Else `observation` (in one dimension) or
/// `observation_1` … `observation_d` are read as numbers, or in their place `likelihood_1` …
/// `likelihood_S`, also `likelihood_` and the name of a state.
[[nodiscard]] std::vector<HeaderColumn> parse_header(const char* line,
                                                     const ContinuousColumns* continuous,
                                                     const ColumnNames& names = {},
                                                     bool needs_action = true);

/// Whether the cells of a header row name a likelihood column.
[[nodiscard]] bool names_likelihoods(const std::vector<std::string>& header,
                                     const ColumnNames& names);

}  // namespace oas::detail
