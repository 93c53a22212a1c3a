#pragma once

#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/jobs/drawn_models.hpp"
#include "oas/jobs/plan_limits.hpp"
#include "oas/planning/plan.hpp"

/// What the command says about the draws that an estimate carries.
namespace oas::cli {

/// Why there are no limits at any level for what that model says.
[[nodiscard]] std::string why_no_limits(const std::string& name);

/// Says where limits over draws take rewards as exact that were learned from a log.
void warn_of_exact_rewards(const std::string& name, const DrawnModels& draws, const Common& common,
                           std::vector<std::string>& warnings);

/// What a plan earns over draws, and what has to be known about these limits; `drawn` says what
/// differs between the draws. Empty without.
[[nodiscard]] std::string posterior_text(const Plan& plan, const PlanLimits& limits,
                                         const std::string& drawn);

}  // namespace oas::cli
