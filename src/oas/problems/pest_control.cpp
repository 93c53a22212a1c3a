#include <array>
#include <utility>

#include "oas/problems/detail/table.hpp"
#include "oas/problems/named.hpp"

namespace oas {

namespace {

// One step is a week; a plague builds up in about two months and does not end by itself.
constexpr std::array kTransition = {
    0.87, 0.13,  // wait, few
    0.04, 0.96,  // wait, many
    0.95, 0.05,  // spray, few
    0.75, 0.25,  // spray, many
};

constexpr std::array kObservation = {
    0.65, 0.28, 0.07,  // wait, few
    0.20, 0.40, 0.40,  // wait, many
    0.45, 0.40, 0.15,  // spray, few
    0.05, 0.20, 0.75,  // spray, many
};

// The week's share of the harvest less the cost of spraying.
constexpr std::array kReward = {
    1.00, 0.20,  // wait
    0.60, 0.40,  // spray
};

}  // namespace

Pomdp pest_control() {
  PomdpParts parts;
  parts.timing = Timing::before;
  parts.states = Labels({"few", "many"}, "state");
  parts.actions = Labels({"wait", "spray"}, "action");
  parts.observations = Labels({"none", "some", "full"}, "observation");
  parts.start = {0.9, 0.1};
  parts.transition = TransitionModel(2, 2, detail::numbers(kTransition));
  parts.sensors = ObservationModel(2, 2, 3, detail::numbers(kObservation));
  parts.reward = Reward::by_action_state(detail::numbers(kReward));
  return Pomdp(std::move(parts));
}

}  // namespace oas
