#include <array>
#include <utility>

#include "oas/problems/detail/table.hpp"
#include "oas/problems/named.hpp"

namespace oas {

namespace {

// One step is a week. Untreated, a remission lasts about two months and a crisis about three.
constexpr std::array kTransition = {
    0.87, 0.11, 0.02,  // watch, remission
    0.06, 0.80, 0.14,  // watch, active
    0.02, 0.06, 0.92,  // watch, crisis
    0.94, 0.05, 0.01,  // mild, remission
    0.17, 0.78, 0.05,  // mild, active
    0.03, 0.14, 0.83,  // mild, crisis
    0.93, 0.06, 0.01,  // strong, remission
    0.30, 0.66, 0.04,  // strong, active
    0.08, 0.47, 0.45,  // strong, crisis
};

// The mild drug costs a healthy patient little; the strong one moves all scores to the middle.
constexpr std::array kObservation = {
    0.80, 0.14, 0.05, 0.01,  // watch, remission
    0.16, 0.54, 0.24, 0.06,  // watch, active
    0.02, 0.08, 0.28, 0.62,  // watch, crisis
    0.69, 0.24, 0.06, 0.01,  // mild, remission
    0.23, 0.58, 0.16, 0.03,  // mild, active
    0.03, 0.12, 0.35, 0.50,  // mild, crisis
    0.46, 0.42, 0.10, 0.02,  // strong, remission
    0.12, 0.62, 0.22, 0.04,  // strong, active
    0.04, 0.26, 0.50, 0.20,  // strong, crisis
};

}  // namespace

Pomdp patient_treatment() {
  PomdpParts parts;
  parts.timing = Timing::before;
  parts.states = Labels({"remission", "active", "crisis"}, "state");
  parts.actions = Labels({"watch", "mild", "strong"}, "action");
  parts.observations = Labels({"good", "fair", "poor", "alarming"}, "observation");
  parts.start = {0.2, 0.6, 0.2};
  parts.transition = TransitionModel(3, 3, detail::numbers(kTransition));
  parts.sensors = ObservationModel(3, 3, 4, detail::numbers(kObservation));
  parts.reward = Reward::by_observation({1.0, 0.7, 0.3, 0.0});
  return Pomdp(std::move(parts));
}

}  // namespace oas
