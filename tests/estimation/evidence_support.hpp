#pragma once

#include <utility>
#include <vector>

#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/density_sensors.hpp"
#include "support/random_models.hpp"

/// The small models on which every estimator is tried.
namespace oas::test {

inline Pomdp finite_model(Timing timing) {
  RandomModelOptions options;
  options.num_states = 2;
  options.num_actions = 2;
  options.num_observations = 3;
  options.timing = timing;
  options.min_alpha = 0.3;
  options.reward = Reward::Kind::by_action_state;
  return random_model(options, 11);
}

inline ContinuousPomdp gaussian_model(Timing timing) {
  std::vector<VectorDensity> densities;
  for (const double mean : {0.0, 2.0, 2.5, 0.0}) {
    densities.emplace_back(VectorDensity({Density::gaussian(mean, 1.0)}));
  }
  return ContinuousPomdp(finite_model(timing), DensitySensors(2, 2, std::move(densities)));
}

}  // namespace oas::test
