// Models for the tests of rows that are reading-first.
#pragma once

#include <vector>

#include "oas/core/rng.hpp"
#include "oas/model/pomdp.hpp"
#include "support/random_models.hpp"

namespace oas::test {

// Sensors that depend on the action before, and one of their own for first readings.
inline Pomdp reading_model(bool same_sensors = false, Timing timing = Timing::after) {
  RandomModelOptions options;
  options.timing = timing;
  options.concentration = 1.0;
  options.min_alpha = 0.2;
  PomdpParts parts = random_model(options, 5).parts();
  Rng rng({8, 0, Role::environment});
  if (same_sensors) {
    const auto all = parts.sensors.values();
    std::vector<double> one(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
    one.insert(one.end(), one.begin(), one.begin() + static_cast<std::ptrdiff_t>(one.size()));
    parts.sensors = ObservationModel(3, 2, 4, std::move(one));
  } else if (timing == Timing::after) {
    parts.first_observation = ObservationModel(3, 1, 4, random_rows(3, 4, 1.0, 0.0, rng));
  }
  if (timing == Timing::after) parts.rows = Rows::reading_first;
  return Pomdp(std::move(parts));
}

}  // namespace oas::test
