#include "oas/estimation/sparsest_dynamics.hpp"

#include <numeric>

namespace oas {

TransitionModel sparsest_dynamics(const TransitionEstimate& estimate) {
  const TransitionModel& given = estimate.transition;
  std::vector<double> values(given.values().begin(), given.values().end());
  if (estimate.lower.size() != values.size()) return given;
  const auto states = static_cast<std::size_t>(given.num_states());
  for (std::size_t row = 0; row < values.size(); row += states) {
    std::vector<double> left(states);
    for (std::size_t s = 0; s < states; ++s) {
      left[s] = estimate.lower[row + s] > 0.0 ? values[row + s] : 0.0;
    }
    const double sum = std::accumulate(left.begin(), left.end(), 0.0);
    if (!(sum > 0.0)) continue;
    for (std::size_t s = 0; s < states; ++s) values[row + s] = left[s] / sum;
  }
  return {given.num_states(), given.num_actions(), std::move(values)};
}

}  // namespace oas
