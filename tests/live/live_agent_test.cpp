#include "oas/live/live_agent.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "live/live_fleet.hpp"
#include "oas/core/contracts.hpp"
#include "oas/problems/named.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using test::ask;
using test::quick_options;
using test::status_of;
using testing::HasSubstr;

class LiveAgentTest : public testing::Test {
 protected:
  test::TemporaryDirectory folder_;
  Pomdp model_ = make_problem("machine-maintenance");
  LiveOptions options_ = quick_options(folder_.file("journal"));
};

TEST_F(LiveAgentTest, ARunFromItsFirstActToItsEnd) {
  LiveAgent agent(model_, options_);
  const auto first = ask(agent, {{"call", "act"}, {"unit", "pump-7"}, {"step", 0}});
  EXPECT_EQ(first["step"], 0);
  EXPECT_EQ(first["run"], 1);
  EXPECT_TRUE(first["belief"].is_null());
  EXPECT_DOUBLE_EQ(first["propensity"], 1.0 / model_.num_actions());
  const auto seen =
      ask(agent, {{"call", "observe"}, {"unit", "pump-7"}, {"step", 0}, {"observation", 1}});
  EXPECT_EQ(seen["step"], 1);
  const auto second = ask(agent, {{"call", "act"}, {"unit", "pump-7"}, {"step", 1}});
  EXPECT_EQ(second["step"], 1);
  const auto third =
      ask(agent, {{"call", "step"}, {"unit", "pump-7"}, {"step", 1}, {"observation", nullptr}});
  EXPECT_EQ(third["step"], 2);
  const auto unit = ask(agent, {{"call", "status"}, {"unit", "pump-7"}});
  EXPECT_EQ(unit["rows"], 2);
  EXPECT_EQ(unit["missing"], 1);
  EXPECT_EQ(unit["next"], "observe");
  ask(agent, {{"call", "end"}, {"unit", "pump-7"}, {"step", 2}});
  ask(agent, {{"call", "end"}, {"unit", "pump-7"}, {"step", 2}});
  EXPECT_EQ(ask(agent, {{"call", "act"}, {"unit", "pump-7"}, {"step", 0}})["run"], 2);
}

TEST_F(LiveAgentTest, TheLastCallIsAnsweredTheSameAgain) {
  LiveAgent agent(model_, options_);
  const nlohmann::json act = {{"call", "act"}, {"unit", "u"}, {"step", 0}};
  EXPECT_EQ(ask(agent, act), ask(agent, act));
  const nlohmann::json step = {{"call", "step"}, {"unit", "u"}, {"step", 0}, {"observation", 0}};
  const auto answer = ask(agent, step);
  EXPECT_EQ(ask(agent, step), answer);
  EXPECT_EQ(ask(agent, {{"call", "status"}})["rows"], 1);
  nlohmann::json other = step;
  other["observation"] = 1;
  EXPECT_EQ(agent.call("", other.dump()).status, 409);
  other = step;
  other["action"] = 0;
  EXPECT_EQ(agent.call("", other.dump()).status, 409);
  EXPECT_EQ(ask(agent, {{"call", "act"}, {"unit", "u"}, {"step", 1}})["action"], answer["action"]);
}

TEST_F(LiveAgentTest, AnythingElseOutOfOrderSaysWhatIsExpected) {
  LiveAgent agent(model_, options_);
  EXPECT_EQ(status_of(agent, "act", R"({"unit":"u","step":3})"), 404);
  EXPECT_EQ(status_of(agent, "status", R"({"unit":"u"})"), 404);
  EXPECT_EQ(status_of(agent, "end", R"({"unit":"u","step":0})"), 404);
  ask(agent, {{"call", "act"}, {"unit", "u"}, {"step", 0}});
  for (const char* step : {"1", "2", "7"}) {
    const std::string body = std::string(R"({"unit":"u","step":)") + step;
    const LiveReply act = agent.call("act", body + "}");
    EXPECT_EQ(act.status, 409);
    EXPECT_THAT(act.body, HasSubstr("expected observe or step of step 0"));
    EXPECT_EQ(status_of(agent, "observe", body + R"(,"observation":0})"), 409);
  }
  ask(agent, {{"call", "observe"}, {"unit", "u"}, {"step", 0}, {"observation", 0}});
  EXPECT_THAT(agent.call("observe", R"({"unit":"u","step":1,"observation":0})").body,
              HasSubstr("expected act of step 1"));
  EXPECT_EQ(status_of(agent, "act", R"({"unit":"u","step":1,"run":2})"), 409);
  EXPECT_EQ(ask(agent, {{"call", "status"}})["rows"], 1);
}

TEST_F(LiveAgentTest, BadRequestsAreRefusedWithAReason) {
  LiveAgent agent(model_, options_);
  ask(agent, {{"call", "act"}, {"unit", "u"}, {"step", 0}});
  const std::string before = agent.call("status", "{}").body;
  const char* bad[] = {"",
                       "{",
                       "[]",
                       "null",
                       "7",
                       R"("act")",
                       R"({"call":7})",
                       R"({"call":"fly"})",
                       R"({"call":"act"})",
                       R"({"call":"act","unit":"u"})",
                       R"({"call":"act","unit":"","step":0})",
                       R"({"call":"act","unit":"a\nb","step":0})",
                       R"({"call":"act","unit":7,"step":0})",
                       R"({"call":"act","unit":"u","step":0.5})",
                       R"({"call":"act","unit":"u","step":1e300})",
                       R"({"call":"act","unit":"u","step":-2})",
                       R"({"call":"act","unit":"u","step":0,"step":0})",
                       R"({"call":"act","unit":"u","step":0,"colour":"red"})",
                       R"({"call":"observe","unit":"u","step":0})",
                       R"({"call":"observe","unit":"u","step":0,"observation":99})",
                       R"({"call":"observe","unit":"u","step":0,"observation":"nonsense"})",
                       R"({"call":"observe","unit":"u","step":0,"observation":[0]})",
                       R"({"call":"observe","unit":"u","step":0,"reading":[0.5]})",
                       R"({"call":"observe","unit":"u","step":0,"observation":0,"reading":[1]})",
                       R"({"call":"observe","unit":"u","step":0,"observation":0,"action":9})",
                       R"({"call":"observe","unit":"u","step":0,"observation":0,"propensity":1})",
                       R"({"call":"step","unit":"u","step":0,"observation":0,"action":0,)"
                       R"("propensity":0})",
                       R"({"call":"forecast","unit":"u"})",
                       R"({"call":"history","action":0,"from":0})",
                       R"({"call":"history","action":9,"from":0,"to":0})",
                       R"({"call":"history","action":0,"from":-1,"to":0})",
                       R"({"call":"history","action":0,"from":0,"to":0.5})",
                       R"({"call":"history","action":0,"from":0,"to":0,"more":1})",
                       "\x80\xff"};
  EXPECT_THAT(agent.call("observe", R"({"unit":"u","step":0})").body, HasSubstr("; there is none"));
  for (const char* body : bad) {
    const LiveReply reply = agent.call("", body);
    EXPECT_EQ(reply.status, 400) << body << reply.body;
    const auto answer = nlohmann::json::parse(reply.body);
    EXPECT_EQ(answer["ok"], false) << body;
    EXPECT_FALSE(answer["error"].get<std::string>().empty());
  }
  const std::string deep(100'000, '[');
  EXPECT_EQ(agent.call("", deep).status, 400);
  EXPECT_EQ(agent.call("", std::string(10'000'000, ' ')).status, 413);
  EXPECT_EQ(agent.call("act", std::string(200, 'x')).status, 400);
  const std::string longest(129, 'x');
  EXPECT_EQ(agent.call("act", R"({"step":0,"unit":")" + longest + "\"}").status, 400);
  EXPECT_EQ(agent.call("status", "{}").body, before);
}

TEST_F(LiveAgentTest, ActionsThatOthersChoseAreTaken) {
  LiveAgent agent(model_, options_);
  ask(agent, {{"call", "act"}, {"unit", "u"}, {"step", 0}});
  const auto answer = ask(agent, {{"call", "step"},
                                  {"unit", "u"},
                                  {"step", 0},
                                  {"observation", 0},
                                  {"action", 1},
                                  {"propensity", 0.5}});
  EXPECT_EQ(answer["step"], 1);
  EXPECT_EQ(ask(agent, {{"call", "estimate"}})["plays"][1], 1);
  // From the first step on, and without act.
  ask(agent, {{"call", "observe"}, {"unit", "v"}, {"step", 0}, {"observation", 0}, {"action", 0}});
  EXPECT_EQ(ask(agent, {{"call", "status"}, {"unit", "v"}})["step"], 1);
}

TEST_F(LiveAgentTest, WeightedMomentsRefuseOverridesWithoutPropensity) {
  const Pomdp after = make_problem("robot-corridor");
  ASSERT_EQ(after.timing(), Timing::after);
  options_.agent = "oas-ucrl-pooled";
  LiveAgent agent(after, options_);
  ask(agent, {{"call", "act"}, {"unit", "u"}, {"step", 0}});
  const LiveReply reply =
      agent.call("observe", R"({"unit":"u","step":0,"observation":0,"action":1})");
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("propensity"));
  EXPECT_EQ(status_of(agent, "observe",
                      R"({"unit":"u","step":0,"observation":0,"action":1,"propensity":0.5})"),
            200);
}

TEST_F(LiveAgentTest, AgentsThatCannotBeSplitTakeOneUnit) {
  options_.agent = "psrl";
  options_.settings = {{"resolution", "6"}, {"particles", "20"}};
  LiveAgent agent(model_, options_);
  ask(agent, {{"call", "act"}, {"unit", "a"}, {"step", 0}});
  const LiveReply second = agent.call("act", R"({"unit":"b","step":0})");
  EXPECT_EQ(second.status, 400);
  EXPECT_THAT(second.body, HasSubstr("cannot be split"));
  EXPECT_EQ(status_of(agent, "observe", R"({"unit":"a","step":0,"observation":0,"action":0})"),
            400);
  EXPECT_EQ(ask(agent, {{"call", "step"}, {"unit", "a"}, {"step", 0}, {"observation", 0}})["step"],
            1);
}

TEST_F(LiveAgentTest, UnitsAreLimited) {
  options_.max_units = 2;
  LiveAgent agent(model_, options_);
  ask(agent, {{"call", "act"}, {"unit", "a"}, {"step", 0}});
  ask(agent, {{"call", "act"}, {"unit", "b"}, {"step", 0}});
  EXPECT_EQ(status_of(agent, "act", R"({"unit":"c","step":0})"), 503);
  ask(agent, {{"call", "end"}, {"unit", "a"}, {"step", 0}});
  EXPECT_EQ(status_of(agent, "act", R"({"unit":"c","step":0})"), 200);
}

TEST_F(LiveAgentTest, UnitsComeAndGo) {
  options_.max_units = 1;
  options_.sync = LiveSync::never;
  LiveAgent agent(model_, options_);
  for (int i = 0; i < 300; ++i) {
    const std::string unit = "pump " + std::to_string(i);
    ask(agent, {{"call", "act"}, {"unit", unit}, {"step", 0}});
    const LiveReply full = agent.call("act", R"({"unit":"one too many","step":0})");
    EXPECT_EQ(full.status, 503);
    EXPECT_THAT(full.body, HasSubstr("there are 1 units"));
    ask(agent, {{"call", "end"}, {"unit", unit}, {"step", 0}});
  }
}

// However many units there are, and wherever the list is cut.
TEST_F(LiveAgentTest, StatusTellsOfAllUnitsInTheirOrder) {
  options_.sync = LiveSync::never;
  LiveAgent agent(model_, options_);
  for (int i = 0; i < 250; ++i) {
    ask(agent, {{"call", "act"}, {"unit", std::to_string(1000 + i)}, {"step", 0}});
  }
  for (const int limit : {0, 1, 99, 100, 101, 200, 249, 250, 251, 10'000}) {
    const auto answer = ask(agent, {{"call", "status"}, {"limit", limit}, {"after", "1000"}});
    const int expected = std::min(limit, 249);
    ASSERT_EQ(answer["units"].size(), static_cast<std::size_t>(expected));
    EXPECT_EQ(answer["more"], limit < 249);
    for (int i = 0; i < expected; ++i) {
      ASSERT_EQ(answer["units"][static_cast<std::size_t>(i)]["unit"], std::to_string(1001 + i));
    }
  }
}

TEST_F(LiveAgentTest, AFullDiskIsAnAnswerAndNothingHasChanged) {
  for (const char* name : {"oas-ucrl-ml", "psrl"}) {
    options_.agent = name;
    options_.journal = folder_.file(name);
    options_.settings.clear();
    if (options_.agent == "psrl") options_.settings = {{"resolution", "6"}, {"particles", "20"}};
    options_.sync = LiveSync::never;
    LiveAgent agent(model_, options_);
    ask(agent, {{"call", "act"}, {"unit", "u"}, {"step", 0}});
    rlimit old{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const auto before = ask(agent, {{"call", "status"}});
    const rlimit small{10, old.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const char* request = R"({"unit":"u","step":0,"observation":0})";
    const LiveReply refused = agent.call("step", request);
    const auto during = ask(agent, {{"call", "status"}});
    const LiveReply health = agent.call("health", "{}");
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(refused.status, 503);
    EXPECT_THAT(refused.body, HasSubstr("cannot be written"));
    for (const char* key : {"rows", "records", "units", "plans"}) {
      EXPECT_EQ(during[key], before[key]) << key;
    }
    // Whoever watches sees it, and sees that it is over before the next call comes.
    EXPECT_EQ(health.status, 503);
    EXPECT_THAT(health.body, HasSubstr("cannot be written"));
    EXPECT_THAT(during["warnings"].dump(), HasSubstr("cannot be written"));
    EXPECT_EQ(ask(agent, {{"call", "health"}})["status"], "serving");
    EXPECT_EQ(agent.call("step", request).status, 200);
    EXPECT_TRUE(agent.warnings().empty());
  }
}

TEST_F(LiveAgentTest, CallsComeFromSeveralThreads) {
  LiveAgent agent(model_, options_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      test::FleetUnit unit(model_, "t" + std::to_string(i), static_cast<std::uint64_t>(i));
      for (int t = 0; t < 100; ++t) unit.take(ask(agent, unit.request()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ask(agent, {{"call", "status"}})["rows"], 4 * 99);
  EXPECT_THAT(agent.metrics(), HasSubstr("oas_rows_total 396\n"));
  EXPECT_THAT(agent.metrics(), HasSubstr("oas_calls_total{call=\"step\",status=\"200\"} 396\n"));
}

// By seed, unit, run and step: each of these changes the draws, and they are as even as was said.
TEST_F(LiveAgentTest, ActionsAreDrawnByTheirPropensities) {
  constexpr int kSteps = 3000;
  options_.agent = "uniform";
  options_.settings.clear();
  options_.sync = LiveSync::never;
  const auto actions = [&](LiveAgent& agent, const std::string& unit) {
    std::vector<std::string> drawn;
    for (int t = 0; t < kSteps; ++t) {
      const auto answer =
          t == 0
              ? ask(agent, {{"call", "act"}, {"unit", unit}, {"step", 0}})
              : ask(agent,
                    {{"call", "step"}, {"unit", unit}, {"step", t - 1}, {"observation", nullptr}});
      drawn.push_back(answer["action"]);
    }
    ask(agent, {{"call", "end"}, {"unit", unit}, {"step", kSteps - 1}});
    return drawn;
  };
  std::vector<std::vector<std::string>> all;
  {
    LiveAgent agent(model_, options_);
    for (const char* unit : {"a", "b", "a"}) all.push_back(actions(agent, unit));
  }
  options_.seed = 2;
  options_.journal = folder_.file("other");
  LiveAgent other(model_, options_);
  all.push_back(actions(other, "a"));
  for (const std::vector<std::string>& drawn : all) {
    double chi_square = 0.0;
    for (const std::string& name : model_.actions().names()) {
      const double expected = static_cast<double>(kSteps) / model_.num_actions();
      const auto count = static_cast<double>(std::count(drawn.begin(), drawn.end(), name));
      chi_square += (count - expected) * (count - expected) / expected;
    }
    EXPECT_LT(chi_square, 27.7);  // 2 degrees of freedom, 1e-6
    EXPECT_EQ(std::count(all.begin(), all.end(), drawn), 1);
  }
}

TEST_F(LiveAgentTest, ForecastsAndQuestionsChangeNothing) {
  options_.agent = "oracle";
  options_.settings = {{"resolution", "6"}};
  LiveAgent agent(model_, options_);
  const auto act = ask(agent, {{"call", "act"}, {"unit", "u"}, {"step", 0}});
  const std::string records = ask(agent, {{"call", "status"}})["records"].dump();
  const auto forecast =
      ask(agent, {{"call", "forecast"}, {"unit", "u"}, {"steps", 3}, {"actions", 0}});
  ASSERT_EQ(forecast["states"].size(), 4u);
  EXPECT_EQ(forecast["states"][0], act["belief"]);
  std::vector<double> next(static_cast<std::size_t>(model_.num_states()), 0.0);
  for (int s = 0; s < model_.num_states(); ++s) {
    for (int i = 0; i < model_.num_states(); ++i) {
      next[static_cast<std::size_t>(i)] +=
          act["belief"][static_cast<std::size_t>(s)].get<double>() *
          model_.transition()(Action{0}, State{s}, State{i});
    }
  }
  for (std::size_t i = 0; i < next.size(); ++i) {
    EXPECT_NEAR(forecast["states"][1][i].get<double>(), next[i], 1e-12);
  }
  EXPECT_EQ(status_of(agent, "estimate", "{}"), 400);
  EXPECT_EQ(ask(agent, {{"call", "health"}})["status"], "serving");
  EXPECT_EQ(ask(agent, {{"call", "status"}})["records"].dump(), records);
}

// Of units that were not heard of since the plan came into force, too.
TEST_F(LiveAgentTest, ForecastsAreOfThePlanInForce) {
  options_.synchronous = true;
  LiveAgent agent(model_, options_);
  for (const char* unit : {"idle", "gone"}) {
    ask(agent, {{"call", "act"}, {"unit", unit}, {"step", 0}});
    ask(agent, {{"call", "observe"}, {"unit", unit}, {"step", 0}, {"observation", 1}});
  }
  ask(agent, {{"call", "end"}, {"unit", "gone"}, {"step", 1}});
  test::FleetUnit busy(model_, "busy", 1);
  for (int plans = 0; plans < 3;) {
    for (int t = 0; t < 50; ++t) busy.take(ask(agent, busy.request()));
    const int now = ask(agent, {{"call", "status"}})["plans"];
    if (now == plans) continue;
    plans = now;
    const auto forecast =
        ask(agent, {{"call", "forecast"}, {"unit", "idle"}, {"steps", 0}, {"actions", 0}});
    const int step = ask(agent, {{"call", "status"}, {"unit", "idle"}})["step"];
    const auto act = ask(agent, {{"call", "act"}, {"unit", "idle"}, {"step", step}});
    EXPECT_EQ(forecast["states"][0], act["belief"]) << plans;
    ask(agent, {{"call", "observe"}, {"unit", "idle"}, {"step", step}, {"observation", 0}});
  }
  const LiveReply gone = agent.call("forecast", R"({"unit":"gone","actions":0})");
  EXPECT_THAT(gone.body, HasSubstr("has ended"));
}

#ifdef __linux__
// One thread, and it alone, gives way to the others: the one that plans. None is slower for it.
TEST_F(LiveAgentTest, CallsGoBeforePlans) {
  const LiveAgent agent(model_, options_);
  const auto threads_that_give_way = [] {
    int count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      const pid_t thread = std::stoi(task.path().filename().string());
      count += sched_getscheduler(thread) == SCHED_BATCH ? 1 : 0;
      EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(thread)), getpriority(PRIO_PROCESS, 0));
    }
    return count;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (threads_that_give_way() == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(threads_that_give_way(), 1);
}
#endif

TEST_F(LiveAgentTest, WrongOptionsAreRefused) {
  const auto refused = [&](auto change) {
    LiveOptions options = options_;
    change(options);
    EXPECT_THROW(LiveAgent(model_, options), InvalidArgument);
  };
  refused([](LiveOptions& o) { o.journal = ""; });
  refused([](LiveOptions& o) { o.agent = "nobody"; });
  refused([](LiveOptions& o) { o.settings = {{"colour", "red"}}; });
  refused([](LiveOptions& o) { o.max_units = 0; });
  refused([](LiveOptions& o) { o.sync_seconds = 0.0; });
  refused([&](LiveOptions& o) {
    o.agent = "seeu";
    o.settings = {{"views", "emission-columns"}};
  });
}

}  // namespace
}  // namespace oas
