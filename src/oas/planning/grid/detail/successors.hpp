#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "oas/planning/grid/belief_grid.hpp"

namespace oas::detail {

/// Of a successor; far above it the reciprocal is still a number.
inline constexpr double kNegligible = 1e-290;

/// The cells of all successors of a belief under one action: calls
///   visit(o, probability, count, indices, weights)
/// for each observation o whose probability is above kNegligible: less adds nothing to any value.
/// `kernel` is the action's part of prefix_kernel(), [o][s][S]. N > 0 is the number of states.
template <int N, class Visit>
inline void for_each_successor(const BeliefGrid& grid, const double* kernel, int num_observations,
                               const double* belief, const Visit& visit) {
  constexpr int kStorage = N > 0 ? N : kMaxGridStates;
  const int n = N > 0 ? N : grid.num_states();
  std::array<std::uint32_t, kStorage> indices;
  std::array<double, kStorage> weights;
  std::array<double, kStorage> prefix;
  for (int o = 0; o < num_observations; ++o, kernel += n * n) {
    for (int j = 0; j < n; ++j) prefix[j] = belief[0] * kernel[j];
    for (int s = 1; s < n; ++s) {
      for (int j = 0; j < n; ++j) prefix[j] += belief[s] * kernel[s * n + j];
    }
    const double probability = prefix[n - 1];
    if (!(probability > kNegligible)) continue;
    const double scale = grid.resolution() / probability;
    for (int j = 0; j + 1 < n; ++j) prefix[j] *= scale;
    const int count = grid.interpolate_prefix<N>(prefix.data(), indices.data(), weights.data());
    visit(o, probability, count, indices.data(), weights.data());
  }
}

}  // namespace oas::detail
