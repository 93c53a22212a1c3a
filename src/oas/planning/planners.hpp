#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/core/settings.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/grid/extended_value_iteration.hpp"
#include "oas/planning/plan.hpp"

namespace oas {

struct PlanOptions;

/// One row of the table of planners, as `oas list` and docs/background/algorithms.md show it: all
/// that is to be known about a planner outside of its own file.
struct PlannerInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view reference;
  /// Whether it can be left to plan for a model of this size; otherwise it must be asked by name.
  bool (*suits)(const Pomdp& model, const PlanOptions& options);
  /// A plan; its lower bound is for certify() unless it brings a certificate along.
  Plan (*make)(const Pomdp& model, const PlanOptions& options, Parallelism parallelism);
  /// The next better plan, started from this one; nothing where there is none or the budget does
  /// not allow it.
  std::optional<Plan> (*refine)(const Plan& plan, const PlanOptions& options,
                                Parallelism parallelism);
  /// The best member that it finds of a confidence set. Null: it plans for one model only.
  EviResult (*best_member)(const ConfidenceSet& set, const PlanOptions& options,
                           Parallelism parallelism);
  /// The same as make() for the discount of the options, with the proved part of
  /// Plan::discounted. Null: it plans for the average only.
  Plan (*make_discounted)(const Pomdp& model, const PlanOptions& options, Parallelism parallelism);
  /// A plan for the horizon of the options, with Plan::horizon. Null: its plans never end.
  Plan (*make_for_horizon)(const Pomdp& model, const PlanOptions& options, Parallelism parallelism);
  bool has_grid = false;  ///< looks at the resolution of a grid and the tolerance of its sweeps
};

/// All planners, in the order in which they are tried; the last one suits every model.
[[nodiscard]] std::span<const PlannerInfo> planners();

/// Throws InvalidArgument listing the names when there is none of that name.
[[nodiscard]] const PlannerInfo& find_planner(std::string_view name);

/// The planner that the options name, or the first that suits the model. Throws InvalidArgument
/// on an unknown name.
[[nodiscard]] const PlannerInfo& choose_planner(const Pomdp& model, const PlanOptions& options);

/// The same among those that can discount. Throws InvalidArgument on one that cannot.
[[nodiscard]] const PlannerInfo& choose_discounting_planner(const PlanOptions& options);

/// The same among those whose plans can end. Throws InvalidArgument on one whose plans never do.
[[nodiscard]] const PlannerInfo& choose_horizon_planner(const PlanOptions& options);

/// The same among those that take confidence sets. Throws InvalidArgument on one that does not.
[[nodiscard]] const PlannerInfo& choose_optimistic_planner(const PlanOptions& options);

}  // namespace oas
