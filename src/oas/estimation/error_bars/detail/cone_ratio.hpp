#pragma once

#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/error_bars/detail/penalised_fit.hpp"

namespace oas::detail {

/// How much twice the fall of a profile likelihood, at the truth of one number, is beyond χ² with
/// one degree of freedom where others are 0 and can only be above it. In large logs it is
///
///     min over y >= 0, x at the truth  -  min over y >= 0, any x
///
/// of the squared distance, in the metric of C⁻¹, from a normal point of `covariance` C around the
/// truth, x its first coordinate and the others y (Self and Liang 1987): a difference of
/// projections on two cones. Where entries at 0 lean to the same side, x with all of them is a
/// corner, and eight of them can make of the 95 % point 3.84 one of 8. Returns the 95 % point of χ²
/// over that of the difference, from 400 draws, always the same, which both points share: exactly 1
/// without correlations; at most 1. O(draws · sweeps · n²).
[[nodiscard]] double cone_ratio(const Matrix& covariance);

/// [a][s][s']: of each entry and those that may be 0 and that it leans on most (twelve at most), by
/// the information of `fit`. An entry may be 0 where the summit is no more than a standard error
/// above it. 1 where entries are known beforehand.
[[nodiscard]] std::vector<double> cone_ratios(const Summit& summit, const PenalisedFit& fit);

}  // namespace oas::detail
