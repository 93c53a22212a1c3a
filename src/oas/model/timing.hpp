#pragma once

#include <string_view>

namespace oas {

/// Which state emits the observation of a step. `before` (the paper): the state in which the action
/// is taken; `after` (.pomdp files, Gymnasium): the state that the action leads to.
enum class Timing { before, after };

[[nodiscard]] constexpr std::string_view to_string(Timing timing) {
  return timing == Timing::before ? "before" : "after";
}

}  // namespace oas
