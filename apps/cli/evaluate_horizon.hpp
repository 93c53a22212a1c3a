#pragma once

#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/plan.hpp"

namespace oas::cli {

/// What `oas evaluate` is told about a plan for a horizon.
struct HorizonQuestion {
  std::string model;  ///< names, for messages
  std::string plan;
  SimulationOptions simulation;
  std::vector<std::string> warnings;
};

/// Evaluates a plan for a horizon in a model, exactly, by simulation and, where the model is an
/// estimate with draws, in each of these; prints what was found.
void evaluate_horizon(const HorizonQuestion& question, const Pomdp& truth, const Plan& plan,
                      const Common& common);

}  // namespace oas::cli
