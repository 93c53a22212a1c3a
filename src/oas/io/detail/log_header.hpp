#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "oas/model/timing.hpp"

/// The lines above the rows of a log, "oas-log/1". Messages name the value; the caller adds file
/// and line.
namespace oas::detail {

enum class LogColumn { action, observation, run, propensity, reward, state };

/// In the order of LogColumn.
inline constexpr std::array<std::string_view, 6> kLogColumnNames = {
    "action", "observation", "run", "propensity", "reward", "state"};

/// Checks a line that begins with '#': "# oas-log/1 timing=before" must name a known version and
/// the timing of the model; any other text is a comment. Throws InvalidArgument.
void check_comment(std::string_view line, Timing timing);

/// The columns of a header row that ends with a line feed. Throws InvalidArgument for an unknown or
/// doubled column, when action or observation is missing, and when the row is no header at all.
[[nodiscard]] std::vector<LogColumn> parse_header(const char* line);

}  // namespace oas::detail
