#pragma once

#include <optional>

#include "oas/core/parallel.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/plan.hpp"
#include "oas/planning/points/point_based.hpp"

namespace oas {

struct HullOptions {
  double iota = 0.0;
  /// Stop when upper - lower is at most this; absent: 10⁻⁴ of the range of rewards.
  std::optional<double> gap;
  double work = 2e9;  ///< products, about, beyond those of the point-based plan
  int max_points = 20'000;
  double max_entries = 3e7;  ///< of the mixtures
  PointOptions point;
  /// Of the certificates that choose between policies; absent: the likeliest, uncertified.
  std::optional<SimulationOptions> simulation;

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// The point-based plan with an upper bound that can be refined, and a better policy.
///
/// The bound. Take points b_1, b_2, …, the corners among them, numbers Q(i,a), and for each point,
/// action and observation a mixture of points that is the next belief, b' = Σ_j λ_j b_j. Let
///   (TQ)(i,a) = r(b_i,a) + Σ_o P(o | b_i, a) M_a'[ Σ_j λ_j Q(j,a') ],
/// M the mean over the greedy policy with floor ι. Then max (TQ - Q) is at least the gain of every
/// policy of the class from every start, for any Q. By induction over the horizon: the best sum
/// Q_n(b,a) of n steps that begin with a is convex in b, so that Q_n(b',a') <= Σ_j λ_j Q_n(b_j,a'),
/// and M is monotone: Q_{n+1}(b_i,a) <= (TQ_n)(i,a). T is monotone and commutes with constants: if
/// TQ
/// <= Q + c, then Q_n <= Q + n c + const at all points. Nothing in this asks for a timing, for
/// points near each other, or for mixtures to be the best ones. It is the gain of a decision
/// process in which somebody tells, after each choice, which of the points b_j the belief "really"
/// was. With the corners alone it is the fast informed bound.
///
/// Without a discount each such hint is paid for at every step, so the bound is tight only where
/// hints are worth nothing: beliefs that the best policy of the process meets become points, their
/// mixtures are those of linear programs over all points, and both go where hints are worth most
/// (HullSolver). Where the best policy meets finitely many beliefs the bound becomes the gain.
///
/// The policy. The beliefs that the process meets go to the point solver, with several discounts
/// (those below 1 make for steadier biases). Policies that may be the best one by a short
/// simulation are kept; in the end they are certified, the likeliest first and as many as is cheap,
/// and the one with the largest lower limit is returned. They share the level (detail::attempt), so
/// that the largest is a limit, too. Ends at the gap, when the work is spent, or when nothing is
/// left to mend. More work never makes the upper bound worse, nor the lower one where all that are
/// kept are certified. Same seed, same bytes.
[[nodiscard]] Plan hull_plan(const Pomdp& model, const HullOptions& options,
                             Parallelism parallelism = {});

}  // namespace oas
