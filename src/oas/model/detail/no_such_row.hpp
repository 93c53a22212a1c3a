#pragma once

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/index.hpp"

namespace oas::detail {

/// Throws InvalidArgument naming the index, of a row (action, state) of a table, that does not
/// exist. Out of line where rows are looked up in hot loops.
[[noreturn]] inline void throw_no_such_row(Action action, int num_actions, State state,
                                           int num_states) {
  check_action(action, num_actions);
  check_state(state, num_states);
  throw InvalidArgument("there is no such row");
}

}  // namespace oas::detail
