#include "oas/sensors/revealing.hpp"

#include <algorithm>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"

namespace oas {

bool SensorReport::revealing() const { return !actions.empty() && blind_actions().empty(); }

std::vector<Action> SensorReport::blind_actions() const {
  std::vector<Action> blind;
  for (std::size_t a = 0; a < actions.size(); ++a) {
    if (actions[a].rank < num_states) blind.emplace_back(a);
  }
  return blind;
}

std::string SensorReport::brief() const {
  if (actions.empty()) return "sensors not analysed";
  if (revealing()) return fmt::format("alpha {:.4g} (action {})", alpha, weakest.value());
  const std::size_t blind = blind_actions().size();
  return fmt::format("alpha 0: the sensors of {} of {} action{} do not tell all {} states apart",
                     blind, actions.size(), actions.size() == 1 ? "" : "s", num_states);
}

SensorReport analyse_sensors(const ObservationModel& sensors) {
  OAS_REQUIRE(sensors.num_actions() >= 1, "an observation model without actions has no sensors");
  SensorReport report;
  report.num_states = sensors.num_states();
  for (int a = 0; a < sensors.num_actions(); ++a) {
    const Conditioning found = analyse_conditioning(sensors.matrix(Action{a}));
    ActionSensor sensor;
    sensor.singular_values.assign(found.singular_values.begin(), found.singular_values.end());
    sensor.rank = found.rank;
    // Rounding leaves some 1e-17 where there should be nothing; 1/α² would make a number of it.
    sensor.alpha = found.rank < report.num_states ? 0.0 : found.smallest;
    if (a == 0 || sensor.alpha < report.alpha) {
      report.alpha = sensor.alpha;
      report.weakest = Action{a};
    }
    report.actions.push_back(std::move(sensor));
  }
  return report;
}

}  // namespace oas
