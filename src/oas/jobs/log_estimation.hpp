#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "oas/core/settings.hpp"
#include "oas/estimation/error_bars/bootstrap.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/logs/log_options.hpp"

namespace oas {

/// What to make of the labelled rows behind a model's sensors (Pomdp::observation_counts).
enum class SensorUse {
  automatic,  ///< uncertain where the model has counts and the estimator can
  exact,      ///< the sensors are as the model says
  uncertain,  ///< throws where that cannot be
};

/// An estimator by name and all that it can be told.
struct Estimation {
  std::string estimator = "oas-ml";
  EvidenceOptions evidence;
  EstimateOptions estimate;
  BootstrapOptions bootstrap;  ///< needs the rows in memory, up to evidence.memory_limit
  SensorUse sensors = SensorUse::automatic;
  LogOptions rows;  ///< how rows stand in the files; known states are for likelihood estimators
  /// What is known of T, as read_structure() reads it, in place of estimate.structure.
  std::vector<std::string> structures;

  /// Shows the settings that the estimator looks at; for real-valued observations, and for
  /// densities that are known exactly, some are not.
  void visit(SettingFields& fields, bool real_valued = false, bool exact_densities = false);
};

/// The settings of all estimators, each with those that look at it.
[[nodiscard]] std::vector<SharedSetting> estimation_settings();

/// An estimation of rows of `model` with these settings. Throws InvalidArgument on one that the
/// estimator does not look at, naming those that do.
[[nodiscard]] Estimation estimation_from(const std::string& estimator, const AnyModel& model,
                                         std::span<const Setting> settings);
/// The same for logs whose rows are read so; known states are among the settings.
[[nodiscard]] Estimation estimation_from(const std::string& estimator, const AnyModel& model,
                                         std::span<const Setting> settings, const LogOptions& rows);

/// What the rows of a log are read with: a finite model takes a log that brings likelihoods like
/// one without sensors.
[[nodiscard]] AnyModel row_model(const AnyModel& model, const std::string& log,
                                 const LogOptions& options = {});

/// Estimates the transition model from any number of log files, each of any length, and the sensors
/// of `model` (its own transition, if any, is not looked at), in constant memory. Same bits for any
/// number of threads, and however the runs are dealt out to files.
/// Moments: files are read once, in parallel. Throws InvalidArgument that explains itself when the
/// log cannot identify the model: an `after` log without propensities, or whose propensities are
/// all 1, from a policy that may react.
/// Weighted moments: files are read twice; pipes are refused.
/// Likelihood: files are read in their order, and again in every pass when they are larger than
/// the memory limit; valid under every policy. The progress is also told the rows of every pass.
/// Throws InvalidArgument on a pipe that would have to be read again, and on an observation that
/// the sensors, or all transitions that the structure allows, rule out.
/// Posterior: files are read once, in their order, by one thread; valid under every policy.
///
/// Known states (rows.known_states) make the rows of a finite model such that bring likelihoods;
/// weights by age, bootstraps and uncertain sensors do not go with them.
///
/// Real-valued observations, and logs that bring likelihoods: likelihood takes every row with its
/// likelihoods, started at the soft moments; soft moments (oas-soft) take the mean matrices from
/// the densities, or where the log brings likelihoods from its rows (those that fit into
/// the memory limit), and error bars then leave out what is not known about them; moments work
/// on cells, which a log with likelihoods does not allow. The other estimators throw
/// InvalidArgument: they need finite observations.
/// Throws InvalidArgument, too, where something is set that the estimator does not look at.
/// With a team all ranks call it; the estimate is rank 0's, that of others is empty.
[[nodiscard]] TransitionEstimate estimate_from_logs(const AnyModel& model,
                                                    std::span<const std::string> paths,
                                                    const Estimation& how = {});

/// Opens rows for a model; what they are told of is `progress`. Whoever makes one ignores what does
/// not concern it.
using OpenRows = std::function<std::unique_ptr<RowSource>(
    const AnyModel& model, const RowsRead& progress, const LogOptions& options)>;

/// The same from rows of finite observations that are not in files. Throws as estimate_from_logs()
/// does, and on known states.
[[nodiscard]] TransitionEstimate estimate_from_rows(const Pomdp& model, const OpenRows& open,
                                                    const Estimation& how = {});

}  // namespace oas
