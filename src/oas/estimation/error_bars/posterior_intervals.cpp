#include "oas/estimation/error_bars/posterior_intervals.hpp"

#include <algorithm>

namespace oas {

void set_posterior_intervals(const std::function<std::vector<double>(double level)>& quantiles,
                             TransitionEstimate& estimate) {
  const double out = 1.0 - estimate.confidence;
  estimate.lower = quantiles(0.5 * out);
  estimate.upper = quantiles(1.0 - 0.5 * out);
  const std::vector<double> from_zero = quantiles(1.0 - out);
  const std::vector<double> to_one = quantiles(out);
  for (std::size_t i = 0; i < estimate.lower.size(); ++i) {
    const double width = estimate.upper[i] - estimate.lower[i];
    if (from_zero[i] <= std::min(width, 1.0 - to_one[i])) {
      estimate.lower[i] = 0.0;
      estimate.upper[i] = from_zero[i];
    } else if (1.0 - to_one[i] <= width) {
      estimate.lower[i] = to_one[i];
      estimate.upper[i] = 1.0;
    }
  }
}

}  // namespace oas
