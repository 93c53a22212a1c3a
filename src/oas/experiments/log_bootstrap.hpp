#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/bootstrap.hpp"
#include "oas/experiments/log_estimation.hpp"
#include "oas/experiments/log_likelihood.hpp"
#include "oas/io/log_reader.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// Reads the rows of all files, in their order, into one block. Throws InvalidArgument when they
/// need more than `memory_limit` bytes, and on a pipe: the rows were read before.
[[nodiscard]] LogBlock read_rows(const Pomdp& model, std::span<const std::string> paths,
                                 std::size_t memory_limit);

/// Parametric bootstrap: `resamples` times, observations of all runs are simulated under `fitted`
/// (sensors, start and estimated transition) with the actions as they were logged, and `again`
/// makes an estimate [a][s][s'] of them. Actions that reacted to observations do not react to the
/// simulated ones: the exact law of such a log needs the policy. Of the logged observations only
/// is looked at which are missing.
[[nodiscard]] Resampled resample_parametric(
    const Pomdp& fitted, const LogBlock& log,
    const std::function<std::vector<double>(const LogBlock&)>& again,
    const BootstrapOptions& options, Parallelism parallelism = {});

/// What moments are made with.
struct MomentSetting {
  const Pomdp& model;
  const LeftInverses& inverses;
  const FoldOptions& fold;
};

/// Replaces the error bars of `estimate`, made of `series` from `paths`, by those of
/// options.error_bars, a bootstrap. Does nothing where there are none.
void bootstrap_moments(const MomentSetting& setting, const MomentSeries& series,
                       std::span<const std::string> paths, const LogEstimationOptions& options,
                       Parallelism parallelism, TransitionEstimate& estimate);

/// The same for an estimate that is the maximum of a likelihood. Throws InvalidArgument when the
/// rows are not in memory.
void bootstrap_likelihood(const Pomdp& model, const LogLikelihood& log,
                          const LikelihoodOptions& climb, const LogEstimationOptions& options,
                          Parallelism parallelism, TransitionEstimate& estimate);

}  // namespace oas
