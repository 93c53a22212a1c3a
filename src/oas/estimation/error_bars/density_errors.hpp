#pragma once

#include <vector>

#include "oas/estimation/transition_estimate.hpp"

namespace oas {

/// Adds to the error bars of `estimate` what is not known about its densities, from the estimates
/// of the same rows under K random ones, `drawn`. With T_k and V_k their values and variances,
///
///     variance = mean of V_k + (1 + 1/K) · variance of T_k            (Rubin 1987),
///
/// and limits are those of the mixture of K laws, law k being normal on either side of T_k with the
/// limits of estimate k. So bounds are kept, and whatever made the limits counts. Regions where
/// there are some become Bonferroni's; draws of T, if the estimates have some, are taken from all
/// of them. A row that is not determined under more than half of the densities is not determined.
/// Throws InvalidArgument when there are fewer than two or sizes differ.
void add_density_errors(const std::vector<TransitionEstimate>& drawn, TransitionEstimate& estimate);

}  // namespace oas
