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
/// is looked at which are missing.
[[nodiscard]] Resampled resample_parametric(
    const Pomdp& fitted, const RowBlock& log,
    const std::function<std::vector<double>(const RowBlock&)>& again,
    const BootstrapOptions& options, Parallelism parallelism = {});

/// Replaces the error bars of `estimate`, made of `evidence` from `source`, by those of a
/// bootstrap, how.bootstrap. Does nothing where there are none. Throws InvalidArgument when rows
/// are needed in memory and take more than the limit, or cannot be read again.
void bootstrap_errors(const Evidence& evidence, const Pomdp& model, RowSource& source,
                      const Estimation& how, const EstimateOptions& asked,
                      TransitionEstimate& estimate);

}  // namespace oas
