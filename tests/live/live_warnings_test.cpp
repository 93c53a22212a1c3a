#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "live/live_fleet.hpp"
#include "oas/problems/named.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using test::ask;
using testing::HasSubstr;
using testing::Not;

std::set<std::string> about(const LiveAgent& agent) {
  std::set<std::string> all;
  for (const LiveWarning& warning : agent.warnings()) all.insert(warning.about);
  return all;
}

std::string text_about(const LiveAgent& agent, const std::string& what) {
  for (const LiveWarning& warning : agent.warnings()) {
    if (warning.about == what) return warning.text;
  }
  return {};
}

class LiveWarningsTest : public testing::Test {
 protected:
  LiveWarningsTest() { options_.sync = LiveSync::never; }

  // Rows of a unit whose actions somebody else chose.
  void rows(LiveAgent& agent, int count, int action, const nlohmann::json& observation) {
    for (int i = 0; i < count; ++i) {
      ask(agent, {{"call", "observe"},
                  {"unit", "u"},
                  {"step", step_++},
                  {"observation", observation},
                  {"action", action}});
    }
  }

  test::TemporaryDirectory folder_;
  LiveOptions options_ = test::quick_options(folder_.file("journal"));
  int step_ = 0;
};

TEST_F(LiveWarningsTest, RowsOfTheDynamicsThatNobodySaw) {
  const Pomdp model = make_problem("machine-maintenance");
  options_.synchronous = true;
  LiveAgent agent(model, options_);
  rows(agent, 100 * model.num_actions() * model.num_states(), 0, 0);
  EXPECT_FALSE(about(agent).contains("rows not learned"));  // no plan yet
  ask(agent, {{"call", "act"}, {"unit", "u"}, {"step", step_}});
  const std::string text = text_about(agent, "rows not learned");
  EXPECT_THAT(text, HasSubstr(model.actions()[1] + " in " + model.states()[0]));
  EXPECT_THAT(text, Not(HasSubstr(model.actions()[0] + " in " + model.states()[0])));
  EXPECT_TRUE(about(agent).contains("action " + model.actions()[1]));
}

// States that can be told for certain, one after the other.
Pomdp seen_cycle() {
  PomdpParts parts;
  parts.states = Labels(2, "x");
  parts.actions = Labels(1, "x");
  parts.observations = Labels(2, "x");
  parts.transition = TransitionModel(2, 1, {0, 1, 1, 0}, "transition");
  parts.sensors = ObservationModel(2, 1, 2, {1, 0, 0, 1}, "observation");
  parts.start = {1.0, 0.0};
  parts.reward = Reward::by_observation({0.0, 1.0});
  return Pomdp(std::move(parts));
}

TEST_F(LiveWarningsTest, WhatIsOverIsNotWarnedOf) {
  options_.agent = "oracle";
  options_.settings = {{"resolution", "4"}};
  LiveAgent agent(seen_cycle(), options_);
  rows(agent, 1, 0, 0);
  EXPECT_TRUE(about(agent).empty());
  rows(agent, 1, 0, 0);  // cannot be
  EXPECT_EQ(about(agent), std::set<std::string>{"impossible observations"});
  EXPECT_EQ(ask(agent, {{"call", "health"}})["status"], "serving, with warnings");
  rows(agent, 9000, 0, nullptr);
  EXPECT_TRUE(about(agent).contains("impossible observations"));
  rows(agent, 2000, 0, nullptr);
  EXPECT_TRUE(about(agent).empty());
  EXPECT_EQ(ask(agent, {{"call", "health"}})["status"], "serving");
  EXPECT_THAT(agent.metrics(), HasSubstr("oas_rows_impossible_total 1\n"));
}

}  // namespace
}  // namespace oas
