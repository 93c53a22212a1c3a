#pragma once

#include <optional>
#include <span>
#include <string>

#include "oas/core/index.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// T_a as a matrix: each cell shaded by its probability, with number and interval where these fit
/// (up to 12 states). Rows that the log did not determine say so. Without an estimate the
/// transition of the model is drawn as it is.
[[nodiscard]] std::string transition_matrix_svg(const Pomdp& model,
                                                const std::optional<TransitionEstimate>& estimate,
                                                Action action);

/// T_a as arrows between states, as wide as they are probable. Transitions below one in a hundred,
/// and those that may well be impossible, are left out. Empty above kMostGraphStates states.
[[nodiscard]] std::string state_graph_svg(const Pomdp& model,
                                          const std::optional<TransitionEstimate>& estimate,
                                          Action action);

constexpr int kMostGraphStates = 10;

}  // namespace oas
