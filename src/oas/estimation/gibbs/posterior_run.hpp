#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/core/rng.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/estimation/transition_structure.hpp"
#include "oas/model/row_source.hpp"

namespace oas::detail {

/// How draws are made around an estimate.
struct PosteriorRun {
  std::size_t draws = 200;
  const TransitionStructure& structure;
  std::optional<double> concentration;  ///< see TransitionPrior
  StreamKey stream;
  Parallelism parallelism;
  RowsRead progress;
};

/// Whether drawing all paths of so many rows hundreds of times takes seconds, not minutes. So many
/// rows take 10 MB of memory at most.
[[nodiscard]] bool can_draw_paths(std::int64_t rows, int num_states);

/// Draws of T from its exact posterior given all rows, [draw][a][s][s'], for an estimate that was
/// made otherwise: by chains that start near it, scattered by its standard errors, and go on until
/// they agree, as far as a few seconds of work allow. The prior is that of the estimator gibbs.
/// Where they do not agree by then it is said in the estimate's warnings. Empty where no path could
/// be drawn, and where rows are so many that work ran out, if the estimate has draws of another
/// kind. O(rows · S²) for each of 300 sweeps and more.
[[nodiscard]] std::vector<double> draws_around(const TransitionLikelihood& rows,
                                               const PosteriorRun& how,
                                               TransitionEstimate& estimate);

}  // namespace oas::detail
