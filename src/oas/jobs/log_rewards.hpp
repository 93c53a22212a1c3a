#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/row_source.hpp"

namespace oas {

/// Whether rewards can be learned from these logs: the model has none, and each log has a column
/// `reward` and can be read again.
[[nodiscard]] bool brings_rewards(const AnyModel& model, std::span<const std::string> logs,
                                  const LogOptions& options = {});

/// How rewards are learned.
struct RewardEstimation {
  LogOptions rows;
  std::uint64_t seed = 1;  ///< same seed, same bytes
  Parallelism parallelism;
  RowsRead progress;
};

/// Estimates the mean reward r(a,s) of every action in every state from the column `reward`, and
/// puts it into an estimate of the dynamics: least squares of the reward on the belief before the
/// row, kept with the estimated dynamics. That belief knows nothing of the row itself, so it does
/// not matter whether rewards come from the state, the next one or the reading. Standard errors are
/// those of batches of rows and, where the estimate carries draws of the dynamics, what these make
/// of the same rows; without draws the error of the dynamics is left out. Where the log does not
/// tell r(a,s), its standard error is NaN and there is a warning: where the action was taken with
/// other beliefs only (less than one visit's worth of them in s) or never, r(a,s) is the least
/// reward in the log, so that it does not look better than what was tried; where states cannot be
/// told apart, it is as near to the mean reward of the action as the rows allow. Without any reward
/// in the log there is only a warning.
///
/// Where the estimate carries draws of the dynamics, rewards are drawn with each: least squares
/// with the beliefs of these dynamics, plus a normal error with the covariance of the batches. So
/// they hold both errors. What the log does not tell is the same guess in all of them.
///
/// Reads the logs once, some 2^16 rows in memory at a time; every draw filters all rows. With a
/// team the draws are dealt out, all ranks call it, and `estimate` is that of rank 0. Same bytes
/// for any number of threads and ranks.
void estimate_rewards(const AnyModel& model, std::span<const std::string> logs,
                      TransitionEstimate& estimate, const RewardEstimation& how = {});

/// estimate_from_logs(), and estimate_rewards() where the logs bring rewards that the model lacks:
/// all that `oas estimate` makes of logs. Returns on rank 0 of a team only.
[[nodiscard]] TransitionEstimate estimate_dynamics_and_rewards(const AnyModel& model,
                                                               std::span<const std::string> logs,
                                                               const Estimation& how);

}  // namespace oas
