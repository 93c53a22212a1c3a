#pragma once

#include <cstdint>
#include <string>

#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/plan.hpp"
#include "oas/planning/policies/alpha_policy.hpp"
#include "oas/planning/policies/controller.hpp"
#include "oas/planning/policies/policy_graph.hpp"

/// Our plans as policies that other programs can run. A plan looks one step ahead from the belief;
/// the formats of others hold an action for each vector or node, so the look-ahead is done here, at
/// the beliefs that the plan reaches. A floor ι has no place in them: the greedy action is written.
namespace oas {

struct ExportOptions {
  std::uint64_t steps = 20'000;  ///< simulated to find the beliefs, and as many to compare
  int max_vectors = 1000;        ///< those used most often are kept
  int max_nodes = 500;
  std::uint64_t seed = 1;

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

struct ExportedVectors {
  AlphaPolicy policy;
  /// At every belief that the simulation reached the policy acts as the look-ahead on the vectors
  /// (ties apart): true unless they were fitted, or more than max_vectors were needed.
  bool exact_where_reached = false;
  bool fitted = false;     ///< the plan's bias is no maximum of vectors, so vectors were fitted
  double agreement = 0.0;  ///< share of fresh simulated steps where it acts as the plan
  GainInterval gain;       ///< of the policy, in the plan's model

  /// Whether that is below the plan's lower bound by more than a hundredth of it and its own error.
  [[nodiscard]] bool worse_than(const Plan& plan) const;
};

/// One look-ahead vector r_a + Σ_o K_a^o α_(b,a,o) for each reached belief b, a its greedy action.
/// Each lies below the look-ahead value everywhere and touches it at its belief, which is why the
/// best vector at a reached belief has the plan's action there. The bias of a grid plan is no
/// maximum of vectors: vectors are first found by point-based value iteration at the beliefs that
/// the plan reaches, and the result is as good as `agreement` and `gain` say. Throws
/// InvalidArgument for a plan of timing `before` whose model is not the same on its states in
/// timing `after`. O(steps A (S² + O K S)).
[[nodiscard]] ExportedVectors export_vectors(const Plan& plan, const ExportOptions& options = {},
                                             Parallelism parallelism = {});

struct ExportedGraph {
  PolicyGraph graph;            ///< node 0 is where to start, or see PolicyGraph::first
  double tolerance = 0.0;       ///< beliefs nearer than this (L1) share a node
  bool of_met_beliefs = false;  ///< or nodes for beliefs that simulated runs met, the nearest next
  GraphEvaluation value;        ///< exact, in the plan's model from node 0

  /// Whether the graph's gain is below the plan's lower bound by more than a hundredth of it.
  [[nodiscard]] bool worse_than(const Plan& plan) const;
};

/// A node for each belief that the plan can reach from the start, with the plan's action; beliefs
/// nearer than a tolerance share one, with the smallest of 1e-9, 1e-6, 1e-4, 1e-3, 3e-3, … that
/// needs at most max_nodes. At 1e-9 the graph is the plan; beyond, `value` tells what is lost.
/// Where that is more than a hundredth (in wide belief spaces most of what can be reached hardly
/// ever is, and far beliefs share nodes), twice as many beliefs that simulated runs of the plan
/// meet are made nodes, each followed by the nearest, and the better of the two graphs is returned.
/// An observation that cannot come at the node's belief but in some state leads on without it. For
/// any timing. O(N² O S + N A (S² + O K S)) for each tolerance.
[[nodiscard]] ExportedGraph export_graph(const Plan& plan, const ExportOptions& options = {});

/// A plan, floor and all, as a controller whose answers are exact.
struct ActingPlan {
  Controller controller;
  double gain = 0.0;   ///< exact, in the plan's own model
  bool worse = false;  ///< below the plan's lower bound by more than a hundredth
};

/// The graph of export_graph(), or where the plan has a floor the nodes of its rule (nodes_of).
/// Beliefs are kept with the plan's own model, whichever model it is then used in.
[[nodiscard]] ActingPlan acting_controller(const Plan& plan);

}  // namespace oas
