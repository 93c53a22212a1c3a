#pragma once

#include <functional>
#include <vector>

#include "oas/estimation/transition_estimate.hpp"

namespace oas {

/// Fills lower and upper of `estimate` at its confidence 1-p from a posterior whose quantiles q,
/// [a][s][s'], are given: the shortest of [q(p/2), q(1-p/2)], [0, q(1-p)] and [q(p), 1], so that 0
/// or 1 can be inside.
void set_posterior_intervals(const std::function<std::vector<double>(double level)>& quantiles,
                             TransitionEstimate& estimate);

}  // namespace oas
