// What every agent does with observations that are missing or do not exist, and with saved states
// that are broken.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent_contract.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/learning/online_moments.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/policies/policy_graph.hpp"

namespace oas {
namespace {

using test::Play;
using test::play;

constexpr int kLeast = std::numeric_limits<int>::min();
constexpr int kMost = std::numeric_limits<int>::max();

std::string state_of(const AnyAgent& agent) { return dump_json(agent.save()); }

void load(AnyAgent& agent, const std::string& text) {
  const nlohmann::ordered_json document = parse_json(text, "state.json");
  agent.load(JsonView(document, "state.json"));
}

// With the checksum that belongs to it, so that what lies behind it is tried, too.
std::string sealed(nlohmann::ordered_json document) {
  document["checksum"] = checksum_of_state(document);
  return dump_json(document);
}
std::string sealed(const std::string& text) {
  try {
    nlohmann::ordered_json document = parse_json(text, "state.json");
    return document.is_object() ? sealed(std::move(document)) : text;
  } catch (const InvalidArgument&) {
    return text;
  }
}

class AgentInput : public test::AgentContract {
 protected:
  // An agent that has come so far, with observations missing.
  struct UnderWay {
    UnderWay(const Pomdp& model, AnyAgent made, std::uint64_t seed, int steps)
        : num_actions(model.num_actions()),
          agent(std::move(made)),
          environment(model, Rng({seed, 0, Role::environment})),
          rng({seed, 0, Role::agent}),
          missing({seed, 0, Role::policy}) {
      static_cast<void>(go_on(steps));
    }
    Play go_on(int steps) { return play(agent, environment, rng, num_actions, steps, &missing); }

    int num_actions;
    AnyAgent agent;
    Environment environment;
    Rng rng;
    Rng missing;
  };
  [[nodiscard]] UnderWay after(int steps, std::uint64_t seed) const {
    return {model_, make(), seed, steps};
  }
};

// At every stage: before the first estimate, between two, and after an act().
TEST_P(AgentInput, ObservationsThatDoNotExistChangeNothing) {
  for (const int steps : {0, 149, 400}) {
    UnderWay run = after(steps, 11);
    const Choice choice = run.agent.act(run.rng);
    const std::string before = state_of(run.agent);
    for (const int index : {model_.num_observations(), -2, 1000, kLeast, kMost}) {
      EXPECT_THROW(run.agent.observe(Observation{index}), InvalidArgument) << index;
      EXPECT_EQ(state_of(run.agent), before) << "observation " << index << ", step " << steps;
    }
    run.agent.observe(run.environment.step(choice.action).observation);
    EXPECT_EQ(state_of(run.agent) == before, GetParam().agent == "uniform");
  }
}

TEST_P(AgentInput, MissingObservationsSameSeedSameBytes) {
  UnderWay one = after(0, 12);
  UnderWay two = after(0, 12);
  const Play first = one.go_on(1500);
  const Play second = two.go_on(1500);
  EXPECT_EQ(first.rows, second.rows);
  EXPECT_EQ(state_of(one.agent), state_of(two.agent));
  EXPECT_EQ(state_of(one.agent).find("null"), std::string::npos);  // how a NaN is written
}

TEST_P(AgentInput, MissingObservationsSavedAndLoadedGoOnBitForBit) {
  for (const int saved_at : {1, 149, 777}) {
    UnderWay run = after(saved_at, 13);
    UnderWay other = after(0, 13);
    load(other.agent, state_of(run.agent));
    other.environment = run.environment;
    other.rng = run.rng;
    other.missing = run.missing;
    const Play one = run.go_on(600);
    const Play two = other.go_on(600);
    ASSERT_EQ(one.rows, two.rows) << "saved at step " << saved_at;
    ASSERT_EQ(one.probabilities, two.probabilities) << "saved at step " << saved_at;
  }
}

// Nothing but missing observations: no sample, no evidence, and still probabilities.
TEST_P(AgentInput, NothingEverSeen) {
  AnyAgent agent = make();
  Rng rng({14, 0, Role::agent});
  std::vector<double> policy(static_cast<std::size_t>(model_.num_actions()));
  for (int t = 0; t < 700; ++t) {
    agent.probabilities(policy);
    double sum = 0.0;
    for (const double p : policy) sum += p;
    ASSERT_NEAR(sum, 1.0, 1e-12) << "step " << t;
    static_cast<void>(agent.act(rng));
    agent.observe(kMissing);
  }
  EXPECT_EQ(state_of(agent).find("null"), std::string::npos);
}

// A state of another step replaces all, whatever the agent did before.
TEST_P(AgentInput, LoadedOverAnotherRun) {
  UnderWay early = after(0, 15);
  UnderWay late = after(600, 16);
  load(late.agent, state_of(early.agent));
  late.environment = early.environment;
  late.rng = early.rng;
  late.missing = early.missing;
  EXPECT_EQ(early.go_on(700).rows, late.go_on(700).rows);
  EXPECT_EQ(state_of(early.agent), state_of(late.agent));
}

// Either an exception and nothing changed, or a state that can be played on without a NaN.
class Damage {
 public:
  Damage(const std::string& good, AnyAgent& agent) : before_(good), agent_(agent) {}

  // Returns whether the text was taken for a state.
  bool try_text(const std::string& text) {
    try {
      load(agent_, text);
      return true;
    } catch (const InvalidArgument&) {
      EXPECT_EQ(state_of(agent_), before_) << "changed by what was refused";
      return false;
    }
  }

 private:
  std::string before_;
  AnyAgent& agent_;
};

TEST_P(AgentInput, TruncatedStatesAreRefused) {
  UnderWay run = after(400, 17);
  const std::string good = state_of(run.agent);
  Damage damage(good, run.agent);
  const std::string text = good.substr(0, good.find_last_of('}'));
  for (std::size_t part = 0; part < 40; ++part) {
    EXPECT_FALSE(damage.try_text(text.substr(0, text.size() * part / 40)));
  }
  const nlohmann::ordered_json document = parse_json(good, "state.json");
  for (const auto& item : document.items()) {
    nlohmann::ordered_json less = document;
    less.erase(item.key());
    EXPECT_FALSE(damage.try_text(dump_json(less))) << item.key();
  }
  for (const auto& item : document["state"].items()) {
    nlohmann::ordered_json less = document;
    less["state"].erase(item.key());
    EXPECT_FALSE(damage.try_text(dump_json(less))) << item.key();
    const bool optional = item.key() == "context" || item.key() == "estimate";
    EXPECT_EQ(damage.try_text(sealed(less)), optional) << item.key();
    if (optional) load(run.agent, good);
  }
  nlohmann::ordered_json more = document;
  more["more"] = 1;
  EXPECT_FALSE(damage.try_text(sealed(more)));
  more = document;
  more["state"]["more"] = 1;
  EXPECT_FALSE(damage.try_text(sealed(more)));
}

// A state says whose it is: of another agent, other settings or another model it is refused.
TEST_P(AgentInput, StatesOfOthersAreRefused) {
  UnderWay run = after(50, 22);
  const std::string good = state_of(run.agent);
  Damage damage(good, run.agent);
  for (const char* key : {"format", "agent", "settings", "model"}) {
    nlohmann::ordered_json other = parse_json(good, "state.json");
    other[key] = "another";
    EXPECT_FALSE(damage.try_text(sealed(other))) << key;
  }
  PomdpParts parts = model_.parts();
  std::vector<double> sensors(parts.sensors.values().begin(), parts.sensors.values().end());
  std::rotate(sensors.begin(), sensors.begin() + model_.num_observations(), sensors.end());
  parts.sensors = ObservationModel(model_.num_states(), model_.num_actions(),
                                   model_.num_observations(), sensors);
  const std::string& name = GetParam().agent;
  AnyAgent stranger = make_agent(name, Pomdp(std::move(parts)), test::quick_settings(name));
  EXPECT_THROW(load(stranger, good), InvalidArgument);
}

TEST_P(AgentInput, CorruptedStatesAreRefusedOrPlayable) {
  UnderWay run = after(400, 18);
  const std::string good = state_of(run.agent);
  Rng rng({19, 0, Role::policy});
  constexpr std::string_view kBytes = "0123456789-.eE,[]{}:x\"\x01\xff";
  for (int trial = 0; trial < 400; ++trial) {
    std::string text = good;
    const auto flips = 1 + rng.below(3);
    for (std::uint32_t k = 0; k < flips; ++k) {
      const auto size = static_cast<std::uint32_t>(text.size());
      const auto byte = static_cast<std::uint32_t>(kBytes.size());
      text[rng.below(size)] = kBytes[rng.below(byte)];
    }
    Damage damage(good, run.agent);
    if (damage.try_text(text)) {
      EXPECT_EQ(state_of(run.agent), good) << "trial " << trial;
    }
    text = sealed(text);
    if (!damage.try_text(text)) continue;
    UnderWay on = after(0, 18);
    load(on.agent, text);
    for (const auto& policy : on.go_on(40).probabilities) {
      double sum = 0.0;
      for (const double p : policy) sum += p;
      ASSERT_NEAR(sum, 1.0, 1e-9) << "trial " << trial;
    }
    EXPECT_EQ(state_of(on.agent).find("null"), std::string::npos) << "trial " << trial;
    load(run.agent, good);
  }
}

// Every number of a state in turn, by what no state has.
TEST_P(AgentInput, NumbersThatNoStateHasAreRefusedOrPlayable) {
  UnderWay run = after(400, 20);
  const std::string good = state_of(run.agent);
  const nlohmann::ordered_json document = parse_json(good, "state.json").flatten();
  Rng rng({21, 0, Role::policy});
  std::vector<std::string> paths;
  for (const auto& item : document.items()) {
    if (item.value().is_number()) paths.push_back(item.key());
  }
  for (int trial = 0; trial < 300 && !paths.empty(); ++trial) {
    nlohmann::ordered_json other = document;
    const std::string& path = paths[rng.below(static_cast<std::uint32_t>(paths.size()))];
    const std::array<nlohmann::ordered_json, 8> odd = {
        -1, -7, 1'000'000, 1e300, -1e300, 0.5, std::numeric_limits<std::int64_t>::max(), 1e-320};
    other[path] = odd[rng.below(8)];
    Damage damage(good, run.agent);
    const std::string text = sealed(other.unflatten());
    if (!damage.try_text(text)) continue;
    UnderWay on = after(0, 20);
    load(on.agent, text);
    static_cast<void>(on.go_on(40));
    EXPECT_EQ(state_of(on.agent).find("null"), std::string::npos) << path << " " << other[path];
    load(run.agent, good);
  }
}

INSTANTIATE_TEST_SUITE_P(All, AgentInput, testing::ValuesIn(test::cases()), test::case_name);

// A row without observation is in no pair, as in logs.
TEST(OnlineMoments, MissingObservationsBreakPairsAsInLogs) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = test::make_model(timing);
    const LeftInverses inverses(model);
    for (const Pairing pairing : {Pairing::disjoint, Pairing::overlapping}) {
      OnlineMoments online(model, pairing);
      FoldOptions fold;
      fold.pairing = pairing;
      fold.inverse_propensity = timing == Timing::after;
      PairFolder folder(inverses, timing, fold);
      Rng rng({24, 0, Role::policy});
      Trajectory rows;
      for (int t = 0; t < 500; ++t) {
        const Choice choice{Action{rng.below(3)}, 0.25 + 0.5 * rng.uniform()};
        const bool seen = rng.below(3) > 0;
        const Observation observation = seen ? Observation{rng.below(3)} : kMissing;
        online.add(choice, observation);
        rows.actions.push_back(choice.action);
        rows.observations.push_back(observation);
        rows.propensities.push_back(choice.propensity);
      }
      folder.add(rows.actions, rows.observations, rows.propensities);
      const PairMoments expected = folder.finish().total();
      EXPECT_EQ(online.moments().pairs, expected.pairs);
      EXPECT_GT(expected.total_pairs(), 50);
      for (std::size_t i = 0; i < expected.sums.size(); ++i) {
        EXPECT_NEAR(online.moments().sums[i], expected.sums[i],
                    1e-9 * (1.0 + std::abs(expected.sums[i])));
      }
    }
  }
}

// Plans and policy graphs act too.
TEST(PolicyInput, PlansAndGraphs) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = test::make_model(timing);
    PlanOptions options;
    options.resolution = 6;
    PlanPolicy policy(make_plan(model, options));
    Rng rng({22, 0, Role::agent});
    const Choice choice = policy.act(rng);
    const std::vector<double> before(policy.belief().begin(), policy.belief().end());
    for (const int index : {model.num_observations(), -2, kLeast, kMost}) {
      EXPECT_THROW(policy.observe(Observation{index}), InvalidArgument) << index;
      EXPECT_EQ(before, std::vector<double>(policy.belief().begin(), policy.belief().end()));
    }
    policy.observe(kMissing);
    const VectorView start(model.start().data(), model.num_states());
    const Vector moved = model.transition().matrix(choice.action).transpose() * start;
    for (int s = 0; s < model.num_states(); ++s) {
      EXPECT_NEAR(policy.belief()[static_cast<std::size_t>(s)], moved(s), 1e-15);
    }
  }
  GraphAgent graph({.num_observations = 2, .actions = {0, 1}, .next = {1, 0, 0, 1}}, 0);
  Rng rng({23, 0, Role::agent});
  for (const int index : {2, -2, kLeast, kMost}) {
    EXPECT_THROW(graph.observe(Observation{index}), InvalidArgument) << index;
  }
  graph.observe(kMissing);
  EXPECT_EQ(graph.act(rng).action, 0);
  graph.observe(Observation{0});
  EXPECT_EQ(graph.act(rng).action, 1);
}

// The model with rows that are reading-first; where sensors differ, the first action's come first.
Pomdp with_first_readings(const Pomdp& model) {
  PomdpParts parts = model.parts();
  const auto one = parts.sensors.values().first(parts.sensors.values().size() /
                                                static_cast<std::size_t>(model.num_actions()));
  parts.rows = Rows::reading_first;
  parts.first_observation =
      ObservationModel(model.num_states(), 1, model.num_observations(), {one.begin(), one.end()});
  return Pomdp(std::move(parts));
}

TEST_P(AgentInput, AFirstReadingIsPartOfTheState) {
  if (GetParam().timing == Timing::before) return;
  const Pomdp model = with_first_readings(model_);
  const auto fresh = [&] {
    return make_agent(GetParam().agent, model, test::quick_settings(GetParam().agent));
  };
  AnyAgent agent = fresh();
  for (const int index : {model.num_observations(), -2, kLeast, kMost}) {
    if (GetParam().agent == "sm-ucrl") break;  // has no use for it
    EXPECT_THROW(agent.begin(Observation{index}), InvalidArgument) << index;
  }
  Environment environment(model, Rng({31, 0, Role::environment}));
  Rng rng({31, 0, Role::agent});
  ASSERT_TRUE(environment.opens());
  agent.begin(environment.open());
  ASSERT_FALSE(environment.opens());
  for (const int steps : {0, 1, 200}) {
    static_cast<void>(play(agent, environment, rng, model.num_actions(), steps));
    AnyAgent other = fresh();
    load(other, state_of(agent));
    EXPECT_EQ(state_of(other), state_of(agent)) << steps;
    Environment same = environment;
    Rng same_rng = rng;
    Environment again = environment;
    Rng again_rng = rng;
    AnyAgent third = fresh();
    load(third, state_of(agent));
    EXPECT_EQ(play(other, same, same_rng, model.num_actions(), 300).rows,
              play(third, again, again_rng, model.num_actions(), 300).rows);
  }
}

// Sensors that show the state, and rewards for the action that names it: the first action is right.
TEST(FirstReading, AnOracleActsOnIt) {
  PomdpParts parts;
  parts.timing = Timing::after;
  parts.rows = Rows::reading_first;
  parts.states = Labels(2, "state");
  parts.actions = Labels(2, "action");
  parts.observations = Labels(2, "observation");
  parts.transition = TransitionModel(2, 2, std::vector<double>(8, 0.5));
  parts.sensors = ObservationModel(2, 2, 2, {1, 0, 0, 1, 1, 0, 0, 1});
  parts.reward = Reward::by_action_state({1.0, 0.0, 0.0, 1.0});
  const Pomdp model(std::move(parts));
  for (const int seen : {0, 1}) {
    AnyAgent agent = make_agent("oracle", model, {});
    Rng rng({32, 0, Role::agent});
    agent.begin(Observation{seen});
    EXPECT_EQ(agent.act(rng).action.value(), seen);
  }
  // Without first_observation nothing can be made of it.
  PlanPolicy policy(make_plan(model.with_rows(Rows::reading_first), PlanOptions{}));
  policy.begin(Observation{1});
  EXPECT_EQ(policy.belief()[1], 1.0);
}

}  // namespace
}  // namespace oas
