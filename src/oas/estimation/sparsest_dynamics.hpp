#pragma once

#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// The dynamics with the fewest transitions that the intervals of an estimate leave possible: every
/// entry whose interval reaches down to 0 is 0, and the others of its row share what it had. Rows
/// of which nothing would be left, and estimates without intervals, stay. Without draws of zeros
/// (no posterior of a smooth prior has any) limits over draws miss systems in which a failure is
/// for ever; they should hold what happens here.
[[nodiscard]] TransitionModel sparsest_dynamics(const TransitionEstimate& estimate);

}  // namespace oas
