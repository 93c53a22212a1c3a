#pragma once

#include <optional>

#include "oas/core/rng.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// A model from the posterior given all rows, each row of T Dirichlet(1/S, …, 1/S) before: `sweeps`
/// sweeps of Gibbs sampling (hidden paths given T, T given the paths) from `start` on. Each sweep
/// leaves the posterior as it is, so that a start drawn from the posterior of fewer rows is soon
/// one of this, and one sweep after the other is an endless chain. Where `start` cannot explain the
/// rows the chain starts at even dynamics. None: nothing explains them. Throws InvalidArgument
/// on a start of other sizes, and on fewer sweeps than one. O(rows · S²) per sweep.
[[nodiscard]] std::optional<TransitionModel> draw_from_posterior(const TransitionLikelihood& rows,
                                                                 const TransitionModel& start,
                                                                 int sweeps, Rng rng);

}  // namespace oas
