#pragma once

#include <functional>
#include <span>
#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/planning/plan.hpp"
#include "oas/planning/policies/controller.hpp"

namespace oas {

/// A policy that acts on a belief, which it keeps with a model of its own whatever the true one is.
struct BeliefRule {
  Pomdp model;                                              ///< with a transition model
  std::function<int(std::span<const double> belief)> best;  ///< the preferred action
  double floor = 0.0;  ///< the other actions have this probability each
};

/// The rule by which a plan acts: its own model, its look-ahead, its floor ι.
[[nodiscard]] BeliefRule rule_of(const Plan& plan);

/// A rule that acts on finitely many beliefs.
struct BeliefNodes {
  Controller controller;   ///< starts at the first root
  std::vector<int> roots;  ///< the node of each root
  double tolerance = 0.0;  ///< beliefs nearer than this (L1) share a node
};

/// A node for each belief that the rule can reach from `roots`, with its action there; beliefs
/// nearer than a tolerance share one, with the smallest of 1e-9, 1e-6, 1e-4, 1e-3, 3e-3, … that
/// needs at most max_nodes. At 1e-9 the controller is the rule; beyond, it is the rule of somebody
/// who rounds his beliefs. An observation that cannot come at the node's belief but in some state
/// leads on without it, as it does for the filter. O(N² O S) for each tolerance.
[[nodiscard]] BeliefNodes nodes_of(const BeliefRule& rule,
                                   std::span<const std::vector<double>> roots, int max_nodes);

/// The same from the start of a run of the rule's own model: after each first reading where rows
/// are reading-first (Controller::first).
[[nodiscard]] BeliefNodes nodes_from_start(const BeliefRule& rule, int max_nodes);

}  // namespace oas
