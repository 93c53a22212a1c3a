// What every agent of the table must satisfy. A new agent is covered by being in the table.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "agent_contract.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/learning/agents.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/environment.hpp"
#include "support/chi_square.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

using test::Case;
using test::kFailureProbability;
using test::kSteps;
using test::make_model;
using test::play;
using test::Play;
using test::quick_settings;
using test::Row;

class AgentContract : public test::AgentContract {};

TEST_P(AgentContract, SameSeedSameRows) {
  std::vector<Row> rows[2];
  for (auto& each : rows) {
    AnyAgent agent = make();
    Environment environment(model_, Rng({1, 0, Role::environment}));
    Rng rng({1, 0, Role::agent});
    each = play(agent, environment, rng, model_.num_actions(), kSteps).rows;
  }
  EXPECT_EQ(rows[0], rows[1]);
}

// Asked at every step what it will do, in particular where a new plan is due.
TEST_P(AgentContract, AQuestionChangesNothing) {
  AnyAgent agent = make();
  Environment environment(model_, Rng({9, 0, Role::environment}));
  Rng rng({9, 0, Role::agent});
  std::vector<double> policy(static_cast<std::size_t>(model_.num_actions()));
  for (int t = 0; t < 500; ++t) {
    const std::string before = dump_json(agent.save());
    const std::size_t episodes = agent.episodes().size();
    std::as_const(agent).probabilities(policy);
    ASSERT_EQ(agent.episodes().size(), episodes) << t;
    ASSERT_EQ(dump_json(agent.save()), before) << t;
    const Choice choice = agent.act(rng);
    ASSERT_EQ(choice.propensity, policy[static_cast<std::size_t>(choice.action)]) << t;
    agent.observe(environment.step(choice.action).observation);
  }
}

TEST_P(AgentContract, SavedAndLoadedGoesOnBitForBit) {
  for (const int saved_at : {0, 1, 149, 151, 1234}) {
    AnyAgent agent = make();
    Environment environment(model_, Rng({2, 0, Role::environment}));
    Rng rng({2, 0, Role::agent});
    static_cast<void>(play(agent, environment, rng, model_.num_actions(), saved_at));
    // Through text, as a file would.
    const std::string text = dump_json(agent.save());
    const nlohmann::ordered_json document = parse_json(text, "state.json");
    AnyAgent other = make();
    other.load(JsonView(document, "state.json"));
    Environment other_environment = environment;
    Rng other_rng = rng;
    const Play one = play(agent, environment, rng, model_.num_actions(), 1500);
    const Play two = play(other, other_environment, other_rng, model_.num_actions(), 1500);
    ASSERT_EQ(one.rows, two.rows) << "saved at step " << saved_at;
    ASSERT_EQ(one.probabilities, two.probabilities) << "saved at step " << saved_at;
    EXPECT_EQ(dump_json(agent.save()), dump_json(other.save()));
  }
}

// What is saved in the middle of a step, between act() and observe().
TEST_P(AgentContract, SavedBetweenActAndObserve) {
  AnyAgent agent = make();
  Environment environment(model_, Rng({3, 0, Role::environment}));
  Rng rng({3, 0, Role::agent});
  static_cast<void>(play(agent, environment, rng, model_.num_actions(), 333));
  const Choice choice = agent.act(rng);
  const nlohmann::ordered_json document = agent.save();
  AnyAgent other = make();
  other.load(JsonView(document, "state.json"));
  const Environment::Outcome outcome = environment.step(choice.action);
  agent.observe(outcome.observation);
  other.observe(outcome.observation);
  EXPECT_EQ(dump_json(agent.save()), dump_json(other.save()));
}

// Σ_t (1{a_t = a} - π_t(a)) is a martingale of variance V = Σ_t π_t(a)(1-π_t(a)); Freedman's
// inequality bounds it by √(2VL) + 2L/3 but with probability e^-L.
TEST_P(AgentContract, PropensitiesAreTheFrequenciesOfActions) {
  AnyAgent agent = make();
  Environment environment(model_, Rng({4, 0, Role::environment}));
  Rng rng({4, 0, Role::agent});
  const Play done = play(agent, environment, rng, model_.num_actions(), kSteps);
  const double level = std::log(2.0 * model_.num_actions() / kFailureProbability);
  for (int a = 0; a < model_.num_actions(); ++a) {
    double sum = 0.0;
    double variance = 0.0;
    for (int t = 0; t < kSteps; ++t) {
      const double p = done.probabilities[t][static_cast<std::size_t>(a)];
      sum += (done.rows[t].action == a ? 1.0 : 0.0) - p;
      variance += p * (1.0 - p);
    }
    EXPECT_LE(std::abs(sum), std::sqrt(2.0 * variance * level) + 2.0 * level / 3.0);
  }
  for (int t = 0; t < kSteps; ++t) {
    const std::vector<double>& policy = done.probabilities[t];
    double total = 0.0;
    for (const double p : policy) {
      ASSERT_GE(p, 0.0);
      total += p;
    }
    ASSERT_NEAR(total, 1.0, 1e-12);
    ASSERT_EQ(done.rows[t].propensity, policy[static_cast<std::size_t>(done.rows[t].action)]);
    ASSERT_GT(done.rows[t].propensity, 0.0);
  }
}

TEST_P(AgentContract, KeepsTheFloorItWasGiven) {
  std::vector<Setting> settings = quick_settings(GetParam().agent);
  const auto known = find_agent(GetParam().agent).settings();
  const bool has_floor =
      std::any_of(known.begin(), known.end(), [](const auto& info) { return info.name == "iota"; });
  if (!has_floor) return;
  settings.push_back({"iota", "0.07"});
  AnyAgent agent = make_agent(GetParam().agent, model_, settings);
  Environment environment(model_, Rng({5, 0, Role::environment}));
  Rng rng({5, 0, Role::agent});
  for (const auto& policy : play(agent, environment, rng, 3, kSteps).probabilities) {
    for (const double p : policy) ASSERT_GE(p, 0.07);
  }
}

// Two models that differ in their dynamics only, one sequence of observations: an agent that does
// not know the dynamics cannot tell them apart.
TEST_P(AgentContract, DoesNotPeekAtTheDynamics) {
  if (find_agent(GetParam().agent).knows_dynamics) return;
  const Pomdp other_model = model_.with_transition(make_model(GetParam().timing, 77).transition());
  ASSERT_NE(other_model.transition(), model_.transition());
  AnyAgent one = make();
  AnyAgent two = make_agent(GetParam().agent, other_model, quick_settings(GetParam().agent));
  Environment environment(model_, Rng({6, 0, Role::environment}));
  Rng rng_one({6, 0, Role::agent});
  Rng rng_two({6, 0, Role::agent});
  for (int t = 0; t < kSteps; ++t) {
    const Choice choice = one.act(rng_one);
    const Choice same = two.act(rng_two);
    ASSERT_EQ(choice.action, same.action) << "step " << t;
    const Observation seen = environment.step(choice.action).observation;
    one.observe(seen);
    two.observe(seen);
  }
  EXPECT_EQ(dump_json(one.save()), dump_json(two.save()));
}

TEST_P(AgentContract, EpisodesFollowEachOther) {
  AnyAgent agent = make();
  Environment environment(model_, Rng({7, 0, Role::environment}));
  Rng rng({7, 0, Role::agent});
  static_cast<void>(play(agent, environment, rng, model_.num_actions(), kSteps));
  const std::span<const Episode> episodes = agent.episodes();
  for (std::size_t k = 0; k < episodes.size(); ++k) {
    EXPECT_FALSE(episodes[k].status.empty());
    if (k == 0) {
      EXPECT_EQ(episodes[k].start, 0);
      continue;
    }
    EXPECT_GT(episodes[k].start, episodes[k - 1].start);
    if (episodes[k - 1].length > 0) {
      EXPECT_EQ(episodes[k].start, episodes[k - 1].start + episodes[k - 1].length);
    }
  }
}

TEST_P(AgentContract, RefusesWhatItDoesNotKnow) {
  const std::vector<Setting> misspelt = {{"first_episde", "10"}};
  try {
    static_cast<void>(make_agent(GetParam().agent, model_, misspelt));
    FAIL() << "a misspelt setting was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("first_episde"), std::string::npos) << error.what();
  }
  for (const SettingInfo& known : find_agent(GetParam().agent).settings()) {
    EXPECT_FALSE(known.summary.empty()) << known.name;
    const std::vector<Setting> no_value = {{known.name, "no-such-value"}};
    EXPECT_THROW(static_cast<void>(make_agent(GetParam().agent, model_, no_value)), InvalidArgument)
        << known.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AgentContract, testing::ValuesIn(test::cases()), test::case_name);

TEST(AgentTable, EveryAgentPlaysEveryNamedProblem) {
  for (const ProblemInfo& problem : problems()) {
    const Pomdp model = problem.make();
    for (const AgentInfo& info : agents()) {
      const std::string name(info.name);
      AnyAgent agent = make_agent(name, model, quick_settings(name));
      if (agent.needs_hidden_state()) continue;
      Environment environment(model, Rng({8, 0, Role::environment}));
      Rng rng({8, 0, Role::agent});
      const Play done = play(agent, environment, rng, model.num_actions(), 600);
      EXPECT_EQ(done.rows.size(), 600u) << name << " in " << problem.name;
    }
  }
}

// Before anything is played: what comes later would lose the runs that are done.
TEST(AgentTable, OptimismTakesManyStates) {
  test::RandomModelOptions many;
  many.num_states = 7;
  many.num_observations = 8;
  const Pomdp model = test::random_model(many, 3);
  using Settings = std::vector<Setting>;
  for (const auto& [agent, settings] : std::vector<std::pair<const char*, Settings>>{
           {"oas-ucrl", {{"radius_scale", "1e-6"}}},
           {"seeu", {{"radius_scale", "0.1"}}},
           {"oas-ucrl-ml", {{"exploration", "optimism"}}}}) {
    EXPECT_NO_THROW(static_cast<void>(find_agent(agent).make(model, settings))) << agent;
  }
}

TEST(AgentTable, TheCertaintyEquivalentAgentHasNoSettingsToExploreBy) {
  const Setting explore{"exploration", "sampling"};
  EXPECT_THROW(static_cast<void>(
                   find_agent("certainty-equivalent").make(network_link(), std::span(&explore, 1))),
               InvalidArgument);
}

// They would need all rows again.
TEST(AgentTable, MomentsCannotDrawFromThePosterior) {
  for (const char* way : {"gibbs", "laplace", "likelihood-set"}) {
    const Setting explore{"exploration", way};
    EXPECT_NO_THROW(
        static_cast<void>(find_agent("oas-ucrl-ml").make(network_link(), std::span(&explore, 1))));
    try {
      static_cast<void>(find_agent("oas-ucrl-pooled").make(network_link(), std::span(&explore, 1)));
      FAIL() << way;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(way), std::string::npos) << error.what();
    }
  }
}

TEST(AgentTable, UnknownNamesAreListed) {
  try {
    static_cast<void>(find_agent("oas-ucrll"));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("oas-ucrl-pooled"), std::string::npos);
  }
}

}  // namespace
}  // namespace oas
