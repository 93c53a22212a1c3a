#pragma once

#include <vector>

#include "oas/model/pomdp.hpp"

namespace oas {

/// K_a^o(s,s') = P(o, s' | s, a), the one-step dynamics of both timings in one table:
///   before:  K_a^o = diag(Z_a(o|·)) T_a        after:  K_a^o = T_a diag(Z_a(o|·))
/// so that P(o | b, a) = bᵀ K_a^o 1 and b'_o ∝ K_a^oᵀ b. Stored as [action][observation][s][s'];
/// sensors and timing from `model`, dynamics from `transition`. O(A O S²) numbers.
[[nodiscard]] inline std::vector<double> joint_kernel(const Pomdp& model,
                                                      const TransitionModel& transition) {
  const int num_states = model.num_states();
  std::vector<double> kernel;
  kernel.reserve(static_cast<std::size_t>(model.num_actions()) * model.num_observations() *
                 num_states * num_states);
  for (Action a{0}; a < model.num_actions(); ++a) {
    for (Observation o{0}; o < model.num_observations(); ++o) {
      for (State s{0}; s < num_states; ++s) {
        for (State next{0}; next < num_states; ++next) {
          const State emitter = model.timing() == Timing::before ? s : next;
          kernel.push_back(transition(a, s, next) * model.sensors()(a, emitter, o));
        }
      }
    }
  }
  return kernel;
}

}  // namespace oas
