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

}  // namespace oas::cli
