#pragma once

#include <string>

#include "oas/core/rng.hpp"
#include "oas/counts/triple_counts.hpp"
#include "oas/estimation/spectral/label_matching.hpp"
#include "oas/estimation/spectral/three_views.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/pomdp.hpp"

/// Spectral decomposition as an estimator of the dynamics.
///
/// **Three views.** Three consecutive rows (a1,o1), (a2,o2), (a3,o3) of a log see three consecutive
/// states X1, X, X' through the sensors Z_{a1}, Z_{a2}, Z_{a3}; X → X' is a step of the *learned*
/// action, which is a2 in `before` timing and a3 in `after`. Let the action of a row depend on the
/// row before at most: π(a3 | a2,o2), which covers constant, scheduled, uniformly random and
/// memoryless actions. Then, in both timings,
///   P(x1, a2, o2, a3, o3, X=s)
///     = P(x1, a2, X=s) · Z_{a2}(o2|s) π(a3|a2,o2) · Σ_{s'} T(s,s') Z_{a3}(o3|s'),
/// x1 = (a1,o1), T of the learned action. So, given X and the block (a2,a3), the views x1, o2, o3
/// are independent, with means
///   V2(o,s) = π(a3|a2,o) Z_{a2}(o|s) / P(a3|s,a2),        V3 = Z_{a3} Tᵀ.
/// The second view is tilted by the policy unless π does not depend on o: its correction divides by
/// π(a3|a2,o) and normalises. The third is not. If a3 depends on more than (a2,o2), as with a
/// belief policy, x1 and a3 are dependent given X and the blocks are not valid.
///
/// **Labels.** Each block finds the states in an order of its own. They are named by matching V2
/// with the known sensor, tilted alike; the dynamics are not used. Tᵀ = L_{a3} V3 with the known
/// sensor, whose rows have their names already, or Tᵀ = Ô⁺ V3 with the emissions Ô = V2 of the same
/// decomposition, where one permutation renames rows and columns.
namespace oas {

/// How a log is cut into decompositions.
enum class SpectralPooling {
  /// One decomposition for each block (a2,a3), one-hot views; the sensors only name the states and
  /// take V3 to T. T̂_a is the mean over the partner action, weighted by visits. For actions that
  /// depend on the last row at most.
  blocks,
  /// One decomposition for each learned action: what the partner action's sensor saw enters through
  /// its left inverse, so that all partners show the same view.
  ///   before: v1 = x1, v2 = o2, v3 = L_{a3}(:,o3).  E[v3 | past, o2, a3, s] = T_a(s,·) whatever
  ///     chose a3, so V2 = Z_a, V3 = T_aᵀ for ANY policy.
  ///   after: v1 = (x1,a2), v2 = L_{a2}(:,o2), v3 = o3, weights 1/π(a3|a2,o2) against the
  ///     selection by a3: V2 = I, V3 = Z_a T_aᵀ. For actions that depend on the last row at most
  ///     and keep a positive probability in every context.
  sensors,
};

struct SpectralOptions {
  DecompositionOptions decomposition;
  SpectralPooling pooling = SpectralPooling::sensors;
  /// estimate_constant only: Tᵀ = Ô⁺ V3, as in the literature, instead of L_a V3.
  bool estimated_sensors = false;

  void validate() const { decomposition.validate(); }
};

/// One decomposition with its states named: the rows of `transition` are not yet clipped.
struct SpectralBlock {
  Decomposition decomposition;  ///< states in their original order
  LabelMatch labels;
  Matrix transition;  ///< S×S, T(s,s'), in the order of the known sensor
  Matrix emission;    ///< what view 2 sees given s, corrected for the policy, columns normalised
  Vector weights;     ///< P(X = s), in that order

  /// Decomposed, and no doubt about the names of the states.
  [[nodiscard]] bool usable() const;
  [[nodiscard]] std::string why_not() const;
};

/// What is known about the views of a block.
struct SpectralSensors {
  Matrix second;         ///< mean of view 2 given s without policy, m2 × S
  Vector tilt;           ///< π(a3|a2,·), m2 entries, by which view 2 is tilted; empty: not at all
  Matrix third_inverse;  ///< S × m3, a left inverse of the sensor of view 3; empty: that of Ô
};

/// Decomposes and names the states. On failure (decomposition.status) the other fields are empty.
[[nodiscard]] SpectralBlock solve_spectral_block(const ThreeViews& views,
                                                 const SpectralSensors& sensors,
                                                 const DecompositionOptions& options, Rng& rng);

/// The estimator `spectral` from the triples of a log (counts of a TripleFolder). The policy
/// π(a3|a2,o2) is taken as the frequencies in the log: propensities are not needed. Rows of actions
/// of which no decomposition succeeded are uniform and flagged with the reason; nothing is ever
/// replaced by random numbers. Warns of failed blocks, of contexts that an action never followed,
/// and when a chi-square test at 1e-6 finds that actions depend on more than the last row where
/// that matters. `visits` are triples times P(s); no error bars. Throws InvalidArgument when some
/// Z_a has dependent columns, or there is no triple.
[[nodiscard]] TransitionEstimate estimate_spectral(const TripleFolder& log, const Pomdp& model,
                                                   const SpectralOptions& options, Rng& rng);

/// The views of estimate_constant.
enum class ConstantViews {
  one_hot,           ///< symbols are observations
  emission_columns,  ///< symbols are hidden states s, views Z_a(:,s): needs to see the state
};

/// From rows during which one action was held: block a of `counts` holds triples of symbols seen
/// while a was played, a hidden Markov model with emissions Z_a in both timings.
[[nodiscard]] TransitionEstimate estimate_constant(const TripleCounts& counts, ConstantViews views,
                                                   const Pomdp& model,
                                                   const SpectralOptions& options, Rng& rng);

}  // namespace oas
