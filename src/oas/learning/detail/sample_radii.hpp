#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace oas::detail {

/// Row radii [A][S] by the number of samples of each action alone: scale · √(log(1/δ_k) / samples),
/// δ_k = δ/k³, at most 1; an action without samples counts as one.
[[nodiscard]] inline std::vector<double> sample_radii(std::span<const std::int64_t> samples,
                                                      int num_states, double scale, double delta,
                                                      std::int64_t k) {
  std::vector<double> radii;
  const double cube = std::pow(static_cast<double>(k), 3.0);
  for (const std::int64_t n : samples) {
    const double spread =
        std::log(cube / delta) / static_cast<double>(std::max<std::int64_t>(n, 1));
    radii.insert(radii.end(), static_cast<std::size_t>(num_states),
                 std::min(1.0, scale * std::sqrt(spread)));
  }
  return radii;
}

}  // namespace oas::detail
