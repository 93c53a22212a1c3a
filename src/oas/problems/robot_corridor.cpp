#include <array>
#include <utility>

#include "oas/problems/detail/table.hpp"
#include "oas/problems/named.hpp"

namespace oas {

namespace {

// A move succeeds three times out of four; standing still, people push the robot to the exit.
constexpr std::array kTransition = {
    0.93, 0.04, 0.01, 0.01, 0.01,  // left, entrance
    0.75, 0.19, 0.04, 0.01, 0.01,  // left, shelf
    0.05, 0.74, 0.16, 0.04, 0.01,  // left, counter
    0.01, 0.06, 0.74, 0.15, 0.04,  // left, window
    0.01, 0.01, 0.06, 0.72, 0.20,  // left, exit
    0.78, 0.17, 0.03, 0.01, 0.01,  // stay, entrance
    0.05, 0.72, 0.19, 0.03, 0.01,  // stay, shelf
    0.01, 0.05, 0.70, 0.20, 0.04,  // stay, counter
    0.01, 0.01, 0.05, 0.70, 0.23,  // stay, window
    0.01, 0.01, 0.01, 0.07, 0.90,  // stay, exit
    0.18, 0.74, 0.06, 0.01, 0.01,  // right, entrance
    0.02, 0.15, 0.74, 0.08, 0.01,  // right, shelf
    0.01, 0.02, 0.14, 0.75, 0.08,  // right, counter
    0.01, 0.01, 0.02, 0.14, 0.82,  // right, window
    0.01, 0.01, 0.01, 0.03, 0.94,  // right, exit
};

constexpr std::array kObservation = {
    0.68, 0.10, 0.02, 0.01, 0.01, 0.18,  // left, entrance
    0.10, 0.60, 0.10, 0.02, 0.01, 0.17,  // left, shelf
    0.02, 0.10, 0.60, 0.10, 0.02, 0.16,  // left, counter
    0.01, 0.02, 0.10, 0.60, 0.10, 0.17,  // left, window
    0.01, 0.01, 0.02, 0.10, 0.68, 0.18,  // left, exit
    0.86, 0.05, 0.01, 0.01, 0.01, 0.06,  // stay, entrance
    0.05, 0.82, 0.05, 0.01, 0.01, 0.06,  // stay, shelf
    0.01, 0.05, 0.82, 0.05, 0.01, 0.06,  // stay, counter
    0.01, 0.01, 0.05, 0.82, 0.05, 0.06,  // stay, window
    0.01, 0.01, 0.01, 0.05, 0.86, 0.06,  // stay, exit
    0.68, 0.10, 0.02, 0.01, 0.01, 0.18,  // right, entrance
    0.10, 0.60, 0.10, 0.02, 0.01, 0.17,  // right, shelf
    0.02, 0.10, 0.60, 0.10, 0.02, 0.16,  // right, counter
    0.01, 0.02, 0.10, 0.60, 0.10, 0.17,  // right, window
    0.01, 0.01, 0.02, 0.10, 0.68, 0.18,  // right, exit
};

}  // namespace

Pomdp robot_corridor() {
  PomdpParts parts;
  parts.timing = Timing::after;
  parts.states = Labels({"entrance", "shelf", "counter", "window", "exit"}, "state");
  parts.actions = Labels({"left", "stay", "right"}, "action");
  parts.observations =
      Labels({"see-entrance", "see-shelf", "see-counter", "see-window", "see-exit", "nothing"},
             "observation");
  parts.transition = TransitionModel(5, 3, detail::numbers(kTransition));
  parts.sensors = ObservationModel(5, 3, 6, detail::numbers(kObservation));
  // Guests also reach it from the cells beside the counter, less often.
  parts.reward = Reward::by_observation({0.0, 0.4, 1.0, 0.4, 0.0, 0.2});
  return Pomdp(std::move(parts));
}

}  // namespace oas
