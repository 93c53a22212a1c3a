#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "oas/core/parallel.hpp"
#include "oas/counts/forgetting.hpp"
#include "oas/estimation/bootstrap.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/particle_posterior.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/estimation/transition_structure.hpp"
#include "oas/model/row_source.hpp"
#include "oas/theory/cell_search.hpp"

namespace oas {

/// What to make of the labelled rows behind a model's sensors (Pomdp::observation_counts).
enum class SensorUse {
  automatic,  ///< uncertain where the model has counts and the estimator can
  exact,      ///< the sensors are as the model says
  uncertain,  ///< throws where that cannot be
};

/// How to estimate from log files.
struct LogEstimationOptions {
  std::string estimator = "oas-ml";
  double confidence = 0.95;
  /// Of moments and likelihood; resampling keeps the rows in memory, up to memory_limit.
  ErrorBars error_bars = ErrorBars::asymptotic;
  int resamples = 200;  ///< of a bootstrap
  /// The user's word that the logged actions do not depend on observations; `after` timing without
  /// usable propensities needs it.
  bool actions_ignore_observations = false;
  /// Likelihood: imaginary transitions added to every entry, see LikelihoodOptions::prior.
  double prior = 0.0;
  /// Likelihood: rows are kept in memory up to so many bytes; beyond, files are read in each pass.
  std::size_t memory_limit = std::size_t{256} << 20;
  /// Moments and likelihood: weights by age; other estimators refuse them.
  Forgetting forgetting;
  /// Likelihood: what is known of T beforehand; other estimators refuse it.
  TransitionStructure structure;
  /// Likelihood: see UncertainSensors; other estimators take sensors as exact, and say so.
  SensorUse sensors = SensorUse::automatic;
  ParticleOptions particles;  ///< of the estimator `particle`
  std::uint64_t seed = 1;     ///< of its random numbers, and of a bootstrap's
  CellSearchOptions cells;    ///< of real-valued observations, where moments need finite ones
};

/// Estimates the transition model from any number of log files, each of any length, and the sensors
/// of `model` (its own transition, if any, is not looked at), in constant memory. Same bits for any
/// number of threads, and however the runs are dealt out to files.
/// Moments: files are read once, in parallel. Throws InvalidArgument that explains itself when the
/// log cannot identify the model: an `after` log without propensities, or whose propensities are
/// all 1, from a policy that may react.
/// Weighted moments: files are read twice; pipes are refused.
/// Likelihood: files are read in their order, and again in every pass when they are larger than
/// options.memory_limit; valid under every policy. `progress` is also told the rows of every pass.
/// Throws InvalidArgument on a pipe that would have to be read again, and on an observation that
/// the sensors, or all transitions that options.structure allows, rule out.
/// Posterior: files are read once, in their order, by one thread; valid under every policy.
///
/// A finite model takes logs that bring likelihoods like one without sensors.
/// Real-valued observations, and logs that bring likelihoods: likelihood takes every row with its
/// likelihoods, started at the soft moments; soft moments (oas-soft) take the mean matrices from
/// the densities, or where the log brings likelihoods from its rows (those that fit into
/// options.memory_limit), and error bars then leave out what is not known about them; moments work
/// on options.cells, which a log with likelihoods does not allow. The other estimators throw
/// InvalidArgument: they need finite observations.
[[nodiscard]] TransitionEstimate estimate_from_logs(const RowModel& model,
                                                    std::span<const std::string> paths,
                                                    const LogEstimationOptions& options,
                                                    Parallelism parallelism = {},
                                                    const RowsRead& progress = {});

}  // namespace oas
