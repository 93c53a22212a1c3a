#pragma once

#include <functional>

#include "oas/core/rng.hpp"
#include "oas/estimation/likelihood/laplace_posterior.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// How far the log-likelihood of a member may lie below the largest: half the upper quantile of the
/// χ² law with d degrees of freedom, which by Wilks' theorem makes {T : ℓ(T) >= max ℓ - drop} a
/// set that holds the truth with probability 1 - delta, for many rows and a truth inside the set of
/// models. d > 0, delta in (0, 1).
[[nodiscard]] double likelihood_drop(double degrees, double delta);

/// What a search found in {T : ℓ(T) >= ℓ(mode) - drop}.
struct OptimisticMember {
  TransitionModel transition;
  double gain = 0.0;
  double log_likelihood = 0.0;
  int solves = 0;  ///< calls of `gain`
};

struct LikelihoodSetSearch {
  int starts = 1;  ///< random ones, beside the mode; at least 0
  int moves = 4;   ///< from each start, at most; at least 1
};

/// The member with the largest gain that was met: from every start the search goes to the edge of
/// the set in the direction in which the gain rises most, by the metric of the observed
/// information, as long as that helps. Were the set an ellipsoid and the gain linear, the first
/// move would be the answer. Compared with enumeration on models with two states; no proof that
/// none is better. `gain` of a model, planned for it. A move costs d gains and a dozen passes.
[[nodiscard]] OptimisticMember most_optimistic_member(
    const LikelihoodFunction& likelihood, const LaplacePosterior& posterior, double drop,
    const std::function<double(const TransitionModel&)>& gain, const LikelihoodSetSearch& search,
    Rng rng);

}  // namespace oas
