#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/core/settings.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/planner.hpp"
#include "plan_report.hpp"
#include "posterior.hpp"

namespace oas::cli {

/// What `oas plan` is told about dynamics that are not known exactly.
struct Uncertainty {
  std::optional<double> radius;
  bool robust = false;
  std::optional<double> cautious;
  double confidence = 0.95;

  template <class Fields>
  void visit(Fields& fields) {
    fields("radius", radius, {0.0, 1.0},
           "plan for the most optimistic model within this total-variation radius per row; with "
           "--robust for the worst one");
    fields("robust", robust,
           "find a policy graph with a gain that it earns in every model of a set: "
           "those near the draws of an estimate, or within --radius");
    fields("cautious", cautious, {kAboveZero, 1.0},
           "choose the plan with the best mean gain over its worst draws: this "
           "share of the draws of an estimate");
    fields("confidence", confidence, {kAboveZero, kBelowOne},
           "level of the limits over the draws, and share of the draws in the set "
           "of --robust");
  }

  /// Throws InvalidArgument naming options that do not go together; `all`: with --all.
  void check(bool all) const;
};

/// Plans with a promise for all models of a set, prints, and writes the policy graph.
void run_robust(const std::string& name, const Pomdp& model, const PlanOptions& options,
                const Uncertainty& uncertainty, const std::string& output,
                std::vector<std::string> warnings, const Common& common);

/// The plan that is best where the draws are bad, and what is printed about the choice.
[[nodiscard]] MadePlan choose_cautiously(const std::string& name, const Pomdp& model,
                                         const DrawnModels& draws, const PlanOptions& options,
                                         double share, const Common& common);

}  // namespace oas::cli
