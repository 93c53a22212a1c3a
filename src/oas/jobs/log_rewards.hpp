#pragma once

#include <span>
#include <string>
#include <vector>

#include "oas/estimation/transition_estimate.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/row_source.hpp"

namespace oas {

/// Whether rewards can be learned from these logs: the model has none, and each log has a column
/// `reward` and can be read again.
[[nodiscard]] bool brings_rewards(const AnyModel& model, std::span<const std::string> logs,
                                  const LogOptions& options = {});

/// Estimates the mean reward r(a,s) of every action in every state from the column `reward`, and
/// puts it into an estimate of the dynamics: least squares of the reward on the belief before the
/// row, kept with the estimated dynamics. That belief knows nothing of the row itself, so it does
/// not matter whether rewards come from the state, the next one or the reading. Standard errors are
/// those of batches of rows; the error of the dynamics is left out. Where the log does not tell
/// r(a,s), its standard error is NaN and there is a warning: where the action was taken with other
/// beliefs only (less than one visit's worth of them in s) or never, r(a,s) is the least reward in
/// the log, so that no plan seeks it out; where states cannot be told apart, it is as near to the
/// mean reward of the action as the rows allow. Without any reward in the log there is only a
/// warning. Reads the logs once, one run in memory at a time.
void estimate_rewards(const AnyModel& model, std::span<const std::string> logs,
                      TransitionEstimate& estimate, const LogOptions& options = {},
                      const RowsRead& progress = {});

}  // namespace oas
