#include "oas/planning/planners.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/planning/planner.hpp"
#include "planning/planning_support.hpp"

namespace oas {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Pomdp planner_model(int num_states) {
  test::RandomModelOptions sizes;
  sizes.num_states = num_states;
  sizes.num_actions = 2;
  sizes.num_observations = num_states;
  return test::random_model(sizes, 3);
}

PlanOptions quick_options(const PlannerInfo& info) {
  PlanOptions options;
  options.planner = info.name;
  options.simulation.steps = 3200;
  options.point.num_beliefs = 30;
  options.point.rounds = 1;
  options.work = 0.05;
  return options;
}

std::string bytes_of(const Plan& plan) { return dump_json(plan_to_json(plan)); }

// Files that earlier versions wrote: they are read, and written again byte by byte.
TEST(PlanFiles, StoredOnesAreReadAndWrittenAsTheyWere) {
  for (const char* name : {"grid", "point", "optimistic"}) {
    const std::string path = fmt::format("{}/tests/planning/plans/{}.json", OAS_SOURCE_DIR, name);
    EXPECT_EQ(bytes_of(read_plan(path)), read_text_file(path)) << name;
  }
}

// What every planner of the table promises.
TEST(Planners, KeepTheContract) {
  const Pomdp model = planner_model(3);
  for (const PlannerInfo& info : planners()) {
    SCOPED_TRACE(info.name);
    const PlanOptions options = quick_options(info);
    const Plan plan = make_plan(model, options);
    EXPECT_NO_THROW(plan.validate());
    EXPECT_LE(plan.gain_lower, plan.gain_upper);
    EXPECT_EQ(bytes_of(make_plan(model, options, {3})), bytes_of(plan));
    EXPECT_EQ(parse_plan(bytes_of(plan), "p.json"), plan);
    EXPECT_EQ(plan_to_json(plan)["planner"], info.name);
    if (const auto better = info.refine(plan, options, {1})) {
      EXPECT_LE(better->gain_upper, plan.gain_upper + 1e-9);
    }
  }
}

TEST(Planners, RefuseRewardsThatCannotBeSummedUp) {
  PomdpParts parts = planner_model(2).parts();
  parts.reward = Reward::by_action_state({1e308, -1e308, 0.0, 0.0});
  EXPECT_THAT([&] { static_cast<void>(make_plan(Pomdp(parts))); },
              ThrowsMessage<InvalidArgument>(HasSubstr("rewards must lie within ±1e+100")));
}

TEST(Planners, OnlyThoseOnAGridLookAtItsResolution) {
  for (const PlannerInfo& info : planners()) {
    SCOPED_TRACE(info.name);
    const std::vector<Setting> settings = {{"planner", std::string(info.name)}, {"grid", "7"}};
    if (info.has_grid) {
      EXPECT_EQ(plan_options(planner_model(3), settings).resolution, 7);
    } else {
      EXPECT_THROW(static_cast<void>(plan_options(planner_model(3), settings)), InvalidArgument);
    }
  }
}

TEST(Planners, AreChosenByNameOrByTheModel) {
  EXPECT_THAT([] { static_cast<void>(find_planner("oracle")); },
              ThrowsMessage<InvalidArgument>(
                  HasSubstr("planner is 'oracle'; known are auto, grid, point")));
  PlanOptions options;
  EXPECT_EQ(choose_planner(planner_model(3), options).name, "grid");
  EXPECT_EQ(choose_planner(planner_model(20), options).name, "point");
  options.resolution = 3;
  EXPECT_EQ(choose_planner(planner_model(20), options).name, "grid");
  options.planner = "point";
  EXPECT_EQ(choose_planner(planner_model(3), options).name, "point");
}

TEST(OptimisticPlan, BoundsTheWholeSetAndNeedsAPlannerForSets) {
  const Pomdp model = planner_model(2);
  PlanOptions options = quick_options(find_planner("grid"));
  options.resolution = 12;
  const Plan plain = make_plan(model, options);
  const Plan bold = optimistic_plan(model, 0.1, options);
  ASSERT_TRUE(bold.optimism.has_value());
  EXPECT_EQ(bold.optimism->radius, 0.1);
  EXPECT_GE(bold.optimism->gain_bound, bold.gain_upper);
  EXPECT_GT(bold.gain_upper, plain.gain_upper);
  options.planner = "auto";
  EXPECT_EQ(optimistic_plan(model, 0.1, options), bold);
  options.planner = "point";
  EXPECT_THAT([&] { static_cast<void>(optimistic_plan(model, 0.1, options)); },
              ThrowsMessage<InvalidArgument>(HasSubstr("a radius needs planner grid")));
  EXPECT_THAT([] { static_cast<void>(optimistic_plan(planner_model(65), 0.1)); },
              ThrowsMessage<InvalidArgument>(HasSubstr("65 states are too many")));
}

}  // namespace
}  // namespace oas
