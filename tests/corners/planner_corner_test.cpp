#include <cmath>
#include <string>

#include "corners/corner_grid.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/planners.hpp"

namespace oas {
namespace {

class PlannerCorner : public testing::TestWithParam<test::Corner> {};

PlanOptions quick_options(const PlannerInfo& info, const Pomdp& model) {
  PlanOptions options;
  options.planner = info.name;
  if (info.has_grid) options.resolution = model.num_states() > 3 ? 2 : 5;
  options.max_sweeps = 2000;
  options.simulation.steps = 640;
  options.point.num_beliefs = 20;
  options.point.rounds = 1;
  options.work = 0.01;
  return options;
}

void expect_sound(const Plan& plan) {
  EXPECT_NO_THROW(plan.validate());
  EXPECT_NE(plan.status, SolveStatus::not_run);
  EXPECT_TRUE(std::isfinite(plan.gain_lower)) << plan.gain_lower;
  EXPECT_TRUE(std::isfinite(plan.gain_upper)) << plan.gain_upper;
  EXPECT_LE(plan.gain_lower, plan.gain_upper);
  EXPECT_TRUE(std::isfinite(plan.residual));
}

// The average, where all ends, and with a discount: whatever the planner can do.
TEST_P(PlannerCorner, BoundsAreOrdered) {
  const Pomdp& model = GetParam().model;
  for (const PlannerInfo& info : planners()) {
    SCOPED_TRACE(info.name);
    const PlanOptions options = quick_options(info, model);
    expect_sound(make_plan(model, options, {1}));
    if (info.make_discounted != nullptr) {
      PlanOptions discounted = options;
      discounted.discount = 0.9;
      const Plan plan = make_plan(model, discounted, {1});
      expect_sound(plan);
      ASSERT_TRUE(plan.discounted.has_value());
      EXPECT_LE(plan.discounted->lower, plan.discounted->upper);
    }
    if (info.make_for_horizon != nullptr) {
      PlanOptions ending = options;
      ending.horizon = 3;
      const Plan plan = make_plan(model, ending, {1});
      EXPECT_NO_THROW(plan.validate());
      ASSERT_TRUE(plan.horizon.has_value());
      EXPECT_LE(plan.horizon->lower, plan.horizon->upper);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, PlannerCorner, testing::ValuesIn(test::corners()),
                         test::corner_name);

}  // namespace
}  // namespace oas
