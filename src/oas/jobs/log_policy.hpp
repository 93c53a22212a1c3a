#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oas/logs/log_options.hpp"
#include "oas/logs/one_log.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/policies/asked_policy.hpp"

namespace oas {

/// How the actions of a log were chosen, as a function of the row before: frequencies of the next
/// action given the last action and observation.
struct LoggedPolicy {
  std::vector<double> given;  ///< [A][O][A]
  std::vector<double> first;  ///< [A], of the first action of a run
  /// [O][A], the same given the first reading, where rows are reading-first; else empty.
  std::vector<double> first_given;
  std::int64_t rows = 0;
  int seen = 0;  ///< pairs (action, observation) that the log has an answer to
};

/// Reads a log and counts. After a pair that the log never has, the frequencies are those after its
/// observation, whatever the action, and where that never comes either those of all rows. A row
/// without observation teaches nothing about the next one. What was looked at beyond the last row
/// (a longer memory, other sensors, the calendar) is not in it. Throws ParseError as LogReader
/// does, and InvalidArgument when the log has no rows.
[[nodiscard]] LoggedPolicy clone_policy(const Pomdp& model, const OneLog& log,
                                        const LogOptions& options = {});

/// Any policy that can be asked for: a text (parse_policy_text), log:FILE (or folder, or
/// pattern), or a file of a plan or policy. Throws as these do.
[[nodiscard]] AskedPolicy ask_policy(const std::string& text, const Pomdp& model,
                                     const LogOptions& options = {});

/// A model with real-valued observations as a policy sees it that answers finite ones: the same
/// dynamics, with the cells that a plan was made for, else with a few evenly filled ones. Throws
/// InvalidArgument where the model has no densities, where a plan is for another model, and for
/// log:FILE and policy graphs, of which nobody knows what their observations are.
[[nodiscard]] Pomdp seen_by_policy(const std::string& text, const ContinuousPomdp& model);

}  // namespace oas
