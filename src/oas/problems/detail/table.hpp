#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace oas::detail {

/// The numbers of a constexpr table, as models take them.
template <std::size_t N>
[[nodiscard]] std::vector<double> numbers(const std::array<double, N>& table) {
  return {table.begin(), table.end()};
}

}  // namespace oas::detail
