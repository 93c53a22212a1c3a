#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "oas/core/parallel.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// How to estimate from log files.
struct LogEstimationOptions {
  std::string estimator = "oas-overlap";
  double confidence = 0.95;
  /// The user's word that the logged actions do not depend on observations; `after` timing without
  /// usable propensities needs it.
  bool actions_ignore_observations = false;
};

/// Called now and then with the number of rows read since the last call; from any thread, one at a
/// time.
using RowsRead = std::function<void(std::int64_t rows)>;

/// Folds any number of log files, each of any length, in constant memory and estimates the
/// transition model from the sensors of `model` (its own transition, if any, is not looked at).
/// Files are read in parallel and combined in the order given: same bits for any number of threads.
/// Throws InvalidArgument that explains itself when the log cannot identify the model: an `after`
/// log without propensities, or whose propensities are all 1, from a policy that may react.
[[nodiscard]] TransitionEstimate estimate_from_logs(const Pomdp& model,
                                                    std::span<const std::string> paths,
                                                    const LogEstimationOptions& options,
                                                    Parallelism parallelism = {},
                                                    const RowsRead& progress = {});

}  // namespace oas
