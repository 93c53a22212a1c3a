#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/plan.hpp"
#include "posterior.hpp"

/// What the command says about plans for a number of steps (--horizon).
namespace oas::cli {

/// The lines of `oas plan` about such a plan: bounds, first action, size.
[[nodiscard]] std::string horizon_headline(const std::string& model, const Plan& plan);

/// The name of the first action, or an object: that after each first reading.
[[nodiscard]] nlohmann::ordered_json first_action_json(const Plan& plan);

/// Writes the sum over the horizon in each of the draws into the plan; nothing without draws.
void set_horizon_posterior(Plan& plan, const DrawnModels& draws, double confidence,
                           const Common& common);
/// One line about that; empty without draws.
[[nodiscard]] std::string horizon_posterior_line(const Plan& plan, const std::string& drawn);

/// What `oas evaluate` is told about one.
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
