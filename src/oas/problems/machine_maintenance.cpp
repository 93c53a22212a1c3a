#include <array>
#include <utility>

#include "oas/problems/detail/table.hpp"
#include "oas/problems/named.hpp"

namespace oas {

namespace {

// One step is one lot of products; running, a stage of wear lasts about eight lots, and routine
// service between lots sometimes helps. Inspecting runs slowly, so it wears half as much.
constexpr std::array kTransition = {
    0.89, 0.08, 0.02, 0.01,  // run, new
    0.02, 0.86, 0.09, 0.03,  // run, worn
    0.01, 0.02, 0.85, 0.12,  // run, degraded
    0.01, 0.01, 0.02, 0.96,  // run, failing
    0.94, 0.04, 0.01, 0.01,  // inspect, new
    0.03, 0.91, 0.05, 0.01,  // inspect, worn
    0.01, 0.03, 0.90, 0.06,  // inspect, degraded
    0.01, 0.01, 0.02, 0.96,  // inspect, failing
    0.96, 0.02, 0.01, 0.01,  // repair, new
    0.92, 0.06, 0.01, 0.01,  // repair, worn
    0.88, 0.09, 0.02, 0.01,  // repair, degraded
    0.80, 0.12, 0.05, 0.03,  // repair, failing
};

constexpr std::array kObservation = {
    0.78, 0.15, 0.05, 0.02,  // run, new
    0.22, 0.62, 0.12, 0.04,  // run, worn
    0.06, 0.20, 0.60, 0.14,  // run, degraded
    0.03, 0.07, 0.22, 0.68,  // run, failing
    0.93, 0.05, 0.01, 0.01,  // inspect, new
    0.05, 0.89, 0.05, 0.01,  // inspect, worn
    0.01, 0.05, 0.89, 0.05,  // inspect, degraded
    0.01, 0.01, 0.05, 0.93,  // inspect, failing
    0.85, 0.11, 0.03, 0.01,  // repair, new
    0.11, 0.77, 0.11, 0.01,  // repair, worn
    0.02, 0.12, 0.75, 0.11,  // repair, degraded
    0.01, 0.03, 0.13, 0.83,  // repair, failing
};

// Value of a lot less its costs; a repair has old stock to sell, and its costs grow with the wear.
constexpr std::array kReward = {
    1.00, 0.85, 0.50, 0.05,  // run
    0.80, 0.70, 0.40, 0.05,  // inspect
    0.25, 0.25, 0.22, 0.15,  // repair
};

}  // namespace

Pomdp machine_maintenance() {
  PomdpParts parts;
  parts.timing = Timing::before;
  parts.states = Labels({"new", "worn", "degraded", "failing"}, "state");
  parts.actions = Labels({"run", "inspect", "repair"}, "action");
  parts.observations = Labels({"clean", "scratched", "off-size", "scrap"}, "observation");
  parts.start = {0.97, 0.01, 0.01, 0.01};
  parts.transition = TransitionModel(4, 3, detail::numbers(kTransition));
  parts.sensors = ObservationModel(4, 3, 4, detail::numbers(kObservation));
  parts.reward = Reward::by_action_state(detail::numbers(kReward));
  return Pomdp(std::move(parts));
}

}  // namespace oas
