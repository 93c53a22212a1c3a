#pragma once

#include <limits>
#include <span>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/error_bars/entry_evidence.hpp"
#include "oas/estimation/transition_estimate.hpp"

namespace oas {

/// The errors of all entries of an estimate together: error = factor · g for independent standard
/// normal g, so that factor · factorᵀ is their covariance; and the evidence for each entry, which
/// knows of bounds and small numbers.
struct JointErrors {
  Matrix factor;                 ///< [a][s][s'] × k
  std::vector<char> determined;  ///< [a][s]: 0 where the row's errors are not known
  /// [a][s][s']; empty: parabolas around the values, with the variances of the factor.
  std::vector<EntryEvidence> evidence;
  /// Of freedom, behind the factor (batches or resamples less one); ∞: it is exact. Where there is
  /// evidence, that of its entries counts.
  double degrees = std::numeric_limits<double>::infinity();
  /// The factor has one column, of standard errors: how entries go together is not known, and
  /// regions are Bonferroni's.
  bool alone = false;
};

/// Evidence of counts: for estimates whose variances are those of the factor, with so many visits
/// of each row behind them.
[[nodiscard]] std::vector<EntryEvidence> evidence_of_counts(const JointErrors& errors,
                                                            std::span<const double> values,
                                                            std::span<const double> visits);

/// Fills standard_error, lower and upper of `estimate`, whose transition is given by `values`, at
/// its confidence: the intervals of the evidence. They contain the value; at 0 or 1 they begin
/// there, and the standard error is the interval's length over that of a normal error of size 1; so
/// it is, if larger, where there is a second opinion.
/// Rows that are not determined get NaN and [0,1]. Takes rows of S entries. Throws InvalidArgument
/// when sizes differ.
void set_error_bars(const JointErrors& errors, std::span<const double> values,
                    TransitionEstimate& estimate);

/// Rows that were left less than twice, and those for an entry of which the evidence is flat, are
/// not determined after all: marks them in `errors`, takes their error bars out of `estimate` and
/// returns them. Rows with wide intervals stay: leaving these out would select by what was seen,
/// and intervals of the others would hold less often than they promise.
std::vector<std::size_t> drop_empty_rows(std::span<const double> visits, JointErrors& errors,
                                         TransitionEstimate& estimate);

/// Adds the simultaneous regions to error bars that are there. The critical value c of normal
/// errors is the quantile of max |error_i / se_i| over the entries that are to be held together
/// (sup-t band; Montiel Olea and Plagborg-Møller 2019), entries at 0 taken as independent of the
/// others (an entry at 1 loses what they gain); the band is made of the intervals of the evidence
/// at level 2Φ(c) - 1. The radius in L1 is the quantile of Σ_{s'} |error|, times how much farther
/// the intervals of the row reach than normal errors do. Both over draws of g (10,000, fewer for
/// large models, always the same). Radii for all rows at once are those of single rows times one
/// factor. Beyond 2048 entries bands and radii are Bonferroni's. O(draws · (A S²)²).
void add_regions(const JointErrors& errors, std::span<const double> values,
                 TransitionEstimate& estimate);

/// The same from the standard errors alone, by Bonferroni's inequality: never too small, if the
/// standard errors are right and errors normal. The L1 radius of a row is the sum of its half
/// widths.
void add_bonferroni_regions(std::span<const double> values, TransitionEstimate& estimate);

/// The same of a posterior with these means: shares near 0 and 1 are skewed, and of many the far
/// tails count. Bands hold those above, those of counts with the same means and variances (the
/// tail of a share that was seen once is an exponential one), and the intervals of the estimate.
void add_posterior_regions(std::span<const double> means, TransitionEstimate& estimate);

}  // namespace oas
