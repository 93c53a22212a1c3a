#pragma once

#include <optional>
#include <utility>

#include "oas/model/observation_model.hpp"

namespace oas {

/// Whether no reading under any action tells the two states apart (probabilities equal to 1e-9).
[[nodiscard]] bool same_sensors(const ObservationModel& sensors, State one, State other);

/// The first two states with the same sensors, if there are any: where they are swapped, nothing
/// changes that can be seen. O(S² A O).
[[nodiscard]] std::optional<std::pair<State, State>> first_same_sensors(
    const ObservationModel& sensors);

}  // namespace oas
