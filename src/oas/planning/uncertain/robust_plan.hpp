#pragma once

#include <string>

#include "oas/core/parallel.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/policies/policy_graph.hpp"
#include "oas/planning/uncertain/worst_case.hpp"

namespace oas {

/// A policy with a promise for every model of a set.
struct RobustPlan {
  /// Starts in node 0, or as PolicyGraph::first says; the promise is about this very graph.
  PolicyGraph graph;
  WorstCase worst;                 ///< promise, and the worst member that was found
  double center_gain = 0.0;        ///< exact, in the set's center
  double plain_promise = 0.0;      ///< of the plan for the center
  double plain_center_gain = 0.0;  ///< of that plan in the center
  std::string made_for;            ///< which candidate was the best
  int candidates = 0;
};

/// Searches a policy whose promise (worst_case()) is large: plans for the center, for worst members
/// of the policies found so far, and half-way, each as a policy graph (export_graph), and constant
/// actions. The promise holds for every member, see there; that no policy has a larger one is not
/// claimed. Plans are made by the planner that the options name, or the first that suits. Throws
/// InvalidArgument as make_plan does.
[[nodiscard]] RobustPlan robust_plan(const ConfidenceSet& set, const PlanOptions& options = {},
                                     Parallelism parallelism = {});

}  // namespace oas
