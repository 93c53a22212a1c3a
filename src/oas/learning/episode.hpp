#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "oas/model/transition_model.hpp"

namespace oas {

/// What happened at the start of one episode of a learning agent, so that a run can be understood
/// afterwards.
struct Episode {
  /// What went wrong inside the estimator: a run goes on, but what it knows is doubtful.
  struct Failure {
    enum class Kind {
      undetermined_row,        ///< the data did not determine a row of the dynamics
      likelihood_cut,          ///< the climb of the likelihood ran out of passes
      impossible_rows,         ///< the rows cannot happen under the model that the climb starts at
      collapsed_particles,     ///< the posterior is down to copies of a few particles
      impossible_observation,  ///< something was seen that no particle allows
    };
    Kind kind;
    std::string message;  ///< for people, with names and numbers

    friend bool operator==(const Failure&, const Failure&) = default;
  };

  std::int64_t start = 0;     ///< first step
  std::int64_t length = 0;    ///< planned number of steps; 0: decided on the way
  std::int64_t pairs = 0;     ///< samples behind the estimate; 0: none yet
  int flagged_rows = 0;       ///< rows of the estimate that the data did not determine
  double floor = 0.0;         ///< least probability of every action
  double radius = 0.0;        ///< largest row radius of the confidence set; 0: none
  double planned_gain = 0.0;  ///< of the model that is played; sm-ucrl: of its estimate
  /// Bound over the confidence set (sm-ucrl: the best met in it); planned_gain without one.
  double optimistic_gain = 0.0;
  double planning_seconds = 0.0;
  std::string status;              ///< of the planner; "uniform" before the first estimate
  std::optional<Failure> failure;  ///< the first one
  std::optional<TransitionModel> transition;  ///< the estimate, for the error afterwards
};

}  // namespace oas
