#pragma once

#include <vector>

#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// Dynamics that the intervals of an estimate leave possible, but no draw from the posterior of a
/// smooth prior comes near: transitions that are impossible, states that are for ever. Limits over
/// draws should hold what happens in them. In all of them a row of whose entries every one may be
/// 0, since the log hardly tells it, leads nowhere else where its intervals allow that (0.9 or
/// more).
///  - The first has the fewest transitions: every entry whose interval reaches down to 0 is 0, and
///    the others of its row share what it had.
///  - The second is without_unseen(): only what was not seen is missing.
/// Empty for estimates without intervals.
[[nodiscard]] std::vector<TransitionModel> extreme_dynamics(const TransitionEstimate& estimate);

}  // namespace oas
