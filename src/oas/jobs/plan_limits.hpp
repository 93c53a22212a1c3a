#pragma once

#include <string>

#include "oas/core/parallel.hpp"
#include "oas/jobs/drawn_models.hpp"
#include "oas/planning/plan.hpp"

namespace oas {

/// What is to be said about the limits of a plan over draws.
struct PlanLimits {
  /// The policy was too large to be judged as it is: by how much its copy is coarser; else empty.
  std::string coarseness;
  /// Where a limit is that of dynamics that no draw comes near (DrawnModels::extremes), and far
  /// from the draws: that the mean leaves these out; else empty.
  std::string beyond_draws;
};

/// Lets the policy of the plan act in each of the draws, and writes what it earns there into
/// Plan::posterior: the gain, the discounted sum of a discounted plan, the sum over the steps of
/// one for a horizon. Limits leave half of 1 - confidence out on each side and hold what is earned
/// in the extremes. Nothing without draws. Throws InvalidArgument unless 0 < confidence < 1.
[[nodiscard]] PlanLimits set_limits_over_draws(Plan& plan, const DrawnModels& draws,
                                               double confidence, Parallelism parallelism = {});

/// Where whatever is done the system ends in states that it never leaves again (with a probability
/// of 1e-6 a step at most): that the long-run average counts only the reward there. Else empty. No
/// full stop. O(A S²).
[[nodiscard]] std::string about_the_end(const Pomdp& model);

/// The same about the model of a plan for the long-run average, with the criteria that look at the
/// time before; empty for other plans.
[[nodiscard]] std::string long_run_note(const Plan& plan);

}  // namespace oas
