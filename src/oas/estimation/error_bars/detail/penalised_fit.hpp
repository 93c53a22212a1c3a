#pragma once

#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/error_bars/detail/profile_likelihood.hpp"

namespace oas::detail {

/// `objective` + prior · Σ log T over all entries but those that are 0 in `like`, known to be 0.
[[nodiscard]] LikelihoodFunction with_prior(LikelihoodFunction objective, double prior,
                                            const TransitionModel& like);

/// `at` with a share of each row evenly over its entries that are not known to be 0.
[[nodiscard]] TransitionModel loosened(const TransitionModel& at);

/// The maximum of a likelihood together with half an imaginary transition of every entry.
struct PenalisedFit {
  TransitionModel at;
  std::vector<double> errors;  ///< [a][s][s'], from the curvature there; empty: not found
  /// -∂² of the likelihood alone there; coordinates: FreeCoordinates(at). Not of the bound, where
  /// curvature says nothing about the way inside.
  Matrix information;
};

/// Where a log says little, the likelihood is highest in some corner of the set of models that
/// suits its noise, and falls steeply from there: curvature and profile at that summit are no
/// measure of what is known. Half a transition for every entry moves the fit inside as far as the
/// log does not object. Climbed from `summit`; `passes` is raised by the passes made. Nothing is
/// found where they would be too dear for a log of so many `rows`.
[[nodiscard]] PenalisedFit penalised_fit(const Summit& summit, double rows, int& passes);

}  // namespace oas::detail
