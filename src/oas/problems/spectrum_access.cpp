#include <array>
#include <utility>

#include "oas/problems/detail/table.hpp"
#include "oas/problems/named.hpp"

namespace oas {

namespace {

// Calls of about six slots, pauses of about ten; a collision nearly doubles a call.
constexpr std::array kTransition = {
    0.90, 0.04, 0.06,  // send-low, quiet
    0.07, 0.90, 0.03,  // send-low, on-low
    0.12, 0.05, 0.83,  // send-low, on-high
    0.90, 0.06, 0.04,  // send-high, quiet
    0.12, 0.83, 0.05,  // send-high, on-low
    0.07, 0.03, 0.90,  // send-high, on-high
    0.90, 0.05, 0.05,  // send-both, quiet
    0.11, 0.85, 0.04,  // send-both, on-low
    0.11, 0.04, 0.85,  // send-both, on-high
};

constexpr std::array kObservation = {
    0.05, 0.08, 0.07, 0.80,  // send-low, quiet
    0.82, 0.14, 0.02, 0.02,  // send-low, on-low
    0.10, 0.05, 0.70, 0.15,  // send-low, on-high
    0.05, 0.07, 0.08, 0.80,  // send-high, quiet
    0.10, 0.70, 0.05, 0.15,  // send-high, on-low
    0.82, 0.02, 0.14, 0.02,  // send-high, on-high
    0.10, 0.25, 0.25, 0.40,  // send-both, quiet
    0.15, 0.75, 0.07, 0.03,  // send-both, on-low
    0.15, 0.07, 0.75, 0.03,  // send-both, on-high
};

}  // namespace

Pomdp spectrum_access() {
  PomdpParts parts;
  parts.timing = Timing::before;
  parts.states = Labels({"quiet", "on-low", "on-high"}, "state");
  parts.actions = Labels({"send-low", "send-high", "send-both"}, "action");
  parts.observations = Labels({"lost", "noise-low", "noise-high", "clear"}, "observation");
  parts.transition = TransitionModel(3, 3, detail::numbers(kTransition));
  parts.sensors = ObservationModel(3, 3, 4, detail::numbers(kObservation));
  // Share of the full rate: the receiver asks for a slower code where it hears noise.
  parts.reward = Reward::by_observation({0.0, 0.6, 0.6, 1.0});
  return Pomdp(std::move(parts));
}

}  // namespace oas
