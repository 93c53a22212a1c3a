#pragma once

#include <span>
#include <string>

#include "oas/core/parallel.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/experiments/log_estimation.hpp"
#include "oas/io/log_reader.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/theory/cell_search.hpp"

namespace oas {

/// estimate_from_logs() for real-valued observations, and for logs that bring likelihoods. Same
/// bits for any number of threads.
/// Likelihood (oas-ml, em): every row with its likelihoods, started at the soft moments; files are
/// read again in every pass when they are larger than options.memory_limit.
/// Soft moments (oas-soft): the mean matrices come from the densities; where the log brings
/// likelihoods, from its rows (those that fit into options.memory_limit), and error bars then leave
/// out what is not known about them.
/// Moments of cells (oas, oas-overlap): on `cells`, which a log with likelihoods does not allow.
/// Throws InvalidArgument for the other estimators, which need finite observations.
[[nodiscard]] TransitionEstimate estimate_from_logs(const ContinuousPomdp& model,
                                                    std::span<const std::string> paths,
                                                    const LogEstimationOptions& options,
                                                    const CellSearchOptions& cells,
                                                    Parallelism parallelism = {},
                                                    const RowsRead& progress = {});

/// Replaces the real-valued observations of a block by their cells.
void to_cells(LogBlock& block, const Cells& cells);

}  // namespace oas
