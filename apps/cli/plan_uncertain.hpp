#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/planner.hpp"
#include "posterior.hpp"

namespace oas::cli {

/// What `oas plan` is told about dynamics that are not known exactly.
struct Uncertainty {
  bool robust = false;
  std::optional<double> cautious;
  std::optional<double> radius;
  double confidence = 0.95;
};

/// Writes the gain of the plan's policy over the draws into it; nothing without draws. What is to
/// be said about it goes to `warnings`.
void set_posterior(Plan& plan, const DrawnModels& draws, double confidence, const Common& common,
                   std::vector<std::string>& warnings);

/// One line about that, with what was drawn; empty without.
[[nodiscard]] std::string posterior_line(const Plan& plan, const std::string& drawn);

/// Plans with a promise for all models of a set, prints, and writes the policy graph.
void run_robust(const std::string& name, const Pomdp& model, const PlanOptions& options,
                const Uncertainty& uncertainty, const std::string& output,
                std::vector<std::string> warnings, const Common& common);

/// The plan that is best where the draws are bad, and what is printed about the choice.
struct CautiousChoice {
  Plan plan;
  std::string text;
};
[[nodiscard]] CautiousChoice choose_cautiously(const std::string& name, const Pomdp& model,
                                               const DrawnModels& draws, const PlanOptions& options,
                                               double share, const Common& common);

}  // namespace oas::cli
