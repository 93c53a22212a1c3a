#pragma once

#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// How far an estimate is from the truth.
struct TransitionError {
  struct Row {
    Action action;
    State state;
    double l1 = 0.0;  ///< ‖T̂_a(s,·) - T_a(s,·)‖₁, at most 2
  };

  double frobenius = 0.0;   ///< of all actions together, the paper's ‖T̂ - T‖_F
  double largest_l1 = 0.0;  ///< over rows
  std::vector<double> frobenius_by_action;   ///< [a]
  std::vector<double> largest_l1_by_action;  ///< [a]
  std::vector<Row> rows;                     ///< all rows, worst first
};

/// Throws InvalidArgument when the sizes differ. O(A S² + A S log(A S)).
[[nodiscard]] TransitionError transition_error(const TransitionModel& truth,
                                               const TransitionModel& estimate);

}  // namespace oas
