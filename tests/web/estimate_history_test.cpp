#include "oas/web/estimate_history.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

namespace oas {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

// An agent with two actions and two states, whose estimates are told apart by their plan.
struct Plans {
  std::atomic<int> made = 0;
  std::atomic<int> estimates = 0;
  bool learns = true;

  AgentCalls calls() {
    return {[this](std::string_view call, std::string_view) { return answer(call); }, nullptr};
  }
  HttpReply answer(std::string_view call) {
    const int n = made;
    if (call == "status") return {200, Json({{"plans", n}}).dump()};
    if (call == "plan") {
      Json plan = {{"number", n}, {"gain", 0.5 * n}, {"optimistic_gain", nullptr}};
      return {200, Json({{"plan", n > 0 ? plan : Json(nullptr)}}).dump()};
    }
    ++estimates;
    if (!learns) return http_error(400, "this agent estimates nothing");
    const Json table = {{{n, n + 0.1}, {n + 0.2, n + 0.3}},
                        {{n + 0.4, n + 0.5}, {n + 0.6, nullptr}}};
    return {200, Json({{"states", {"a", "b"}},
                       {"actions", {0, 1}},
                       {"rows", 100 * n},
                       {"transition", n > 0 ? table : Json(nullptr)},
                       {"standard_error", n > 1 ? table : Json(nullptr)}})
                     .dump()};
  }
};

Json entry(const EstimateHistory& history, int action, int from, int to) {
  const Json request = {{"action", action}, {"from", from}, {"to", to}};
  return Json::parse(history.answer(request.dump()).body);
}

TEST(EstimateHistory, KeepsAPointForEveryPlan) {
  Plans plans;
  EstimateHistory history(plans.calls());
  history.look();
  EXPECT_EQ(entry(history, 0, 0, 0)["rows"], Json::array());
  for (int n = 1; n <= 3; ++n) {
    plans.made = n;
    history.look();
    history.look();
  }
  const Json found = entry(history, 1, 0, 1);
  EXPECT_EQ(found["plan"], Json({1, 2, 3}));
  EXPECT_EQ(found["rows"], Json({100, 200, 300}));
  EXPECT_EQ(found["value"], Json({1.5, 2.5, 3.5}));
  EXPECT_EQ(found["standard_error"], Json({nullptr, 2.5, 3.5}));
  EXPECT_EQ(found["gain"], Json({0.5, 1.0, 1.5}));
  EXPECT_EQ(found["optimistic_gain"], Json({nullptr, nullptr, nullptr}));
  EXPECT_EQ(entry(history, 1, 1, 1)["value"], Json({nullptr, nullptr, nullptr}));
  EXPECT_EQ(plans.estimates, 3);  // it asks again only when there is a new plan
}

TEST(EstimateHistory, ManyPlansTakeNoMoreThanTheirPlace) {
  Plans plans;
  EstimateHistory history(plans.calls(), 1);
  for (int n = 1; n <= 1000; ++n) {
    plans.made = n;
    history.look();
  }
  const Json found = entry(history, 0, 0, 0)["plan"];
  EXPECT_GE(found.size(), 8U);
  EXPECT_LE(found.size(), 16U);
  EXPECT_EQ(found.front(), 1);
  EXPECT_EQ(found.back(), 1000);
}

TEST(EstimateHistory, WrongRequestsAreRefused) {
  Plans plans;
  plans.made = 1;
  EstimateHistory history(plans.calls());
  history.look();
  for (const char* body :
       {"", "[]", "{}", "null", R"({"action":0,"from":0})", R"({"action":2,"from":0,"to":0})",
        R"({"action":0,"from":-1,"to":0})", R"({"action":0,"from":0,"to":2})",
        R"({"action":0.5,"from":0,"to":0})", R"({"action":0,"from":0,"to":0,"more":1})",
        R"({"action":"0","from":0,"to":0})"}) {
    const HttpReply reply = history.answer(body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_THAT(reply.body, HasSubstr("request"));
  }
}

TEST(EstimateHistory, WhoLearnsNothingHasNone) {
  Plans plans;
  plans.made = 1;
  plans.learns = false;
  EstimateHistory history(plans.calls());
  history.look();
  EXPECT_EQ(entry(history, 0, 0, 0)["rows"], Json::array());
}

TEST(EstimateHistory, WatchesByItself) {
  Plans plans;
  plans.made = 1;
  EstimateHistory history(plans.calls());
  history.watch();
  for (int i = 0; i < 500 && entry(history, 0, 0, 0)["rows"].empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(entry(history, 0, 0, 0)["rows"], Json({100}));
}

}  // namespace
}  // namespace oas
