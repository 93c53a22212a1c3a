#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace oas {

/// The quantile of level in [0, 1] of at least one sorted value, by linear interpolation between
/// neighbours; values may be ∞.
[[nodiscard]] inline double sorted_quantile(std::span<const double> sorted, double level) {
  const double position = level * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  if (share == 0.0 || sorted[below] == sorted[above]) return sorted[below];
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

}  // namespace oas
