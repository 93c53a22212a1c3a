#pragma once

#include <span>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/plan.hpp"

/// What a plan for a horizon is worth in a model that need not be its own. It keeps no belief, so
/// nothing but actions and observations must fit.
namespace oas {

/// Σ_{t<N} γ^t r_t from the start of `truth`, exact: every node has a value in each state,
///   α_k = r_a + γ Σ_o K_a^o α_next(k,o),
/// from the last stage to the first. Throws InvalidArgument where the plan has no horizon or cannot
/// act in the model.
[[nodiscard]] double horizon_value(const Pomdp& truth, const Plan& plan);

/// The same in each of many models. Same bytes for any number of threads.
[[nodiscard]] std::vector<double> horizon_values(std::span<const Pomdp> models, const Plan& plan,
                                                 Parallelism parallelism = {});

/// The same by simulation: as many runs of N steps from the start as `steps` of the options allow,
/// at least 8, each worth the discounted expected rewards in its hidden states. num_batches is the
/// number of runs.
[[nodiscard]] GainInterval simulate_horizon(const Pomdp& truth, const Plan& plan,
                                            const SimulationOptions& options = {},
                                            Parallelism parallelism = {});

}  // namespace oas
