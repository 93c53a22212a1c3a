#pragma once

#include <span>
#include <string>

#include "oas/core/parallel.hpp"
#include "oas/experiments/log_estimation.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// The estimator `spectral` from log files: each is read once, in parallel, in constant memory, and
/// their triples are added up; same bits for any number of threads. Uses the fixed stream
/// (1, 0, estimation). Propensities are not looked at; see estimation/spectral.hpp for the logs
/// that it is valid for.
[[nodiscard]] TransitionEstimate estimate_spectral_from_logs(const Pomdp& model,
                                                             std::span<const std::string> paths,
                                                             Parallelism parallelism = {},
                                                             const RowsRead& progress = {});

}  // namespace oas
