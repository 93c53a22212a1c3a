#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "live/live_fleet.hpp"
#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"
#include "oas/problems/named.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using test::ask;
using test::FleetUnit;
using test::quick_options;
using testing::HasSubstr;

void play(LiveAgent& agent, std::vector<FleetUnit>& units, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    for (FleetUnit& unit : units) unit.take(ask(agent, unit.request()));
  }
}

std::vector<FleetUnit> fleet(const Pomdp& model, int units) {
  std::vector<FleetUnit> made;
  for (int i = 0; i < units; ++i) {
    made.emplace_back(model, "u" + std::to_string(i), static_cast<std::uint64_t>(i));
  }
  return made;
}

std::string all_of(LiveAgent& agent) {
  std::string text;
  for (const char* call : {"status", "estimate", "plan"})
    text += agent.call(call, "{}").body + "\n";
  text += agent.call("history", R"({"action":0,"from":0,"to":1})").body;
  return text;
}

class LiveReplayTest : public testing::TestWithParam<const char*> {};

// The same calls in one process and in many, which end anywhere: the same answers.
TEST_P(LiveReplayTest, GoesOnAsIfNothingHadHappened) {
  const test::TemporaryDirectory folder;
  const Pomdp model = make_problem("machine-maintenance");
  LiveOptions options = quick_options(folder.file("one"));
  options.agent = GetParam();
  options.synchronous = true;
  if (options.agent == "oracle" || options.agent == "uniform") options.settings.clear();
  if (options.agent == "oracle") options.settings = {{"resolution", "8"}};
  if (options.agent == "psrl") options.settings = {{"resolution", "8"}, {"particles", "50"}};
  const int num_units = options.agent == "psrl" ? 1 : 3;
  std::vector<FleetUnit> whole = fleet(model, num_units);
  std::string expected;
  {
    LiveAgent agent(model, options);
    if (options.agent == "psrl") whole = fleet(model, 1);
    for (int i = 0; i < 60; ++i) {
      for (FleetUnit& unit : whole) {
        nlohmann::json request = unit.request();
        if (options.agent == "psrl") request.erase("action"), request.erase("propensity");
        unit.take(ask(agent, request));
      }
    }
    expected = all_of(agent);
  }
  options.journal = folder.file("many");
  std::vector<FleetUnit> parts = fleet(model, num_units);
  std::string found;
  for (int i = 0; i < 60; ++i) {
    LiveAgent agent(model, options);
    for (FleetUnit& unit : parts) {
      nlohmann::json request = unit.request();
      if (options.agent == "psrl") request.erase("action"), request.erase("propensity");
      unit.take(ask(agent, request));
    }
    found = all_of(agent);
  }
  EXPECT_EQ(found, expected);
  for (int i = 0; i < num_units; ++i) {
    const auto& one = whole[static_cast<std::size_t>(i)].told();
    const auto& many = parts[static_cast<std::size_t>(i)].told();
    for (std::size_t t = 0; t < one.size(); ++t) {
      ASSERT_EQ(one[t].action, many[t].action) << t;
      ASSERT_EQ(one[t].propensity, many[t].propensity) << t;
      ASSERT_EQ(one[t].belief, many[t].belief) << t;
    }
  }
  options.verify = true;
  LiveAgent verified(model, options);
  EXPECT_EQ(all_of(verified), expected);
}

INSTANTIATE_TEST_SUITE_P(Agents, LiveReplayTest,
                         testing::Values("oas-ucrl-ml", "oas-ucrl-pooled", "psrl-gibbs",
                                         "psrl-laplace", "omle", "certainty-equivalent", "oracle",
                                         "uniform", "psrl"),
                         [](const auto& agent) {
                           std::string name = agent.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Plans that were made beside the calls come out the same when they are made again.
TEST(LiveReplay, PlansBesideTheCallsCanBeMadeAgain) {
  const test::TemporaryDirectory folder;
  const Pomdp model = make_problem("network-link");
  LiveOptions options = quick_options(folder.file("journal"));
  std::vector<FleetUnit> units = fleet(model, 5);
  std::string expected;
  {
    LiveAgent agent(model, options);
    for (int i = 0; i < 2000 && ask(agent, {{"call", "status"}})["plans"] < 4; ++i) {
      play(agent, units, 4);
    }
    for (int i = 0; i < 3000 && ask(agent, {{"call", "status"}})["planning"] == true; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    expected = all_of(agent);
    EXPECT_GE(ask(agent, {{"call", "status"}})["plans"], 4);
    EXPECT_EQ(ask(agent, {{"call", "plan"}})["plan"]["status"], "converged");
  }
  options.snapshot_every = 0;
  options.verify = true;
  options.synchronous = true;  // so that none is begun
  LiveAgent again(model, options);
  EXPECT_EQ(all_of(again), expected);
  // A journal in which an action was changed is not that of this agent.
  options.seed = 2;
  EXPECT_THROW(LiveAgent(model, options), InvalidArgument);
}

// Rows that do not fit into the memory are read again from the journal: the same answers to the
// bit, whatever the memory, and whenever it changes.
TEST(LiveReplay, AnswersDoNotDependOnTheMemory) {
  for (const auto& [agent_name, half_life] :
       {std::pair("oas-ucrl-ml", 0.0), std::pair("psrl-laplace", 20.0),
        std::pair("psrl-gibbs", 0.0), std::pair("oas-ucrl-pooled", 50.0)}) {
    const test::TemporaryDirectory folder;
    const Pomdp model = make_problem("network-link");
    LiveOptions options = quick_options(folder.file("much"));
    options.agent = agent_name;
    options.settings.push_back({"growth", "1.5"});  // fewer plans, each of which reads again
    options.half_life = half_life;
    options.synchronous = true;
    options.on_change = OnChange::fresh;
    options.steps_per_false_alarm = 100;  // they come
    const auto answers = [&](std::vector<int> memories) {
      std::vector<FleetUnit> units = fleet(model, 4);
      std::string all;
      for (const int memory : memories) {
        options.memory = memory;
        LiveAgent agent(model, options);
        play(agent, units, 240 / static_cast<int>(memories.size()));
        ask(agent, {{"call", "end"}, {"unit", "u3"}, {"step", units[3].request()["step"]}});
        units[3] = FleetUnit(model, "u3", 7);
        all = all_of(agent);
      }
      return all;
    };
    options.journal = folder.file("much");
    const std::string expected = answers({1024, 1024, 1024, 1024});
    options.journal = folder.file("none");
    EXPECT_EQ(answers({0, 0, 0, 0}), expected);
    options.journal = folder.file("changes");
    EXPECT_EQ(answers({1024, 0, 1024, 0}), expected);
    options.memory = 0;
    options.verify = true;
    LiveAgent verified(model, options);
    EXPECT_EQ(all_of(verified), expected);
  }
}

// Beliefs are the exact ones of the oracle's model, to the bit.
TEST(LiveReplay, BeliefsAreThoseOfTheFilter) {
  for (const char* problem : {"machine-maintenance", "network-link", "robot-corridor"}) {
    const test::TemporaryDirectory folder;
    const Pomdp model = make_problem(problem);
    LiveOptions options;
    options.journal = folder.file("journal");
    options.agent = "oracle";
    options.settings = {{"resolution", "4"}};
    LiveAgent agent(model, options);
    std::vector<FleetUnit> units = fleet(model, 2);
    BeliefFilter filter(model);
    for (int t = 0; t < 1000; ++t) {
      play(agent, units, 1);
      const FleetUnit::Told& told = units[0].told().back();
      const std::vector<double> belief = told.belief;
      ASSERT_EQ(belief, std::vector<double>(filter.belief().begin(), filter.belief().end()))
          << problem << t;
      const nlohmann::json& request = units[0].request();
      Action action{0};
      if (request.contains("action")) {
        action = Action{request["action"].get<int>()};
      } else if (told.action.is_string()) {
        action = Action{*model.actions().find(told.action.get<std::string>())};
      } else {
        action = Action{told.action.get<int>()};
      }
      filter.update(
          action, told.observation.is_null() ? kMissing : Observation{told.observation.get<int>()});
    }
  }
}

Pomdp reading_first() {
  PomdpParts parts = make_problem("robot-corridor").parts();
  std::vector<double> first;
  for (State s{0}; s < parts.states.size(); ++s) {
    for (Observation o{0}; o < parts.observations.size(); ++o) {
      first.push_back(parts.sensors(Action{0}, s, o));
    }
  }
  parts.first_observation =
      ObservationModel(parts.states.size(), 1, parts.observations.size(), first, "first");
  parts.rows = Rows::reading_first;
  return Pomdp(std::move(parts));
}

TEST(LiveReplay, RunsMayBeginWithAReading) {
  const test::TemporaryDirectory folder;
  const Pomdp model = reading_first();
  LiveOptions options = quick_options(folder.file("oracle"));
  options.agent = "oracle";
  options.settings = {{"resolution", "3"}};
  {
    LiveAgent agent(model, options);
    EXPECT_EQ(test::status_of(agent, "act", R"({"unit":"u0","step":0})"), 404);
    std::vector<FleetUnit> units = fleet(model, 1);
    BeliefFilter filter(model);
    filter.begin(Observation{units[0].request()["observation"].get<int>()});
    play(agent, units, 1);
    const std::vector<double> belief = units[0].told().back().belief;
    EXPECT_EQ(belief, std::vector<double>(filter.belief().begin(), filter.belief().end()));
  }
  options = quick_options(folder.file("learner"));
  options.settings = {{"first_episode", "40"}, {"resolution", "3"}};
  options.synchronous = true;
  std::vector<FleetUnit> units = fleet(model, 2);
  std::string expected;
  for (int i = 0; i < 6; ++i) {
    LiveAgent agent(model, options);
    play(agent, units, 10);
    expected = all_of(agent);
  }
  options.verify = true;
  LiveAgent again(model, options);
  EXPECT_EQ(all_of(again), expected);
  EXPECT_GE(ask(again, {{"call", "status"}})["plans"], 3);
}

// The dynamics become more random: what was learned before is of no use.
TEST(LiveReplay, RowsBeforeAChangeAreForgottenIfThatIsAskedFor) {
  const test::TemporaryDirectory folder;
  const Pomdp model = make_problem("machine-maintenance");
  const Pomdp changed = model.with_transition(mixed_with_uniform(model.transition(), 0.9));
  LiveOptions options = quick_options(folder.file("journal"));
  options.synchronous = true;
  options.on_change = OnChange::fresh;
  std::string expected;
  {
    LiveAgent agent(model, options);
    std::vector<FleetUnit> before = fleet(model, 2);
    play(agent, before, 2000);
    EXPECT_TRUE(ask(agent, {{"call", "status"}})["warnings"].empty());
    for (const FleetUnit& unit : before) {
      ask(agent, {{"call", "end"}, {"unit", unit.name()}, {"step", unit.request()["step"]}});
    }
    std::vector<FleetUnit> after;
    after.emplace_back(changed, "replaced", 9);
    const auto rows = ask(agent, {{"call", "status"}})["rows"].get<std::int64_t>();
    play(agent, after, 2500);
    expected = all_of(agent);
    const auto estimate = ask(agent, {{"call", "estimate"}});
    double counted = 0.0;
    for (const auto& action : estimate["counts"]) {
      for (const auto& row : action) {
        for (const auto& count : row) counted += count.get<double>();
      }
    }
    EXPECT_LE(counted, static_cast<double>(estimate["rows"].get<std::int64_t>() - rows) + 1e-6);
    EXPECT_FALSE(ask(agent, {{"call", "status"}})["warnings"].empty());
  }
  LiveAgent resumed(model, options);
  EXPECT_EQ(all_of(resumed), expected);
}

// What is learned follows dynamics that change, where rows fade; the agent tries actions again that
// it had given up, and plans as often as what it learned from is renewed.
TEST(LiveReplay, RowsFadeIfThatIsAskedFor) {
  const test::TemporaryDirectory folder;
  test::RandomModelOptions clear;
  clear.num_observations = 3;
  clear.min_alpha = 0.5;
  const Pomdp model = test::random_model(clear, 2);
  std::vector<double> mirrored;  // the states change their roles
  const TransitionModel& before = model.transition();
  for (Action a{0}; a < model.num_actions(); ++a) {
    for (int s = model.num_states() - 1; s >= 0; --s) {
      for (int next = model.num_states() - 1; next >= 0; --next) {
        mirrored.push_back(before(a, State{s}, State{next}));
      }
    }
  }
  const TransitionModel after(model.num_states(), model.num_actions(), mirrored);
  const auto distance = [&](LiveAgent& agent) {
    const auto estimate = ask(agent, {{"call", "estimate"}})["transition"];
    double sum = 0.0;
    for (Action a{0}; a < model.num_actions(); ++a) {
      for (State s{0}; s < model.num_states(); ++s) {
        for (State next{0}; next < model.num_states(); ++next) {
          sum += std::abs(estimate[a.value()][s.value()][next.value()].get<double>() -
                          after(a, s, next));
        }
      }
    }
    return sum;
  };
  for (const char* agent_name : {"oas-ucrl-ml", "certainty-equivalent"}) {
    std::vector<double> distances;
    std::vector<std::int64_t> plans;
    for (const double half_life : {600.0, 0.0}) {
      LiveOptions options = quick_options(folder.file(fmt::format("{}-{}", agent_name, half_life)));
      options.synchronous = true;
      options.agent = agent_name;
      options.half_life = half_life;
      options.settings.push_back({"growth", "1.5"});
      LiveAgent agent(model, options);
      std::vector<FleetUnit> units = fleet(model, 2);
      play(agent, units, 1500);
      for (const FleetUnit& unit : units) {
        ask(agent, {{"call", "end"}, {"unit", unit.name()}, {"step", unit.request()["step"]}});
      }
      const Pomdp changed = model.with_transition(after);
      units = fleet(changed, 2);
      play(agent, units, 1500);
      distances.push_back(distance(agent));
      plans.push_back(ask(agent, {{"call", "plan"}})["plan"]["number"]);
    }
    EXPECT_LT(distances[0], 0.6 * distances[1]) << agent_name;
    EXPECT_GT(plans[0], plans[1]);
  }
  for (const char* agent_name : {"oracle", "psrl-gibbs", "psrl", "uniform"}) {
    LiveOptions options = quick_options(folder.file("refused"));
    options.settings.clear();
    options.agent = agent_name;
    options.half_life = 100.0;
    EXPECT_THROW(LiveAgent(model, options), InvalidArgument) << agent_name;
  }
}

TEST(LiveReplay, ASnapshotThatIsDamagedIsNotUsedAndSaid) {
  const test::TemporaryDirectory folder;
  const Pomdp model = make_problem("machine-maintenance");
  LiveOptions options = quick_options(folder.file("journal"));
  options.synchronous = true;
  std::vector<FleetUnit> units = fleet(model, 3);
  std::string expected;
  {
    LiveAgent agent(model, options);
    play(agent, units, 60);
    expected = all_of(agent);
  }
  const std::string snapshot = folder.file("journal/snapshot.oass");
  std::string bytes = test::slurp(snapshot);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  test::spill(snapshot, bytes);
  LiveAgent agent(model, options);
  EXPECT_EQ(all_of(agent), expected);
  ASSERT_EQ(agent.notes().size(), 1u);
  EXPECT_THAT(agent.notes()[0], HasSubstr("snapshot.oass"));
}

// Whether the snapshot would be used or not: the rows that it was taken of are lost.
TEST(LiveReplay, ASnapshotWithoutItsJournalIsRefused) {
  const Pomdp model = make_problem("machine-maintenance");
  for (const bool verify : {false, true}) {
    const test::TemporaryDirectory folder;
    LiveOptions options = quick_options(folder.file("journal"));
    options.synchronous = true;
    options.verify = verify;
    std::vector<FleetUnit> units = fleet(model, 3);
    {
      LiveAgent agent(model, options);
      play(agent, units, 60);
    }
    ASSERT_TRUE(std::filesystem::exists(folder.file("journal/snapshot.oass")));
    const std::string journal = folder.file("journal/journal-00000001.oasj");
    for (const std::size_t left : {20, 5, 0}) {
      test::spill(journal, test::slurp(journal).substr(0, left));
      EXPECT_THROW(LiveAgent(model, options), InvalidArgument) << left;
      EXPECT_EQ(test::slurp(journal).size(), left) << "nothing is written";
    }
    std::filesystem::remove(journal);
    EXPECT_THROW(LiveAgent(model, options), InvalidArgument);
  }
}

TEST(LiveReplay, RefusesTheJournalOfAnother) {
  const test::TemporaryDirectory folder;
  const Pomdp model = make_problem("machine-maintenance");
  LiveOptions options = quick_options(folder.file("journal"));
  {
    LiveAgent agent(model, options);
    ask(agent, {{"call", "act"}, {"unit", "a"}, {"step", 0}});
    EXPECT_THROW(LiveAgent(model, options), InvalidArgument) << "two at one time";
  }
  EXPECT_THROW(LiveAgent(make_problem("network-link"), options), InvalidArgument);
  LiveOptions other = options;
  other.agent = "certainty-equivalent";
  EXPECT_THROW(LiveAgent(model, other), InvalidArgument);
  // Its dynamics are no business of a learner.
  LiveAgent same(model.without_transition(), options);
  EXPECT_EQ(ask(same, {{"call", "status"}})["active_units"], 1);
}

}  // namespace
}  // namespace oas
