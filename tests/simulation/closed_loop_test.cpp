#include "oas/simulation/closed_loop.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/simulation/continuous_loop.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/simulation/run.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::HasSubstr;
using testing::StrEq;
using testing::ThrowsMessage;

PolicyOptions named(std::string_view name) {
  PolicyOptions options;
  options.name = name;
  return options;
}

Trajectory play(const Pomdp& model, std::string_view policy, std::size_t steps, std::uint64_t seed,
                std::uint32_t replication = 0) {
  Trajectory rows;
  ClosedLoop(model, named(policy), seed, replication).advance(steps, rows);
  return rows;
}

std::string any_policy() {
  return std::string(
      policies()[*rc::gen::inRange<std::size_t>(0, policies().size()).as("policy")].name);
}

// States 2, 3, 5 and 7: fixed-size and run-time kernels.
Pomdp any_playable_model() {
  test::RandomModelOptions options;
  options.num_states = *rc::gen::element(1, 2, 3, 5, 7, 10).as("states");
  options.num_actions = *rc::gen::inRange(1, 5).as("actions");
  options.timing = test::any_timing();
  return test::random_model(options, test::any_seed());
}

RC_GTEST_PROP(ClosedLoop, StepsDoNotDependOnHowTheyAreCut, ()) {
  const Pomdp model = any_playable_model();
  const std::string policy = any_policy();
  const std::uint64_t seed = test::any_seed();
  const auto blocks =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 300))
           .as("blocks");
  ClosedLoop loop(model, named(policy), seed);
  Trajectory pieces;
  for (const std::size_t steps : blocks) loop.advance(steps, pieces);
  RC_ASSERT(pieces == play(model, policy, pieces.size(), seed));
}

// A consumer that empties its buffer after every block sees the same rows, too.
TEST(ClosedLoop, ClearedBuffersContinue) {
  const Pomdp model = test::random_model({}, 1);
  ClosedLoop loop(model, named("belief"), 3);
  Trajectory block;
  std::vector<Action> actions;
  for (int i = 0; i < 10; ++i) {
    block.clear();
    loop.advance(37, block);
    actions.insert(actions.end(), block.actions.begin(), block.actions.end());
  }
  EXPECT_EQ(actions, play(model, "belief", 370, 3).actions);
}

TEST(ClosedLoop, SeedAndReplicationDecideEverything) {
  const Pomdp model = test::random_model({}, 2);
  for (const PolicyInfo& policy : policies()) {
    const Trajectory rows = play(model, policy.name, 500, 7, 1);
    EXPECT_EQ(rows, play(model, policy.name, 500, 7, 1)) << policy.name;
    EXPECT_NE(rows.states, play(model, policy.name, 500, 8, 1).states) << policy.name;
    EXPECT_NE(rows.states, play(model, policy.name, 500, 7, 2).states) << policy.name;
  }
}

TEST(ClosedLoop, IsTheClosedLoopOfItsPolicy) {
  const Pomdp model = test::random_model({}, 3);  // 3 states, 2 actions
  const double floor = default_floor(2);
  UniformPolicy uniform(2);
  EXPECT_EQ(play(model, "uniform", 300, 5, 4), run(model, uniform, 300, 5, 4));
  RoundRobinPolicy in_turn(2);
  EXPECT_EQ(play(model, "round-robin", 300, 5, 4), run(model, in_turn, 300, 5, 4));
  BeliefPolicy<3> belief(model, model.transition(), floor);
  EXPECT_EQ(play(model, "belief", 300, 5, 4), run(model, belief, 300, 5, 4));
  MemorylessPolicy memoryless(model, model.transition(), floor);
  EXPECT_EQ(play(model, "memoryless", 300, 5, 4), run(model, memoryless, 300, 5, 4));
}

TEST(ClosedLoop, TakesAnyAgent) {
  const Pomdp model = test::random_model({}, 3);
  MemorylessPolicy agent(model, model.transition(), 0.2);
  ClosedLoop loop = ClosedLoop::of(model, agent, 5, 4);
  Trajectory rows;
  loop.advance(100, rows);
  loop.advance(200, rows);
  EXPECT_EQ(rows, run(model, agent, 300, 5, 4));
}

// Writes down what happens to it.
struct Witness {
  Choice act(Rng& /*rng*/) {
    *said += "act ";
    return {Action{0}, 1.0};
  }
  void observe(Observation /*observation*/) { *said += "observe "; }
  std::string* said;
};

TEST(Play, IsWatchedBetweenTheAnswerAndTheTelling) {
  Environment environment(test::random_model({}, 3), Rng({1, 0, Role::environment}));
  Rng rng({1, 0, Role::agent});
  std::string said;
  Witness agent{&said};
  State next = environment.state();
  oas::play(environment, agent, rng, 2,
            [&](const Choice& choice, const Environment::Outcome& outcome) {
              said += "watch ";
              EXPECT_EQ(choice.action, 0);
              EXPECT_EQ(outcome.state, next);
              next = environment.state();
            });
  EXPECT_THAT(said, StrEq("act watch observe act watch observe "));
  oas::play(environment, agent, rng, 0, [](const Choice&, const Environment::Outcome&) {});
  EXPECT_EQ(environment.state(), next);
}

// Policies that do not look at observations play alike whatever these are, on the agent's stream;
// readings follow the state that the timing says.
TEST(ContinuousLoop, SharesPoliciesAndDynamicsWithFiniteModels) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp chain = test::random_model({.num_states = 2, .timing = timing}, 5);
    std::vector<VectorDensity> densities;
    for (int i = 0; i < 4; ++i) {
      densities.emplace_back(VectorDensity({Density::gaussian(100.0 * (i % 2), 0.1)}));
    }
    const ContinuousPomdp model(chain, DensitySensors(2, 2, densities));
    for (const char* name : {"uniform", "round-robin"}) {
      Trajectory rows;
      std::vector<double> readings;
      ContinuousLoop loop(model, named(name), 7, 2);
      loop.advance(30, rows, readings);
      loop.advance(70, rows, readings);
      const Trajectory finite = play(chain, name, 100, 7, 2);
      EXPECT_EQ(rows.actions, finite.actions);
      EXPECT_EQ(rows.propensities, finite.propensities);
      EXPECT_EQ(rows.states, finite.states);  // one number each for state and observation
      const std::size_t shift = timing == Timing::after ? 1 : 0;
      for (std::size_t t = 0; t + shift < rows.size(); ++t) {
        EXPECT_NEAR(readings[t], 100.0 * rows.states[t + shift], 2.0);
      }
    }
  }
}

TEST(ClosedLoop, FillsEveryColumn) {
  const Trajectory rows = play(test::random_model({}, 4), "belief", 10, 1);
  EXPECT_EQ(rows.observations.size(), 10U);
  EXPECT_EQ(rows.propensities.size(), 10U);
  EXPECT_EQ(rows.rewards.size(), 10U);
  EXPECT_EQ(rows.states.size(), 10U);
}

TEST(ClosedLoop, PropensitiesKeepTheFloor) {
  test::RandomModelOptions sizes;
  sizes.num_actions = 3;
  const Pomdp model = test::random_model(sizes, 5);
  for (const char* name : {"belief", "memoryless"}) {
    PolicyOptions options = named(name);
    for (const double floor : {0.0, 0.05, 1.0 / 3.0}) {
      options.min_action_probability = floor;
      Trajectory rows;
      ClosedLoop(model, options, 1).advance(1000, rows);
      std::vector<int> plays(3, 0);
      for (std::size_t t = 0; t < rows.size(); ++t) {
        ASSERT_GE(rows.propensities[t], floor == 0.0 ? 1.0 : floor);
        ++plays[static_cast<std::size_t>(rows.actions[t])];
      }
      if (floor == 0.0) continue;
      EXPECT_THAT(plays, testing::Each(testing::Gt(10))) << name;
    }
    Trajectory rows;
    ClosedLoop(model, named(name), 1).advance(1000, rows);
    EXPECT_THAT(rows.propensities, testing::Contains(default_floor(3))) << "the default floor";
  }
}

TEST(ClosedLoop, Moves) {
  const Pomdp model = test::random_model({}, 6);
  ClosedLoop loop(model, named("belief"), 1);
  Trajectory rows;
  loop.advance(10, rows);
  ClosedLoop moved = std::move(loop);
  moved.advance(10, rows);
  ClosedLoop assigned(model, named("uniform"), 2);
  assigned = std::move(moved);
  assigned.advance(10, rows);
  EXPECT_EQ(rows, play(model, "belief", 30, 1));
}

TEST(ClosedLoop, OutlivesItsModel) {
  Trajectory rows;
  std::optional<ClosedLoop> loop;
  {
    const Pomdp model = test::random_model({}, 7);
    loop.emplace(model, named("belief"), 1);
  }
  loop->advance(100, rows);
  EXPECT_EQ(rows, play(test::random_model({}, 7), "belief", 100, 1));
}

TEST(PolicyTable, NamesAreUniqueAndDescribed) {
  std::vector<std::string_view> names;
  for (const PolicyInfo& policy : policies()) {
    EXPECT_FALSE(policy.summary.empty());
    names.push_back(policy.name);
  }
  EXPECT_THAT(names,
              testing::UnorderedElementsAre("uniform", "belief", "memoryless", "round-robin"));
}

auto starting(const Pomdp& model, PolicyOptions options) {
  return [&model, options] { ClosedLoop(model, options, 1); };
}

TEST(PolicyErrors, UnknownNameListsTheKnownOnes) {
  const Pomdp model = test::random_model({}, 8);
  EXPECT_THAT(starting(model, named("greedy")),
              ThrowsMessage<InvalidArgument>(StrEq("unknown policy 'greedy'; known are uniform, "
                                                   "belief, memoryless, round-robin")));
}

TEST(PolicyErrors, FloorOutOfRangeOrNotUsed) {
  const Pomdp model = test::random_model({}, 8);
  for (const char* name : {"belief", "memoryless"}) {
    PolicyOptions options = named(name);
    options.min_action_probability = 0.6;
    EXPECT_THAT(starting(model, options), ThrowsMessage<InvalidArgument>(StrEq(
                                              "iota, the smallest probability of every action, "
                                              "is 0.6; it must lie in [0, 1/2]")));
    options.min_action_probability = -0.1;
    EXPECT_THAT(starting(model, options), ThrowsMessage<InvalidArgument>(HasSubstr("-0.1")));
  }
  for (const char* name : {"uniform", "round-robin"}) {
    PolicyOptions options = named(name);
    options.min_action_probability = 0.1;
    EXPECT_THAT(starting(model, options),
                ThrowsMessage<InvalidArgument>(StrEq(
                    fmt::format("policy '{}' has no minimum action probability to set", name))));
  }
}

TEST(PolicyErrors, OwnTransitionOfAnotherSize) {
  const Pomdp model = test::random_model({}, 8);
  PolicyOptions options;
  options.own_transition = TransitionModel::uniform(4, 2);
  EXPECT_THAT(starting(model, options),
              ThrowsMessage<InvalidArgument>(StrEq("the policy's transition model has 4 states and "
                                                   "2 actions where the model has 3 and 2")));
}

TEST(PolicyErrors, GreedyNeedsARewardAndAllNeedATransition) {
  test::RandomModelOptions options;
  options.reward = Reward::Kind::none;
  const Pomdp worthless = test::random_model(options, 8);
  EXPECT_THAT(starting(worthless, named("memoryless")),
              ThrowsMessage<InvalidArgument>(StrEq("policy 'memoryless' is greedy on the reward, "
                                                   "and the model has none")));
  EXPECT_NO_THROW(starting(worthless, named("uniform"))());
  const Pomdp blind = test::random_model({}, 8).without_transition();
  for (const PolicyInfo& policy : policies()) {
    EXPECT_THAT(starting(blind, named(policy.name)),
                ThrowsMessage<InvalidArgument>(StrEq("the model has no transition model")));
  }
}

}  // namespace
}  // namespace oas
