#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "oas/model/transition_model.hpp"

namespace oas::detail {

/// Transition models in which every action moves by a fixed number of places along one ring of all
/// states (0: it stays; forward, backward, farther), but for a share of noise: clocks, machines
/// that step through a cycle, and, with steps of 0, states that last.
struct Ring {
  std::vector<int> order;  ///< [place]: state
  std::vector<int> steps;  ///< [a]: places, 0 … S-1
  double noise = 0.0;      ///< to any state

  [[nodiscard]] TransitionModel model() const;
};

/// The best ring met.
struct RingSearch {
  TransitionModel at;
  double objective = 0.0;  ///< -∞: nothing was tried
  int passes = 0;
};

/// Looks for a start among rings. Weak sensors tell of lasting patterns only together, over as many
/// rows as the chain remembers: around dynamics that forget quickly, such as uniform ones or what
/// moments make of noise, the likelihood is flat, and no climb from there finds a clock. Among
/// rings it is not: exchanging two states changes what is right at every distance by some 4/S only.
/// So states are exchanged as long as that helps, for each choice of steps of -1, 0 and 1 that
/// moves at all, from some noises, which are then taken away as long as that helps, and from some
/// orders, always the same, until `most` passes are over. One call of `objective` is one pass.
[[nodiscard]] RingSearch search_rings(
    const std::function<double(const TransitionModel&)>& objective, int num_states, int num_actions,
    int most);

}  // namespace oas::detail
