#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "live/live_fleet.hpp"
#include "oas/belief/likelihood_filter.hpp"
#include "oas/logs/log_files.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/environment.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using test::ask;
using test::status_of;
using testing::HasSubstr;

// Two numbers a reading, which the states shift.
DensitySensors two_numbers(int num_states, int num_actions, bool same_for_all) {
  std::vector<VectorDensity> densities;
  for (int a = 0; a < num_actions; ++a) {
    for (int s = 0; s < num_states; ++s) {
      const double spread = same_for_all ? 2.0 : 2.0 + a;
      densities.push_back(
          VectorDensity({Density::gaussian(1.5 * s, 1.0), Density::gaussian(-1.0 * s, spread)}));
    }
  }
  return DensitySensors(num_states, num_actions, std::move(densities));
}

ContinuousPomdp continuous(const Pomdp& chain, bool reading_first = false) {
  PomdpParts parts = chain.parts();
  std::vector<double> reward(static_cast<std::size_t>(chain.num_actions()) *
                             static_cast<std::size_t>(chain.num_states()));
  for (std::size_t i = 0; i < reward.size(); ++i) reward[i] = 0.1 * static_cast<double>(i % 4);
  parts.reward = Reward::by_action_state(reward);
  const Pomdp rewarded(std::move(parts));
  const ContinuousPomdp model(rewarded,
                              two_numbers(chain.num_states(), chain.num_actions(), reading_first));
  return reading_first ? model.with_rows(Rows::reading_first) : model;
}

nlohmann::json to_json(std::span<const double> numbers) {
  nlohmann::json array = nlohmann::json::array();
  for (const double x : numbers)
    array.push_back(std::isnan(x) ? nlohmann::json() : nlohmann::json(x));
  return array;
}

Action chosen_in(const nlohmann::json& answer, const ContinuousPomdp& model) {
  const nlohmann::json& chosen = answer["action"];
  if (!chosen.is_string()) return Action{chosen.get<int>()};
  return Action{*model.chain().actions().find(chosen.get<std::string>())};
}

class LiveReadingsTest : public testing::TestWithParam<const char*> {
 protected:
  LiveReadingsTest() { options_.sync = LiveSync::never; }

  test::TemporaryDirectory folder_;
  LiveOptions options_ = test::quick_options(folder_.file("journal"));
};

// Beliefs take the exact densities, and not the cells that plans are made on; a component or the
// whole reading may be missing, and somebody else's likelihoods may stand in its place.
TEST_P(LiveReadingsTest, BeliefsAreThoseOfTheDensities) {
  options_.agent = "oracle";
  options_.settings = {{"resolution", "4"}};
  const ContinuousPomdp model = continuous(make_problem(GetParam()));
  const ReadingLikelihood density(model.sensors());
  LiveAgent agent(model, options_);
  LikelihoodFilter exact(model.chain());
  ContinuousEnvironment environment(model, Rng({1, 0, Role::environment}));
  std::vector<double> likelihoods(static_cast<std::size_t>(model.num_states()));
  auto answer = ask(agent, {{"call", "act"}, {"unit", "u"}, {"step", 0}});
  for (int t = 0; t < 200; ++t) {
    const std::vector<double> belief = answer["belief"];
    for (std::size_t s = 0; s < belief.size(); ++s) {
      ASSERT_NEAR(belief[s], exact.belief()[s], 1e-9) << t;
    }
    const Action action = chosen_in(answer, model);
    const auto values = environment.step(action).observation.values;
    std::vector<double> reading(values.begin(), values.end());
    if (t % 7 == 3) reading[1] = std::nan("");
    density(action, reading, likelihoods);
    nlohmann::json request = {{"call", "step"}, {"unit", "u"}, {"step", t}};
    if (t % 5 == 4) {
      request["observation"] = nullptr;
      std::fill(likelihoods.begin(), likelihoods.end(), 1.0);
    } else if (t % 5 == 3) {
      for (double& p : likelihoods) p *= 1e-3;  // a common factor says nothing
      request["likelihood"] = to_json(likelihoods);
    } else {
      request["reading"] = to_json(reading);
    }
    exact.update(action, likelihoods);
    answer = ask(agent, request);
    ASSERT_EQ(ask(agent, request), answer);
  }
  EXPECT_EQ(ask(agent, {{"call", "status"}})["warnings"].size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Timings, LiveReadingsTest,
                         testing::Values("machine-maintenance", "robot-corridor"),
                         [](const auto& problem) {
                           return problem.param == std::string("robot-corridor") ? "after"
                                                                                 : "before";
                         });

class LiveReadings : public LiveReadingsTest {};

// An agent that learns from readings, again and again in another process: the same as in one, and
// as one that makes it all again from the journal.
TEST_F(LiveReadings, WhatIsLearnedOutlivesTheProcess) {
  const ContinuousPomdp model = continuous(make_problem("robot-corridor"), true);
  options_.synchronous = true;
  options_.settings = {{"first_episode", "40"}, {"resolution", "2"}};
  const auto play = [&](const std::string& journal, int processes) {
    options_.journal = folder_.file(journal);
    options_.snapshot_every = 40;
    ContinuousEnvironment environment(model, Rng({3, 0, Role::environment}));
    nlohmann::json request = {{"call", "step"}, {"unit", "u"}, {"step", -1}};
    request["reading"] = to_json(environment.open().values);
    std::string text;
    for (int process = 0; process < processes; ++process) {
      LiveAgent agent(model, options_);
      for (int t = 0; t < 90 / processes; ++t) {
        const auto answer = ask(agent, request);
        const Action action = chosen_in(answer, model);
        request["step"] = answer["step"];
        request["reading"] = to_json(environment.step(action).observation.values);
      }
      text = agent.call("status", "{}").body + agent.call("estimate", "{}").body +
             agent.call("plan", "{}").body;
      EXPECT_GE(ask(agent, {{"call", "status"}})["plans"], process + 1 == processes ? 2 : 0);
    }
    return text;
  };
  const std::string whole = play("one", 1);
  EXPECT_EQ(play("many", 6), whole);
  options_.verify = true;
  LiveAgent again(model, options_);
  EXPECT_EQ(again.call("status", "{}").body + again.call("estimate", "{}").body +
                again.call("plan", "{}").body,
            whole);
  // The journal is a log of readings.
  const std::vector<std::string> logs = {options_.journal};
  LogFiles files(model, logs);
  RowBlock rows;
  ASSERT_TRUE(files.next(rows));
  EXPECT_EQ(rows.size(), 89u);
}

// Likelihoods instead of observations teach the same where they say the same.
TEST_F(LiveReadings, LikelihoodsOfASensorTeachAsItsObservationsDo) {
  const Pomdp model = make_problem("machine-maintenance");
  options_.synchronous = true;
  options_.settings.push_back({"tolerance", "1e-6"});
  std::vector<std::vector<double>> learned;
  for (const bool likelihoods : {false, true}) {
    options_.journal = folder_.file(likelihoods ? "likelihoods" : "observations");
    LiveAgent agent(model, options_);
    Environment environment(model, Rng({1, 0, Role::environment}));
    for (int t = 0; t < 400; ++t) {
      const Action action{t * t % model.num_actions()};
      const Observation seen = environment.step(action).observation;
      nlohmann::json request = {
          {"call", "observe"}, {"unit", "u"}, {"step", t}, {"action", action.value()}};
      if (likelihoods && t % 3 > 0) {
        for (State s{0}; s < model.num_states(); ++s) {
          request["likelihood"].push_back(model.sensors()(action, s, seen));
        }
      } else {
        request["observation"] = seen.value();
      }
      ask(agent, request);
    }
    ask(agent, {{"call", "act"}, {"unit", "u"}, {"step", 400}});
    const nlohmann::json estimate = ask(agent, {{"call", "estimate"}})["transition"];
    ASSERT_TRUE(estimate.is_array());
    std::vector<double>& values = learned.emplace_back();
    for (const auto& matrix : estimate) {
      for (const auto& row : matrix) {
        for (const auto& p : row) values.push_back(p);
      }
    }
  }
  // The climbs start at different moments, so they end within what is left to be won.
  for (std::size_t i = 0; i < learned[0].size(); ++i) {
    EXPECT_NEAR(learned[0][i], learned[1][i], 0.02) << i;
  }
}

// Likelihoods near the ends of what numbers can be.
TEST_F(LiveReadings, ACommonFactorOfLikelihoodsSaysNothing) {
  const Pomdp model = make_problem("machine-maintenance");
  options_.agent = "oracle";
  options_.settings = {{"resolution", "4"}};
  LiveAgent agent(model, options_);
  std::vector<nlohmann::json> beliefs;
  for (const double factor : {1.0, 1e-300, 4e-323, 1e300}) {
    const std::string unit = std::to_string(beliefs.size());
    ask(agent, {{"call", "act"}, {"unit", unit}, {"step", 0}});
    const auto answer = ask(agent, {{"call", "step"},
                                    {"unit", unit},
                                    {"step", 0},
                                    {"action", 0},
                                    {"likelihood", {0.0, factor, factor, 0.0}}});
    beliefs.push_back(answer["belief"]);
    EXPECT_EQ(beliefs.back(), beliefs.front()) << factor;
  }
  EXPECT_EQ(ask(agent, {{"call", "status"}})["warnings"].size(), 0u);
}

TEST_F(LiveReadings, WhatCannotBeIsRefusedByName) {
  const Pomdp finite = make_problem("machine-maintenance");
  const ContinuousPomdp model = continuous(finite);
  options_.agent = "oas-ucrl-pooled";
  {
    LiveAgent agent(model, options_);
    ask(agent, {{"call", "act"}, {"unit", "u"}, {"step", 0}});
    const std::string before = agent.call("status", "{}").body;
    for (const char* seen :
         {R"("observation":0)", R"("reading":[1])", R"("reading":[1,2,3])", R"("reading":["1",2])",
          R"("reading":[])", R"("reading":1)", R"("reading":[1e300,0])", R"("reading":[[1],[2]])",
          R"("likelihood":[1,1])", R"("likelihood":[1,1,1,-1])", R"("likelihood":[0,0,0,0])",
          R"("likelihood":[null,1,1,1])", R"("likelihood":1)", R"("likelihood":[1,1,1,1])",
          R"("reading":[1,2],"observation":null)"}) {
      const LiveReply reply =
          agent.call("observe", std::string(R"({"unit":"u","step":0,)") + seen + "}");
      EXPECT_EQ(reply.status, 400) << seen << reply.body;
    }
    EXPECT_EQ(agent.call("status", "{}").body, before);
    EXPECT_THAT(agent.call("observe", R"({"unit":"u","step":0,"likelihood":[1,1,1,1]})").body,
                HasSubstr("moments"));
    EXPECT_EQ(status_of(agent, "observe", R"({"unit":"u","step":0,"reading":[0.5,null]})"), 200);
  }
  options_.agent = "psrl";
  options_.settings.clear();
  options_.journal = folder_.file("solo");
  EXPECT_THROW(LiveAgent(model, options_), InvalidArgument);
  EXPECT_THROW(LiveAgent(ContinuousPomdp(model.chain()), test::quick_options(folder_.file("none"))),
               InvalidArgument);
}

}  // namespace
}  // namespace oas
