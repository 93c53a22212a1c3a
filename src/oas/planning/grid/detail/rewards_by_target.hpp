#pragma once

#include <utility>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// r(a,s,s'), [s'] → A×S: what expected_reward says when every step leads to s'.
[[nodiscard]] inline std::vector<Matrix> rewards_by_target(const Pomdp& model) {
  const int n = model.num_states();
  std::vector<Matrix> rewards;
  for (int target = 0; target < n; ++target) {
    std::vector<double> values(model.transition().values().size(), 0.0);
    for (std::size_t row = 0; row < values.size() / static_cast<std::size_t>(n); ++row) {
      values[row * static_cast<std::size_t>(n) + static_cast<std::size_t>(target)] = 1.0;
    }
    const TransitionModel certain(n, model.num_actions(), std::move(values));
    rewards.push_back(expected_reward(model.reward(), model.timing(), model.sensors(), &certain));
  }
  return rewards;
}

}  // namespace oas::detail
