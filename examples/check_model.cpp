// Can this model be learned, and with how much data? What `oas check` does, in the library.

#include <fmt/format.h>

#include <oas/jobs/empirical_error.hpp>
#include <oas/oas.hpp>
#include <oas/theory/estimation_bounds.hpp>

int main() {
  const oas::Pomdp patient = oas::patient_treatment();
  const oas::SensorReport sensors = oas::analyse_sensors(patient.sensors());
  const oas::ErgodicityReport dynamics = oas::analyse_ergodicity(patient.transition());
  fmt::print("{}\n{}\n{}\n", patient.brief(), sensors.brief(), dynamics.brief());
  if (!sensors.revealing()) return 1;

  // What the paper's lemma asks for, and what a simulation of this very model says.
  const double target = 0.05;
  const double bound =
      oas::steps_for_stationary_radius({.num_states = patient.num_states(),
                                        .num_actions = patient.num_actions(),
                                        .alpha = sensors.alpha,
                                        .min_state_probability = dynamics.min_stationary,
                                        .min_action_probability = 1.0 / patient.num_actions(),
                                        .contraction = dynamics.state_action_coefficient},
                                       target);
  oas::EmpiricalErrorOptions trial;
  trial.policy.name = "uniform";
  trial.steps = 50'000;
  const oas::EmpiricalError error = oas::empirical_error(patient, trial);
  fmt::print("error {}: the bound asks for {:.1e} steps, simulation for about {:.1e}\n", target,
             bound, error.steps_for(target, trial.steps));
  return error.steps_for(target, trial.steps) < bound ? 0 : 1;
}
