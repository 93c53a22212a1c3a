#pragma once

#include "oas/core/parallel.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/plan.hpp"

namespace oas::detail {

/// The simulation of certificate number 1, 2, … of several, of which the one with the largest lower
/// limit will be taken. The chance to fail is shared out among them, 1/2, 1/6, 1/12, …, so that the
/// largest limit fails no more often than a single one at the level of the options, whichever of
/// them are tried: what a number stands for must not depend on luck that the simulations share.
/// Throws
/// InvalidArgument on a number below 1.
[[nodiscard]] SimulationOptions attempt(SimulationOptions options, int number);

/// certify() with that simulation; the certificate has the level of them all.
void certify_attempt(Plan& plan, const SimulationOptions& options, int number,
                     Parallelism parallelism);

}  // namespace oas::detail
