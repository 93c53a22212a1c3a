#pragma once

#include <optional>

#include "oas/learning/belief_controller.hpp"
#include "oas/learning/pooled_learner.hpp"

namespace oas {

/// An agent in two halves: who learns from the rows of any number of units, and how each of these
/// is played. The controller is the planner: its grid, its warm solver, and what is played first.
struct SplitAgent {
  std::optional<PooledLearner> learner;  ///< none: nothing is learned
  BeliefController controller;           ///< not ready(): actions are uniform
  double floor = 0.0;                    ///< least probability of every action
};

}  // namespace oas
