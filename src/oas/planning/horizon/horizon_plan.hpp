#pragma once

#include <optional>

#include "oas/model/pomdp.hpp"
#include "oas/planning/plan.hpp"

namespace oas {

/// Longer plans are refused: they would be written stage by stage, and the average serves them.
inline constexpr int kMostHorizon = 10'000;

struct HorizonOptions {
  int steps = 1;          ///< N, at least 1
  double discount = 1.0;  ///< γ, in (0, 1]
  /// Refine until upper - lower is at most this; none: a ten-thousandth of what rewards can differ
  /// over the horizon.
  std::optional<double> gap;
  double work = 2e9;  ///< products that the refinement may cost, about

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// The policy with the best Σ_{t<N} γ^t r_t from the model's start that the work allows, in
/// Plan::horizon with bounds that are both proved:
/// - lower: conditional plans made by backups at beliefs that are reached from the start,
///     α = r_a + γ Σ_o K_a^o α_o,
///   each of which has exactly its α as value, so that the policy in the plan, which is made of
///   them, has exactly the lower bound as value (rounding apart);
/// - upper: the least of the fast informed bound for each number of steps to go (Hauskrecht 2000),
///   of value iteration on a grid (Lovejoy 1991) where one is affordable, and of values backed up
///   at the same beliefs and interpolated in between (sawtooth: values are convex).
/// Beliefs are chosen by trials from the start down to one step to go: the action of the largest
/// upper bound, then the observation that leaves most of the gap (heuristic search value iteration,
/// Smith and Simmons 2005, with bounds for each number of steps to go as in Walraven and Spaan
/// 2019), and now and then by sweeps over all that were met. More work never makes a bound worse.
/// Deterministic, in one thread. Where rows are reading-first, values are means over the first
/// readings.
///
/// Plan::status is `converged` where the gap is reached, else `sweep_limit`, and the message says
/// so. gain_lower and gain_upper are the bounds per step: over Σ_t γ^t. Throws InvalidArgument on
/// bad options, unknown dynamics, and where horizon, states and actions need more than 5·10⁷
/// numbers.
[[nodiscard]] Plan horizon_plan(const Pomdp& model, const HorizonOptions& options);

/// Σ_{t<N} γ^t.
[[nodiscard]] double horizon_weight(int steps, double discount);

}  // namespace oas
