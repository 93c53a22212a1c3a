#pragma once

#include <vector>

#include "oas/estimation/error_bars/detail/likelihood_errors.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"

namespace oas::detail {

/// A sensor with σ_S(Z_a) below it hardly tells the states apart.
inline constexpr double kDoubtfulSensor = 0.05;

/// The best end of several climbs.
struct BestClimb {
  LikelihoodEstimate end;  ///< its passes are those of all climbs and of the search for starts
  int climbs = 0;
  /// The maximum on the other side, where the names of two states are exchanged, if that is not
  /// much lower.
  std::vector<OtherMaximum> others;
};

/// `transition` with two states in each other's place.
[[nodiscard]] TransitionModel with_swapped_states(const TransitionModel& transition, State one,
                                                  State other);

/// Climbs from `starts`, models of T or reduced ones as `rows` want them: from the first, and where
/// it does not end, or there may be several maxima, from the others. There may be where a sensor is
/// weak (`weakest` is the smallest σ_S(Z_a)), and in short logs of sensors that are not good. With
/// weak sensors also from the best of some rings, if that is no worse than the noise of the
/// best climb's parameters. Where sensors show two states so much alike that a log of this length
/// may not tell which is which, also from the best end with the two exchanged.
[[nodiscard]] BestClimb best_climb(const LikelihoodRows& rows,
                                   const std::vector<TransitionModel>& starts, const Pomdp& model,
                                   const LikelihoodEstimatorOptions& options, double weakest);

}  // namespace oas::detail
