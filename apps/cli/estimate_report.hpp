#pragma once

#include <string>

#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/pomdp.hpp"

/// What `oas estimate` prints.
namespace oas::cli {

/// The estimate, its error bars and what they are made of. `simultaneous`: "row", "all", or empty
/// where intervals are those of single entries.
[[nodiscard]] std::string estimate_text(const Pomdp& model, const TransitionEstimate& estimate,
                                        const std::string& simultaneous);

/// The transition matrices, a table for each action; `region`: intervals of it in place of error
/// bars of single entries, where it is not null.
[[nodiscard]] std::string matrices_text(const Pomdp& model, const TransitionEstimate& estimate,
                                        const ConfidenceRegion* region);

/// Whether some entry is shown there with a limit instead of a standard error.
[[nodiscard]] bool has_entries_at_bounds(const TransitionEstimate& estimate);

}  // namespace oas::cli
