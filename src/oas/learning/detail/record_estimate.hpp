#pragma once

#include "oas/estimation/transition_estimate.hpp"
#include "oas/learning/episode.hpp"

namespace oas::detail {

/// The estimate, its flagged rows and the first reason go into the record of an episode.
inline void record_estimate(const TransitionEstimate& estimate, Episode& episode) {
  episode.flagged_rows = static_cast<int>(estimate.flagged.size());
  episode.transition = estimate.transition;
  if (!estimate.flagged.empty()) episode.failure = estimate.flagged.front().reason;
}

}  // namespace oas::detail
