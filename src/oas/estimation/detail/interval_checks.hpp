#pragma once

#include "oas/core/json_text.hpp"
#include "oas/estimation/transition_estimate.hpp"

namespace oas::detail {

/// Throws ParseError at "lower" of that object unless each limit is known with the other and not
/// beyond it; NaN is an unknown one.
void require_intervals(const JsonView& object, std::span<const double> lower,
                       std::span<const double> upper);

/// The same for an estimate's error bars, whose level must lie strictly between 0 and 1 and whose
/// standard errors must not be negative.
void require_error_bars(const JsonView& about, const TransitionEstimate& estimate);

}  // namespace oas::detail
