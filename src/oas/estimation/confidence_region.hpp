#pragma once

#include <limits>
#include <span>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/transition_estimate.hpp"

namespace oas {

/// The errors of all entries of an estimate together: error = factor · g for independent standard
/// normal g, so that factor · factorᵀ is their covariance.
struct JointErrors {
  Matrix factor;                 ///< [a][s][s'] × k
  std::vector<char> determined;  ///< [a][s]: 0 where the row's errors are not known
  /// Of freedom, behind the factor (batches or resamples less one); ∞: it is exact.
  double degrees = std::numeric_limits<double>::infinity();
};

/// Fills standard_error, lower and upper of `estimate`, whose transition is given by `values`, at
/// its confidence: value ± t · se, cut to [0,1]. Rows that are not determined get NaN and [0,1].
/// Takes rows of S entries. Throws InvalidArgument when sizes differ.
///
/// Intervals are around the value, which keeps to 0 <= T, and not around the point that an estimate
/// without that bound would be: the latter leaves intervals of no width at 0 in a twentieth of all
/// cases, and far more where the likelihood is no parabola up to there. Around the value they are
/// never empty, and where an entry is at its bound they hold more often than they promise.
void set_error_bars(const JointErrors& errors, std::span<const double> values,
                    TransitionEstimate& estimate);

/// Adds the simultaneous regions to error bars that are there. The critical value c of a band
/// value ± c · se is the quantile of max |error_i / se_i| over the entries that are to be held
/// together (sup-t band; Montiel Olea and Plagborg-Møller 2019), the radius in L1 that of
/// Σ_{s'} |error|, over draws of g (10,000, fewer for large models, always the same), divided by
/// the root of a chi-square draw where `degrees` is finite. Radii for all rows at once are those of
/// single rows times one factor. Beyond 2048 entries bands and radii are Bonferroni's. O(draws · (A
/// S²)²).
void add_regions(const JointErrors& errors, std::span<const double> values,
                 TransitionEstimate& estimate);

/// The same from the standard errors alone, by Bonferroni's inequality: never too small, if the
/// standard errors are right. The L1 radius of a row is the sum of its half widths.
void add_bonferroni_regions(std::span<const double> values, TransitionEstimate& estimate);

}  // namespace oas
