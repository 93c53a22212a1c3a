#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "planning/horizon_support.hpp"

/// Files of plans that end.
namespace oas {
namespace {

TEST(HorizonFile, RoundTripToTheBit) {
  for (int kind = 0; kind < 3; ++kind) {
    Plan plan = test::plan_for(test::small_model(kind, 3), 4, 1e-4, 0.9);
    plan.posterior = PosteriorGain{0.9, 200, 0.5, 0.25, 0.75};
    const std::string text = dump_json(plan_to_json(plan));
    const Plan again = parse_plan(text, "plan");
    EXPECT_EQ(again, plan);
    EXPECT_EQ(dump_json(plan_to_json(again)), text);
  }
}

TEST(HorizonFile, FaultsAreNamed) {
  const Plan plan = test::plan_for(test::small_model(1, 1), 3);
  using Json = nlohmann::ordered_json;
  const std::vector<std::pair<std::function<void(Json&)>, std::string>> cases = {
      {[](Json& j) { j["stages"][1]["actions"][0] = 7; }, "stage 1 takes action 7 of 2"},
      {[](Json& j) { j["stages"][0]["next"][0][0] = 99; }, "stage 0 names node 99"},
      {[](Json& j) { j["stages"][0]["next"][0][0] = -1; }, "stage 0 names node -1"},
      {[](Json& j) { j["stages"][0]["next"][0][0] = -5; }, "$.stages[0].next[0][0]"},
      {[](Json& j) { j["stages"][0]["next"][0].push_back(0); },
       "$.stages[0].next[0]: expected a node for"},
      {[](Json& j) { j["stages"][0].erase("next"); }, "stage 0 has 0 next nodes"},
      {[](Json& j) {
         j["stages"][2]["next"] = {{0, 0, 0}};
       },
       "nothing comes after the last step"},
      {[](Json& j) { j["stages"].erase(2); }, "stage 1 has"},
      {[](Json& j) { j["stages"] = Json::array(); }, "without stages"},
      {[](Json& j) { j["stages"][0]["alpha"][0].erase(0); }, "$.stages[0].alpha"},
      {[](Json& j) { j["stages"][0]["more"] = 1; }, "more"},
      {[](Json& j) { j["start"] = 50; }, "start names node 50"},
      {[](Json& j) {
         j["first"] = {0, 0, 0};
       },
       "begins with a reading"},
      {[](Json& j) { j["horizon"]["steps"] = 4; }, "a horizon of 4 steps with 3 stages"},
      {[](Json& j) { j["horizon"]["discount"] = 1.5; }, "1.5"},
      {[](Json& j) { j["horizon"]["upper"] = -1e9; }, "its upper -1000000000"},
      {[](Json& j) { j["iota"] = 0.1; }, "no floor"},
      {[](Json& j) { j.erase("horizon"); }, "go together"}};
  for (const auto& [damage, says] : cases) {
    Json document = plan_to_json(plan);
    damage(document);
    try {
      static_cast<void>(parse_plan(dump_json(document), "plan.json"));
      FAIL() << says;
    } catch (const ParseError& error) {
      EXPECT_THAT(error.what(),
                  testing::AllOf(testing::HasSubstr("plan.json"), testing::HasSubstr(says)));
    }
  }
}

}  // namespace
}  // namespace oas
