#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace oas::detail {

/// Runs from the start that together take so many steps, or a little more.
struct DiscountedRuns {
  std::uint64_t length = 0;  ///< steps of each
  std::uint64_t runs = 0;    ///< at least eight
};

/// Each goes on until a step weighs less than 1e-9, but at most an eighth of the steps.
[[nodiscard]] inline DiscountedRuns discounted_runs(double discount, std::uint64_t steps) {
  constexpr double kForgotten = 1e-9;
  constexpr std::uint64_t kFewest = 8;
  const auto enough = static_cast<std::uint64_t>(std::log(kForgotten) / std::log(discount)) + 1;
  const std::uint64_t length = std::max<std::uint64_t>(std::min(enough, steps / kFewest), 1);
  return {length, std::max(steps / length, kFewest)};
}

}  // namespace oas::detail
