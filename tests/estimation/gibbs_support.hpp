#pragma once

#include <vector>

#include "oas/estimation/evidence.hpp"
#include "oas/model/trajectory.hpp"
#include "support/random_models.hpp"

/// What the tests of the estimator `gibbs` share.
namespace oas::test {

/// Two actions, three observations, no structure.
inline Pomdp small_model(int states, Timing timing) {
  RandomModelOptions options;
  options.num_states = states;
  options.num_actions = 2;
  options.num_observations = 3;
  options.timing = timing;
  return random_model(options, 5);
}

/// The same of three states whose sensors are these [S][O] under both actions.
inline Pomdp small_model_seen_by(const std::vector<double>& sensor) {
  PomdpParts parts = small_model(3, Timing::before).parts();
  std::vector<double> both = sensor;
  both.insert(both.end(), sensor.begin(), sensor.end());
  parts.sensors = ObservationModel(3, 2, 3, std::move(both));
  return Pomdp(std::move(parts));
}

inline TransitionEstimate gibbs_estimate(const AnyModel& model, const std::vector<Trajectory>& runs,
                                         const EvidenceOptions& settings,
                                         const EstimateOptions& options) {
  Evidence evidence = make_evidence("gibbs", model, settings);
  for (const Trajectory& run : runs) {
    evidence.start_run();
    evidence.add(run);
  }
  return evidence.estimate(options);
}

}  // namespace oas::test
