#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "oas/core/parallel.hpp"
#include "oas/core/settings.hpp"
#include "oas/formats/model_text.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/policies/policy_file.hpp"

namespace oas::cli {

/// How one policy is evaluated.
struct EvaluationOptions {
  std::optional<int> start_node;
  std::string vectors;  ///< file
  int resolution = 0;
  SimulationOptions simulation;

  template <class Fields>
  void visit(Fields& fields) {
    fields("start_node", start_node, {0}, "first node of a .pg (default: the best one)");
    fields("grid", resolution, {0, 1'000'000},
           "resolution of the belief grid of the exact evaluation; 0: that of the plan");
    fields("steps", simulation.steps, {64, 1'000'000'000'000},
           "simulated steps; models of more than 1,000 states get fewer by default");
    fields("level", simulation.level, {kAboveZero, kBelowOne}, "confidence level");
    fields("seed", simulation.seed, "same seed, same bytes");
  }
};

/// The model that is taken for the truth, and the one that keeps beliefs where it is another.
struct EvaluationModels {
  ReadModel truth;
  std::optional<Pomdp> filter;
};

/// What was found out, for people and machines.
struct FoundGain {
  GainInterval simulated;
  std::string aim;   ///< what the policy was made for, where that is not the long run
  std::string text;  ///< lines beside that of the simulation
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
};

/// By simulation, and exactly where the policy allows it.
[[nodiscard]] FoundGain evaluate_policy(const EvaluationOptions& options,
                                        const EvaluationModels& models, const AnyPolicy& policy,
                                        Parallelism parallelism);

}  // namespace oas::cli
