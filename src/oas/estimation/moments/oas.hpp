#pragma once

#include <span>
#include <string>

#include "oas/counts/pair_counts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/error_bars/confidence_region.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/sensors/left_inverse.hpp"

namespace oas {

/// Options of the moment estimators.
struct OasOptions {
  std::string name = "oas";  ///< recorded in the result
  double confidence = 0.95;  ///< level of each interval and region, in (0, 1)
  bool regions = false;      ///< also simultaneous regions; they cost some 10 ms

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// The Observation-Aware Spectral estimator (the paper's Algorithm 1 when the moments come from
/// disjoint pairs of one run): from D_a = Σ_{a'} L_a N_{a,a'} L_{a'}ᵀ,
///   T̂_a = rows of D_a, negatives set to 0, then divided by their sum;
/// a row with no positive mass becomes uniform and is flagged. Clipping comes after the sum over
/// a': any non-linear step per (a,a') block makes the estimator inconsistent for reactive policies.
///
/// Errors by the delta method over the batches b of the series, with R = D(s,s')/D(s,·):
/// se² = B/(B-1) Σ_b ((D_b(s,s') - R D_b(s,·)) / D(s,·))², which takes in the dependence between
/// neighbouring pairs, but at least the T̂(1-T̂)/n of n pairs whose states had been seen, n being
/// what the weights of the row's pairs are worth (PairMoments::effective_visits). Intervals
/// are those of counts seen through noise (EntryEvidence), with Student's t for the degrees of
/// freedom of the row: the batches that tell of it. Rows that were left less than
/// twice are flagged, and those whose visits are less than 3.5 standard deviations of what noise
/// of the readings in other states makes up. Neighbouring batches are put together when there are
/// more than 512; batches of unequal weight count for B = (Σw)²/Σw². O(B A S²).
[[nodiscard]] TransitionEstimate estimate_oas(const MomentSeries& series,
                                              const LeftInverses& inverses, const Pomdp& model,
                                              const OasOptions& options = {});

/// The errors behind the bars of an estimate with these moments and values: factor(i,b) =
/// √(B/(B-1)) (D_b(s,s') - R D_b(s,·)) / D(s,·). Empty below 4 batches.
[[nodiscard]] JointErrors moment_errors(const MomentSeries& series, std::span<const double> values);

/// The same from bare counts of pairs of weight 1; without error bars. In `after` timing this is
/// only valid when actions do not depend on observations.
[[nodiscard]] TransitionEstimate estimate_oas(const PairCounts& counts, const Pomdp& model,
                                              const OasOptions& options = {});

}  // namespace oas
