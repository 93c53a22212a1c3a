#pragma once

#include <nlohmann/json_fwd.hpp>

#include "oas/core/json_text.hpp"
#include "oas/model/pomdp.hpp"

/// What the files of finite and of continuous models have in common.
namespace oas::detail {

/// Format, timing, states, actions and start of a model document.
[[nodiscard]] PomdpParts read_chain(const JsonView& root);

/// Its transition and discount, where it has them.
void read_dynamics(const JsonView& root, PomdpParts& parts);

/// The table of numbers at `view`, of these extents.
[[nodiscard]] std::vector<double> read_table(const JsonView& view,
                                             std::initializer_list<int> extents);

/// [A][S] rows of next states and their probabilities in turn, by rising state. Becomes a table
/// where one is small enough.
[[nodiscard]] TransitionModel read_transition_list(const JsonView& view, int num_states,
                                                   int num_actions);
[[nodiscard]] nlohmann::ordered_json write_transition_list(const TransitionModel& transition);

}  // namespace oas::detail
