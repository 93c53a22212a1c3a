#pragma once

#include <vector>

#include "oas/estimation/error_bars/confidence_region.hpp"
#include "oas/estimation/error_bars/detail/likelihood_errors.hpp"

namespace oas::detail {

/// Errors of all entries at a maximum of so many coordinates that their information cannot be
/// stored or inverted. `summit` has no information; `spread` is the likelihood with squared weights
/// by age, or empty.
///
/// *Solves.* z = Σ_b ±g_b, with random signs for the scores g_b of 512 or more batches of rows, has
/// the covariance of the score; H⁻¹z that of the errors (H⁻¹VH⁻¹ with weights by age). It is found
/// by conjugate gradients in RootCoordinates over the entries that are not at 0, with the diagonal
/// of the information as a guide; a product with H is a difference of two scores, one pass. Some
/// ten of them make a solve, and 12 solves give each variance with 12 degrees of freedom.
///
/// *Moderation* (Smyth 2004). The variance of an entry is that of its own coordinate alone, 1/h,
/// times a factor by which not seeing the states makes it larger. The factors are smoothed: a mean
/// and effects of the row and of the state led to, fitted to their logarithms. What the solves'
/// own variances differ from the smooth ones beyond their noise says how many degrees of freedom
/// d the smooth ones are worth; the mean of both, weighted by degrees of freedom, has d + 12 of
/// them, and intervals are Student's.
///
/// *Evidence* as in likelihood_errors(): counts seen through noise inside, slope and curvature
/// (h over the smooth factor) at a bound. No profiles are measured, no second fit is made, and
/// regions are Bonferroni's. `passes` is raised by the passes made.
[[nodiscard]] JointErrors many_state_errors(const Summit& summit, const LikelihoodFunction& spread,
                                            const ErrorContext& context, int& passes);

}  // namespace oas::detail
