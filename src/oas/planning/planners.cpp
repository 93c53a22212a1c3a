#include "oas/planning/planners.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/planning/grid/detail/grid_planner.hpp"
#include "oas/planning/hull/hull_plan.hpp"
#include "oas/planning/planner.hpp"

namespace oas {

namespace {

constexpr double kPointWork = 5.0;  // 10⁹ products
constexpr double kHorizonWork = 2.0;

constexpr std::array kPlanners = {
    PlannerInfo{.name = GridBias::kName,
                .summary = "relative value iteration on a regular belief grid: proved upper bound, "
                           "few states",
                .reference = "Lovejoy (1991)",
                .suits = detail::grid_suits,
                .make = detail::grid_plan,
                .refine = detail::finer_grid_plan,
                .best_member = detail::best_member_on_grid,
                .make_discounted = detail::discounted_grid_plan,
                .make_for_horizon = nullptr,
                .has_grid = true},
    PlannerInfo{
        .name = VectorBias::kName,
        .summary = "alpha-vectors at beliefs that are reached, upper bound from mixtures of them: "
                   "many states",
        .reference = "docs/reference/planning.md",
        .suits = [](const Pomdp& /*model*/, const PlanOptions& /*options*/) { return true; },
        .make =
            [](const Pomdp& model, const PlanOptions& options, Parallelism parallelism) {
              return hull_plan(model,
                               {.iota = options.iota,
                                .gap = options.gap,
                                .work = 1e9 * options.work.value_or(kPointWork),
                                .point = options.point,
                                .simulation = options.simulation},
                               parallelism);
            },
        .refine = [](const Plan& /*plan*/, const PlanOptions& /*options*/,
                     Parallelism /*threads*/) -> std::optional<Plan> { return {}; },
        .best_member = nullptr,
        .make_discounted = nullptr,
        .make_for_horizon =
            [](const Pomdp& model, const PlanOptions& options, Parallelism /*threads*/) {
              return horizon_plan(model, {.steps = options.horizon.value(),
                                          .discount = options.discount.value_or(1.0),
                                          .gap = options.gap,
                                          .work = 1e9 * options.work.value_or(kHorizonWork)});
            }},
};

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
  OAS_REQUIRE(found != kPlanners.end(), "planner is '{}'; known are {}{}", name,
              PlanOptions::kAutomatic, known_names());
  return *found;
}

const PlannerInfo& choose_planner(const Pomdp& model, const PlanOptions& options) {
  if (options.planner != PlanOptions::kAutomatic) return find_planner(options.planner);
  return *std::find_if(kPlanners.begin(), kPlanners.end(),
                       [&](const PlannerInfo& info) { return info.suits(model, options); });
}

namespace {

// The planner that the options name, or the first that is able. `what` says what needs that.
template <class Able>
const PlannerInfo& choose_able(const PlanOptions& options, const Able& able,
                               std::string_view what) {
  const PlannerInfo& first = *std::find_if(kPlanners.begin(), kPlanners.end(), able);
  if (options.planner == PlanOptions::kAutomatic) return first;
  const PlannerInfo& named = find_planner(options.planner);
  OAS_REQUIRE(able(named), "planner {} {} planner {}", named.name, what, first.name);
  return named;
}

}  // namespace

const PlannerInfo& choose_optimistic_planner(const PlanOptions& options) {
  return choose_able(
      options, [](const PlannerInfo& info) { return info.best_member != nullptr; },
      "plans for one model; a radius needs");
}

const PlannerInfo& choose_discounting_planner(const PlanOptions& options) {
  return choose_able(
      options, [](const PlannerInfo& info) { return info.make_discounted != nullptr; },
      "plans for the average; a discount needs");
}

const PlannerInfo& choose_horizon_planner(const PlanOptions& options) {
  return choose_able(
      options, [](const PlannerInfo& info) { return info.make_for_horizon != nullptr; },
      "makes plans that never end; a horizon needs");
}

}  // namespace oas
