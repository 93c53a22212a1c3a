#pragma once

#include "oas/core/parallel.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/policies/alpha_policy.hpp"
#include "oas/planning/policies/policy_graph.hpp"

/// The average reward of other solvers' policies, by simulation.
namespace oas {

/// Gain of an α-vector policy in `truth` when beliefs are kept exactly with `filter`, whose states
/// `split` is about. With control_variate the vectors' maximum takes the place of the bias (any
/// function may; discounted values do well), where one look-ahead costs at most 10⁶ products and no
/// part of the state is seen; otherwise rewards are averaged. Throws InvalidArgument when sizes
/// differ, and as AlphaActions does.
[[nodiscard]] GainInterval evaluate_by_simulation(const Pomdp& truth, const AlphaPolicy& policy,
                                                  const Pomdp& filter, const StateSplit& split = {},
                                                  const SimulationOptions& options = {},
                                                  Parallelism parallelism = {});

/// Gain of a policy graph that starts in `start_node`.
[[nodiscard]] GainInterval evaluate_by_simulation(const Pomdp& truth, const PolicyGraph& graph,
                                                  int start_node,
                                                  const SimulationOptions& options = {},
                                                  Parallelism parallelism = {});

}  // namespace oas
