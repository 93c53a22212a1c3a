#pragma once

#include <string>
#include <vector>

#include "oas/model/transition_model.hpp"

namespace oas::cli {

/// The transition models drawn from the posterior that an estimate file carries; none for other
/// models.
[[nodiscard]] std::vector<TransitionModel> draws_in(const std::string& name);

}  // namespace oas::cli
