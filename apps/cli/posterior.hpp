#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oas/estimation/transition_estimate.hpp"

namespace oas::cli {

/// The estimate in a file; none for other models, and for pipes, which cannot be read twice.
[[nodiscard]] std::optional<TransitionEstimate> estimate_in(const std::string& name);

/// The transition models drawn from the posterior that it carries.
[[nodiscard]] std::vector<TransitionModel> draws_in(const std::string& name);

}  // namespace oas::cli
