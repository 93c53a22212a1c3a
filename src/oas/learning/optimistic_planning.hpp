#pragma once

#include <vector>

#include "oas/learning/belief_controller.hpp"
#include "oas/learning/episode.hpp"

namespace oas {

/// Plans for the best member of the confidence set around `transition` with row radii [A][S] (total
/// variation), hands it to the controller, and writes radius, gains, status and time into the
/// record. All radii 0: plain planning. Otherwise extended value iteration.
void plan_optimistically(const TransitionModel& transition, const std::vector<double>& radius,
                         const RviOptions& options, BeliefController& controller, Episode& episode);

}  // namespace oas
