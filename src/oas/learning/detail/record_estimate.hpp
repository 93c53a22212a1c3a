#pragma once

#include <fmt/format.h>

#include <string>

#include "oas/estimation/transition_estimate.hpp"
#include "oas/learning/episode.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// What went wrong in a row, with the names of its action and state.
inline std::string failure_of(const FlaggedRow& row, const Pomdp& sensors) {
  return fmt::format("row ({}, {}): {}", sensors.actions()[row.action], sensors.states()[row.state],
                     row.reason);
}

/// The estimate, its flagged rows and the first reason go into the record of an episode.
inline void record_estimate(const TransitionEstimate& estimate, const Pomdp& sensors,
                            Episode& episode) {
  episode.flagged_rows = static_cast<int>(estimate.flagged.size());
  episode.transition = estimate.transition;
  if (!estimate.flagged.empty()) episode.failure = failure_of(estimate.flagged.front(), sensors);
}

}  // namespace oas::detail
