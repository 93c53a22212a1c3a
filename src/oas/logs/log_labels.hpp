#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/logs/log_options.hpp"
#include "oas/model/labels.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/timing.hpp"

namespace oas {

/// What a log says about the sets its columns are of.
struct LogLabels {
  Labels actions;
  Labels observations;
  Labels states;
  std::optional<Timing> timing;  ///< from a line "# oas-log/1 timing=…", if there is one
  std::optional<Rows> rows;      ///< from there too
};

/// Collects the labels of the columns action, observation and state over all files: names in
/// alphabetical order, or, where all are digits, as many elements as the largest index needs. Reads
/// every file to its end, O(distinct labels) memory. Throws ParseError naming file and line on a
/// file without column `state`, or without rows, on an empty label of action or state, on a column
/// that mixes names and indices, on a name of more than 1,000 bytes, on labels of more than 32 MB
/// in all, and on files of different timings; InvalidArgument on a pipe, which could not be read
/// again. `dimension` > 0: observations are so many real numbers, which have no labels.
[[nodiscard]] LogLabels scan_log_labels(std::span<const std::string> paths,
                                        const LogOptions& options = {}, int dimension = 0);

/// Names, timing and rows of a model, as far as labels say them. `timing` overrides what they do
/// not say; rows that are reading-first are of timing `after`. Throws InvalidArgument when nothing
/// says the timing, and as check_calibrated_size does.
[[nodiscard]] PomdpParts named_parts(const LogLabels& labels, std::optional<Timing> timing);

/// Throws InvalidArgument when tables of sensors or dynamics of these sizes would have more than
/// four million entries: a column of times, taken for one of states, would fill the memory.
void check_calibrated_size(double states, double actions, double observations);

/// A column of a log.
struct LogField {
  std::string name;
  long field = 0;  ///< from 1 on
};

/// The columns that hold the components of an observation, in their order: those that the options
/// name, else `observation` or `observation_1`, `observation_2`, …, if they are there. Throws
/// InvalidArgument on what is no regular file, since a pipe can be read only once, and ParseError
/// where there is no header row.
[[nodiscard]] std::vector<LogField> reading_columns(const std::string& path,
                                                    const LogOptions& options);

}  // namespace oas
