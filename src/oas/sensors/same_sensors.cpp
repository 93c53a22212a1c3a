#include "oas/sensors/same_sensors.hpp"

#include <cmath>

namespace oas {

namespace {

constexpr double kSameSensor = 1e-9;  // difference of probabilities

}  // namespace

bool same_sensors(const ObservationModel& sensors, State one, State other) {
  for (Action a{0}; a < sensors.num_actions(); ++a) {
    for (Observation o{0}; o < sensors.num_observations(); ++o) {
      if (std::abs(sensors(a, one, o) - sensors(a, other, o)) > kSameSensor) return false;
    }
  }
  return true;
}

std::optional<std::pair<State, State>> first_same_sensors(const ObservationModel& sensors) {
  for (State one{0}; one < sensors.num_states(); ++one) {
    for (State other{one + 1}; other < sensors.num_states(); ++other) {
      if (same_sensors(sensors, one, other)) return std::pair{one, other};
    }
  }
  return std::nullopt;
}

}  // namespace oas
