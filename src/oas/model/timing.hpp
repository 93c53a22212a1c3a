#pragma once

#include <string_view>

namespace oas {

/// Which state emits the observation of a step. `before` (the paper): the state in which the action
/// is taken; `after` (.pomdp files, Gymnasium): the state that the action leads to.
enum class Timing { before, after };

[[nodiscard]] constexpr std::string_view to_string(Timing timing) {
  return timing == Timing::before ? "before" : "after";
}

/// How the rows of a log are written. `action_first`: an action and the observation that came with
/// it; whose state emits that is the Timing. `reading_first`: the sensor is read, then the action
/// is chosen knowing it. Row t holds the reading of s_t and the action taken there, which is timing
/// `after` shifted by one: (o_0), (a_0,o_1), (a_1,o_2), …
enum class Rows { action_first, reading_first };

[[nodiscard]] constexpr std::string_view to_string(Rows rows) {
  return rows == Rows::action_first ? "action-first" : "reading-first";
}

/// Throws InvalidArgument that lists the two names.
[[nodiscard]] Rows parse_rows(std::string_view name);

}  // namespace oas
