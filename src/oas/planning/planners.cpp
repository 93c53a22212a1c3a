#include "oas/planning/planners.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/planning/detail/grid_planner.hpp"
#include "oas/planning/planner.hpp"

namespace oas {

namespace {

void certificate_settings(PlanOptions& options, SettingFields& fields) {
  fields("iota", options.iota, "floor on the probability of every action, in [0, 1/A]");
  fields("gap", options.gap, "refine until upper - lower is at most this, > 0");
  fields("max_steps", options.max_steps, "simulated steps of that refinement, at most");
  fields("steps", options.simulation.steps, "simulated steps of the lower bound");
  fields("seed", options.simulation.seed, "of the simulation of the lower bound");
}

void grid_settings(PlanOptions& options, SettingFields& fields) {
  certificate_settings(options, fields);
  fields("resolution", options.resolution, "of the belief grid; 0: by the size of the model");
  fields("span_tolerance", options.span_tolerance, "span at which sweeps stop, > 0");
  fields("max_sweeps", options.max_sweeps, "sweeps over the grid, at most");
  fields("max_entries", options.max_entries, "probabilities of a refined grid, at most");
}

void point_settings(PlanOptions& options, SettingFields& fields) {
  certificate_settings(options, fields);
  options.point.visit(fields);
}

constexpr std::array kPlanners = {
    PlannerInfo{.name = GridBias::kName,
                .summary = "relative value iteration on a regular belief grid: proved upper bound, "
                           "few states",
                .reference = "Lovejoy (1991)",
                .suits = detail::grid_suits,
                .make = detail::grid_plan,
                .refine = detail::finer_grid_plan,
                .best_member = detail::best_member_on_grid,
                .settings = grid_settings},
    PlannerInfo{
        .name = VectorBias::kName,
        .summary = "alpha-vectors at beliefs reached in simulation: many states",
        .reference = "docs/reference/planning.md",
        .suits = [](const Pomdp& /*model*/, const PlanOptions& /*options*/) { return true; },
        .make =
            [](const Pomdp& model, const PlanOptions& options, Parallelism /*threads*/) {
              return point_based_plan(model, options.iota, options.point);
            },
        .refine = [](const Plan& /*plan*/, const PlanOptions& /*options*/,
                     Parallelism /*threads*/) -> std::optional<Plan> { return {}; },
        .best_member = nullptr,
        .settings = point_settings},
};

constexpr std::string_view kAutomatic = "auto";

std::string known_names() {
  std::string names;
  for (const PlannerInfo& info : kPlanners) names += fmt::format(", {}", info.name);
  return names;
}

}  // namespace

std::span<const PlannerInfo> planners() { return kPlanners; }

const PlannerInfo& find_planner(std::string_view name) {
  const auto* const found =
      std::find_if(kPlanners.begin(), kPlanners.end(),
                   [&](const PlannerInfo& info) { return info.name == name; });
  OAS_REQUIRE(found != kPlanners.end(), "planner is '{}'; known are {}{}", name, kAutomatic,
              known_names());
  return *found;
}

const PlannerInfo& choose_planner(const Pomdp& model, const PlanOptions& options) {
  if (options.planner != kAutomatic) return find_planner(options.planner);
  return *std::find_if(kPlanners.begin(), kPlanners.end(),
                       [&](const PlannerInfo& info) { return info.suits(model, options); });
}

const PlannerInfo& choose_optimistic_planner(const PlanOptions& options) {
  const auto takes_sets = [](const PlannerInfo& info) { return info.best_member != nullptr; };
  const PlannerInfo& able = *std::find_if(kPlanners.begin(), kPlanners.end(), takes_sets);
  if (options.planner == kAutomatic) return able;
  const PlannerInfo& named = find_planner(options.planner);
  OAS_REQUIRE(takes_sets(named), "planner {} plans for one model; a radius needs planner {}",
              named.name, able.name);
  return named;
}

std::vector<SettingInfo> settings_of(const PlannerInfo& info) {
  PlanOptions options;
  SettingFields fields;
  info.settings(options, fields);
  return fields.describe();
}

PlanOptions plan_options(std::string_view planner, std::span<const Setting> settings) {
  PlanOptions options;
  options.planner = planner;
  SettingFields fields;
  find_planner(planner).settings(options, fields);
  for (const Setting& setting : settings) {
    if (!fields.set(setting)) throw_unknown_setting(setting, planner, fields.describe());
  }
  return options;
}

}  // namespace oas
