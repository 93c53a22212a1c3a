#pragma once

#include <functional>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/estimation/error_bars/bootstrap.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/row_source.hpp"

namespace oas {

/// Parametric bootstrap: `resamples` times, observations of all runs are simulated under `fitted`
/// (sensors, start and estimated transition) with the actions as they were logged, and `again`
/// makes an estimate [a][s][s'] of them. Actions that reacted to observations do not react to the
/// simulated ones: the exact law of such a log needs the policy. Of the logged observations only
/// is looked at which are missing. With a team all ranks call it (resampled_estimates()).
[[nodiscard]] Resampled resample_parametric(
    const Pomdp& fitted, const RowBlock& log,
    const std::function<std::vector<double>(const RowBlock&)>& again,
    const BootstrapOptions& options, Parallelism parallelism = {});

/// Replaces the error bars of `estimate`, made of `evidence` from `source`, by those of a
/// bootstrap, how.bootstrap. Does nothing where there are none. Throws InvalidArgument when rows
/// are needed in memory and take more than the limit, or cannot be read again. With a team in
/// asked.parallelism the others help_bootstrap(); resamples are dealt out where each of them takes
/// all rows (bootstrap_needs_rows()), and rank 0 sends these to all.
void bootstrap_errors(const Evidence& evidence, const Pomdp& model, RowSource& source,
                      const Estimation& how, const EstimateOptions& asked,
                      TransitionEstimate& estimate);

/// Another rank's part, with an evidence of the same make as rank 0 has. Throws Dismissed at the
/// end.
void help_bootstrap(Evidence evidence, const Pomdp& model, const Estimation& how,
                    const EstimateOptions& asked);

/// Whether resamples are made of all rows, and not of the sums that moments are.
[[nodiscard]] bool bootstrap_needs_rows(const Estimation& how);

}  // namespace oas
