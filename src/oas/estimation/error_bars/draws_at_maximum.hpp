#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/estimation/error_bars/confidence_region.hpp"

namespace oas {

/// Draws of T from what the curvature at a maximum of the likelihood says of its posterior, rows of
/// T Dirichlet(1/k, …, 1/k) before, over the k entries that `values` do not have at exactly 0, as
/// what a structure rules out: [draw][a][s][s'].
///
/// Errors go together as the factor says. Each entry but the largest of its row follows the gamma
/// law of as many counts as its value and variance are worth, with the prior's 1/k more; where the
/// maximum lies at 0 the likelihood falls by 3 up to the upper 95 % limit of the evidence, and the
/// law is the prior's seen through that, into which the other one goes over within a standard error
/// of 0. The largest entry takes what is left. Rows that are not determined are drawn from the
/// prior. For long logs: with few transitions of a kind, or several maxima, paths must be drawn
/// (see posterior_run.hpp). Throws InvalidArgument when sizes differ or there is no evidence.
/// O(count · entries · columns of the factor).
[[nodiscard]] std::vector<double> draws_at_maximum(const JointErrors& errors,
                                                   std::span<const double> values,
                                                   std::size_t num_states, std::size_t count,
                                                   Rng rng);

}  // namespace oas
