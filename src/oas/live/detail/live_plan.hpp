#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "oas/model/transition_model.hpp"

namespace oas::detail {

/// What a learner has worked out: dynamics to play by, and how good they are. It stands in the
/// journal where it came into force, so that nothing need be planned again to go on from there.
struct LivePlan {
  std::int64_t number = 0;             ///< from 1; 0: of an agent that does not learn
  std::int64_t rows = 0;               ///< that it was made from: the first ones of the journal
  TransitionModel transition;          ///< that is played
  std::vector<double> bias;            ///< at the points of the belief grid
  TransitionModel estimate;            ///< T̂
  std::vector<double> standard_error;  ///< [a][s][s'], NaN where unknown; empty: not made
  std::vector<double> counts;          ///< [a][s][s']: transitions that were seen, as expected
  double gain = 0.0;                   ///< of what is played, in its own eyes
  double optimistic_gain = 0.0;        ///< bound over the confidence set, where there is one
  double radius = 0.0;                 ///< largest row radius of that set
  int flagged_rows = 0;                ///< rows of T̂ that the data did not determine
  /// Do the rows fit the sensors; see SensorFit. NaN: not tested.
  double fit_p_value = std::numeric_limits<double>::quiet_NaN();
  std::string status;   ///< of the planner
  std::string failure;  ///< what went wrong inside the estimator; empty: nothing

  /// How far other dynamics are from those that are played: total variation of a step, in the mean
  /// over the transitions that were seen.
  [[nodiscard]] double distance(const TransitionModel& other) const;

  [[nodiscard]] std::string to_bytes() const;
  /// Throws InvalidArgument on bytes that are no plan for so many states, actions and grid points.
  [[nodiscard]] static LivePlan parse(std::string_view bytes, int num_states, int num_actions,
                                      std::size_t grid_points);
};

}  // namespace oas::detail
