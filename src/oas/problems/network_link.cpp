#include <array>
#include <utility>

#include "oas/problems/detail/table.hpp"
#include "oas/problems/named.hpp"

namespace oas {

namespace {

// One step is a second; others fill the room that is left to them within some ten of them.
constexpr std::array kTransition = {
    0.91, 0.07, 0.02,  // slow, light
    0.22, 0.72, 0.06,  // slow, moderate
    0.05, 0.25, 0.70,  // slow, heavy
    0.86, 0.11, 0.03,  // medium, light
    0.11, 0.78, 0.11,  // medium, moderate
    0.02, 0.13, 0.85,  // medium, heavy
    0.72, 0.22, 0.06,  // fast, light
    0.04, 0.70, 0.26,  // fast, moderate
    0.01, 0.05, 0.94,  // fast, heavy
};

// More packets tell more about the load, and cause more of the losses.
constexpr std::array kObservation = {
    0.80, 0.15, 0.04, 0.01,  // slow, light
    0.38, 0.50, 0.10, 0.02,  // slow, moderate
    0.10, 0.36, 0.42, 0.12,  // slow, heavy
    0.82, 0.13, 0.04, 0.01,  // medium, light
    0.20, 0.60, 0.16, 0.04,  // medium, moderate
    0.04, 0.18, 0.46, 0.32,  // medium, heavy
    0.70, 0.22, 0.06, 0.02,  // fast, light
    0.06, 0.56, 0.30, 0.08,  // fast, moderate
    0.01, 0.05, 0.22, 0.72,  // fast, heavy
};

// Delivered packets, as a share of the fast rate on a free link.
constexpr std::array kReward = {
    0.35, 0.34, 0.30,  // slow
    0.65, 0.58, 0.12,  // medium
    1.00, 0.62, 0.04,  // fast
};

}  // namespace

Pomdp network_link() {
  PomdpParts parts;
  parts.timing = Timing::before;
  parts.states = Labels({"light", "moderate", "heavy"}, "state");
  parts.actions = Labels({"slow", "medium", "fast"}, "action");
  parts.observations = Labels({"prompt", "late", "one-loss", "many-losses"}, "observation");
  parts.transition = TransitionModel(3, 3, detail::numbers(kTransition));
  parts.sensors = ObservationModel(3, 3, 4, detail::numbers(kObservation));
  parts.reward = Reward::by_action_state(detail::numbers(kReward));
  return Pomdp(std::move(parts));
}

}  // namespace oas
