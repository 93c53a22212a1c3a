#pragma once

#include <optional>

#include "oas/planning/grid/extended_value_iteration.hpp"
#include "oas/planning/planner.hpp"

/// The planner on a belief grid, as its row of the table of planners calls it.
namespace oas::detail {

/// Whether a resolution is given, or there is one that solves quickly.
[[nodiscard]] bool grid_suits(const Pomdp& model, const PlanOptions& options);

/// Relative value iteration; on the coarsest grid where none is given and none solves quickly.
[[nodiscard]] Plan grid_plan(const Pomdp& model, const PlanOptions& options,
                             Parallelism parallelism);

/// On a grid of twice the resolution, started at the bias of `plan`; nothing where that grid would
/// exceed the budget.
[[nodiscard]] std::optional<Plan> finer_grid_plan(const Plan& plan, const PlanOptions& options,
                                                  Parallelism parallelism);

/// Value iteration with the discount of the options, then Plan::discounted->upper from the start
/// and gain_upper; Plan::discounted->lower is left equal to it. What is proved: for any v on the
/// grid and γ, v + max(T_γ v - v)/(1-γ) is at least the value of the grid's own decision process,
/// and that is at least the true value at every belief, because the true one is convex and
/// interpolation over-estimates convex functions.
[[nodiscard]] Plan discounted_grid_plan(const Pomdp& model, const PlanOptions& options,
                                        Parallelism parallelism);

/// By extended value iteration. Throws InvalidArgument when there are too many states for a grid.
[[nodiscard]] EviResult best_member_on_grid(const ConfidenceSet& set, const PlanOptions& options,
                                            Parallelism parallelism);

}  // namespace oas::detail
