#pragma once

#include <span>

#include "oas/model/pomdp.hpp"
#include "oas/planning/grid/extended_value_iteration.hpp"
#include "oas/planning/policies/controller.hpp"

namespace oas {

/// The least set of its kind around `center` that holds at least a share `level` of the draws: the
/// radius of a row is κ times the median distance (total variation) of the draws' rows from the
/// center's, with the smallest κ that will do, never above 1. Throws InvalidArgument without draws
/// and unless 0 < level <= 1.
[[nodiscard]] ConfidenceSet credible_set(const Pomdp& center,
                                         std::span<const TransitionModel> draws, double level);

/// What a policy is worth in the worst model of a set.
struct WorstCase {
  SolveStatus status = SolveStatus::not_run;
  int iterations = 0;
  /// No member of the set gives the controller a smaller gain, from the model's start.
  double promise = 0.0;
  TransitionModel member;  ///< the worst one that was found
  double attained = 0.0;   ///< the controller's gain in it: the promise cannot be larger
};

/// Nature against a fixed controller. Let w(s') be what follows when action a in state s leads to
/// s', from node n:
///   w(s') = r(a,s,s') + Σ_o Z_a(o|e) h(next(n,a,o), s'),  e the emitting state,
///   (Mh)(n,s) = Σ_a π(a|n) min { q·w : ‖q - T̂_a(s,·)‖₁ <= 2 r_a(s), q a distribution }.
/// What is proved. For any h let c be the least of Mh - h over the (node, state) pairs that some
/// member can reach from the start. Under every member, reward plus h at the next pair is on
/// average at least h + c in every step, so n steps earn at least n c minus the span of h, and the
/// gain is at least c. The promise is the largest c of a damped value iteration, less 1e-10 of the
/// rewards for rounding; whether it has converged decides how sharp it is, not whether it holds.
/// It holds even if the dynamics wander about within the set. Where runs may end in different
/// closed classes it is about the worst of them. O(N A S² log S + N A O S²) a sweep.
/// Throws InvalidArgument on a bad set, and where the controller does not fit or has no next node.
[[nodiscard]] WorstCase worst_case(const ConfidenceSet& set, const Controller& controller);

}  // namespace oas
