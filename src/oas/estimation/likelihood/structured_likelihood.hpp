#pragma once

#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/transition_structure.hpp"

namespace oas {

/// The likelihood as a function of the reduced model R of a structure (see there): log-likelihood
/// at T = expand(R), score and expected counts of R. With N(r,j) the expected counts of T and r
/// running over the rows equal to l,
///   score R(l,j) = m Σ_r score T(r,j),   counts R(l,j) = Σ_r N(r,j),
/// so that R(l,·) ∝ counts is the step of expectation-maximisation within the structure: counts
/// pooled over equal rows, mass m shared among the entries left. The structure and what
/// `likelihood` refers to must outlive the result. O(A S²) beyond the pass itself.
[[nodiscard]] LikelihoodFunction reduced_likelihood(const TransitionStructure& structure,
                                                    LikelihoodFunction likelihood);

/// Turns an estimate of R into one of T: standard errors and limits times m, fixed entries with
/// standard error 0, equal rows alike, flags for all of them. `visits` are those of T, [a][s].
void expand_estimate(const TransitionStructure& structure, const std::vector<double>& visits,
                     TransitionEstimate& estimate);

/// Climbs within a structure: maximize_likelihood() over R. `start` is reduced first; entries that
/// are free and 0 in it stay 0. All of the result is in terms of T.
[[nodiscard]] LikelihoodEstimate maximize_likelihood(const LikelihoodFunction& likelihood,
                                                     const TransitionModel& start,
                                                     const TransitionStructure& structure,
                                                     const LikelihoodOptions& options = {});

}  // namespace oas
