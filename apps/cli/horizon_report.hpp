#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "oas/planning/plan.hpp"

/// What the command says about plans for a number of steps (--horizon).
namespace oas::cli {

/// "12 steps, discounted by 0.9".
[[nodiscard]] std::string over_steps(const HorizonValue& value);

/// The lines of `oas plan` about such a plan: bounds, first action, size.
[[nodiscard]] std::string horizon_headline(const std::string& model, const Plan& plan);

/// The name of the first action, or an object: that after each first reading.
[[nodiscard]] nlohmann::ordered_json first_action_json(const Plan& plan);

}  // namespace oas::cli
