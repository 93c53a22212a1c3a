#pragma once

#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/planning/plan.hpp"
#include "oas/planning/planner.hpp"
#include "posterior.hpp"

/// What `oas plan` prints and draws.
namespace oas::cli {

/// A plan and what is to be said about it.
struct MadePlan {
  Plan plan;
  /// How it was chosen, where it was made for other dynamics than those of the file.
  std::string choice = {};
  std::string model = {};   ///< name, for messages
  std::string output = {};  ///< where the plan was written, if anywhere
  double seconds = 0.0;
};
void print_plan(const MadePlan& made, const DrawnModels& draws, const PlanLimits& limits,
                const Common& common);

/// The table of --all: the plan beside simpler policies and the visible state.
void print_comparison(const std::string& name, const Pomdp& model, const PlanOptions& options,
                      const std::vector<std::string>& warnings, const Common& common);

/// Regions of beliefs where these can be drawn; else the beliefs that the plan meets most.
void draw_plan(const std::string& path, const Plan& plan, std::uint64_t seed);

}  // namespace oas::cli
