#pragma once

#include <string>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/observation_model.hpp"

namespace oas {

/// What the sensor of one action says about the state.
struct ActionSensor {
  std::vector<double> singular_values;  ///< of Z_a, decreasing, min(O,S) of them
  double alpha = 0.0;                   ///< σ_S(Z_a); 0 when O < S
  int rank = 0;                         ///< numerical rank of Z_a

  friend bool operator==(const ActionSensor&, const ActionSensor&) = default;
};

/// How revealing the sensors are (Assumption "α-weakly revealing").
struct SensorReport {
  std::vector<ActionSensor> actions;
  double alpha = 0.0;  ///< α = min over a of σ_S(Z_a); the estimate's error grows as 1/α²
  Action weakest;      ///< the (first) action at which the minimum is reached
  int num_states = 0;

  /// True when every Z_a has full column rank: then, and only then, OAS can identify every T_a
  /// from pairs of observations.
  [[nodiscard]] bool revealing() const;
  /// Actions whose sensor does not tell all states apart.
  [[nodiscard]] std::vector<Action> blind_actions() const;

  /// One line for people.
  [[nodiscard]] std::string brief() const;
};

/// The singular values of every Z_a. O(A O S min(O,S)). Paper: Assumption ass:weaklyRev.
[[nodiscard]] SensorReport analyse_sensors(const ObservationModel& sensors);

}  // namespace oas
