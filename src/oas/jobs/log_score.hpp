#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// A mean over the observed rows of a log with its standard error.
struct ScoreMean {
  double value = 0.0;           ///< -∞ when some row is impossible
  double standard_error = 0.0;  ///< NaN when unknown: too few rows, or an impossible one
};

/// How well models predict the observations of a log that they were not made from.
struct LogScore {
  std::vector<ScoreMean> models;       ///< log P(o_t | rows before, a_t), natural logarithm
  std::vector<ScoreMean> differences;  ///< of each model's score to the first one's, row by row
  std::vector<std::int64_t> impossible_rows;  ///< [model]: rows that the model gives probability 0
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  std::int64_t missing = 0;  ///< rows that tell nothing of the state; they only move the belief
  int num_batches = 0;
};

/// Filters the rows of all files with every model, in constant memory, and averages the logarithms
/// of the probabilities of what was observed. Errors from the spread of batches of consecutive
/// rows (at least 16 of 64 rows), which takes in that rows depend on each other; differences are
/// paired, so they are known much better than the scores. Files are read in parallel: same bits for
/// any number of threads. O(rows · models · S²). Throws InvalidArgument when a model has no
/// transition or when the models' actions, observations or timings differ.
/// With LogOptions::known_states a row counts with the probability of its observation and of the
/// state it is known to come from.
[[nodiscard]] LogScore score_logs(std::span<const Pomdp> models, std::span<const std::string> paths,
                                  Parallelism parallelism = {}, const RowsRead& progress = {},
                                  const LogOptions& options = {});

/// The same for real-valued observations, where probabilities are densities, and for logs that
/// bring likelihoods (only differences between models mean something then). Each model uses its own
/// densities.
[[nodiscard]] LogScore score_logs(std::span<const ContinuousPomdp> models,
                                  std::span<const std::string> paths, Parallelism parallelism = {},
                                  const RowsRead& progress = {}, const LogOptions& options = {});

}  // namespace oas
