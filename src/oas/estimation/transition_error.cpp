#include "oas/estimation/transition_error.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"

namespace oas {

TransitionError transition_error(const TransitionModel& truth, const TransitionModel& estimate) {
  OAS_REQUIRE(
      truth.num_states() == estimate.num_states() && truth.num_actions() == estimate.num_actions(),
      "{} states and {} actions against {} and {}", truth.num_states(), truth.num_actions(),
      estimate.num_states(), estimate.num_actions());
  TransitionError error;
  double square = 0.0;
  for (int a = 0; a < truth.num_actions(); ++a) {
    const Matrix difference = estimate.matrix(Action{a}) - truth.matrix(Action{a});
    const Vector l1 = difference.cwiseAbs().rowwise().sum();
    square += difference.squaredNorm();
    error.frobenius_by_action.push_back(difference.norm());
    error.largest_l1_by_action.push_back(l1.maxCoeff());
    error.largest_l1 = std::max(error.largest_l1, l1.maxCoeff());
    for (int s = 0; s < truth.num_states(); ++s) {
      error.rows.push_back({Action{a}, State{s}, l1(s)});
    }
  }
  error.frobenius = std::sqrt(square);
  std::stable_sort(error.rows.begin(), error.rows.end(),
                   [](const auto& x, const auto& y) { return x.l1 > y.l1; });
  return error;
}

}  // namespace oas
