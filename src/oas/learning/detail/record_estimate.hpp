#pragma once

#include <fmt/format.h>

#include <optional>

#include "oas/estimation/likelihood/maximum_likelihood.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/learning/episode.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// What went wrong in a row, with the names of its action and state.
inline Episode::Failure failure_of(const FlaggedRow& row, const Pomdp& sensors) {
  return {Episode::Failure::Kind::undetermined_row,
          fmt::format("row ({}, {}): {}", sensors.actions()[row.action],
                      sensors.states()[row.state], row.reason)};
}

/// None when the climb came to its end.
inline std::optional<Episode::Failure> failure_of(const LikelihoodEstimate& climb) {
  if (climb.status == LikelihoodStatus::converged) return std::nullopt;
  const bool impossible = climb.status == LikelihoodStatus::impossible;
  return Episode::Failure{
      impossible ? Episode::Failure::Kind::impossible_rows : Episode::Failure::Kind::likelihood_cut,
      climb.brief()};
}

/// The estimate, its flagged rows and the first reason go into the record of an episode.
inline void record_estimate(const TransitionEstimate& estimate, const Pomdp& sensors,
                            Episode& episode) {
  episode.flagged_rows = static_cast<int>(estimate.flagged.size());
  episode.transition = estimate.transition;
  if (!estimate.flagged.empty()) episode.failure = failure_of(estimate.flagged.front(), sensors);
}

}  // namespace oas::detail
