#include "oas/simulation/environment.hpp"

#include <gmock/gmock.h>

#include "oas/core/contracts.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/simulation/run.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::StrEq;
using testing::ThrowsMessage;

// Plays actions in turn and wastes random numbers of its own stream.
class WastefulAgent {
 public:
  explicit WastefulAgent(int num_actions) : inner_(num_actions) {}
  Choice act(Rng& rng) {
    for (int i = 0; i < 7; ++i) rng.bits();
    return inner_.act(rng);
  }
  void observe(Observation /*observation*/) {}

 private:
  RoundRobinPolicy inner_;
};

double expected_step_reward(const Pomdp& model, const Trajectory& rows, std::size_t t, State next) {
  const auto values = model.reward().values();
  const int row = rows.actions[t] * model.num_states() + rows.states[t];
  switch (model.reward().kind()) {
    case Reward::Kind::none:
      return 0.0;
    case Reward::Kind::by_observation:
      return values[static_cast<std::size_t>(rows.observations[t])];
    case Reward::Kind::by_action_state:
      return values[static_cast<std::size_t>(row)];
    case Reward::Kind::by_transition:
      break;
  }
  if (const auto& table = model.reward().table()) {
    return (*table)(rows.actions[t], rows.states[t], next, rows.observations[t]);
  }
  return values[static_cast<std::size_t>(
      (row * model.num_states() + next) * model.num_observations() + rows.observations[t])];
}

// Rewards in full give the same steps and rewards when they are held as a table.
RC_GTEST_PROP(Environment, RewardTablesGiveTheSameRewards, ()) {
  test::RandomModelOptions options;
  options.reward = Reward::Kind::by_transition;
  const Pomdp model = test::random_model(options, test::any_seed());
  PomdpParts parts = model.parts();
  parts.reward = Reward::by_table(
      parts.reward.to_table(model.num_states(), model.num_actions(), model.num_observations()));
  RC_ASSERT(parts.reward.values().empty());
  UniformPolicy agent(model.num_actions());
  UniformPolicy same(model.num_actions());
  RC_ASSERT(run(model, agent, 100, 1).rewards == run(Pomdp(parts), same, 100, 1).rewards);
}

// Every column of every step: rewards of all kinds, and nothing that the model forbids.
RC_GTEST_PROP(Environment, StepsArePossibleAndRewardsRight, ()) {
  const Pomdp model = test::any_model(4, 3, 4);
  UniformPolicy agent(model.num_actions());
  const Trajectory rows = run(model, agent, 200, test::any_seed());
  RC_ASSERT(model.start()[static_cast<std::size_t>(rows.states[0])] > 0.0);
  for (std::size_t t = 0; t + 1 < rows.size(); ++t) {
    const State now = rows.states[t];
    const State next = rows.states[t + 1];
    const State emitter = model.timing() == Timing::before ? now : next;
    RC_ASSERT(model.transition()(rows.actions[t], now, next) > 0.0);
    RC_ASSERT(model.sensors()(rows.actions[t], emitter, rows.observations[t]) > 0.0);
    RC_ASSERT(rows.rewards[t] == expected_step_reward(model, rows, t, next));
  }
}

// R(a,s,s',o) held as a table of exceptions pays what its numbers pay.
TEST(Environment, RewardTablesPayTheSame) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    test::RandomModelOptions options;
    options.timing = timing;
    options.reward = Reward::Kind::by_transition;
    const Pomdp numbers = test::random_model(options, 4);
    PomdpParts parts = numbers.parts();
    parts.reward = Reward::by_table(numbers.reward().to_table(3, 2, 4));
    UniformPolicy agent(2);
    EXPECT_EQ(run(Pomdp(parts), agent, 1000, 1), run(numbers, agent, 1000, 1));
  }
}

TEST(Environment, StateIsTheOneOfTheNextStep) {
  const Pomdp model = test::random_model({}, 1);
  Environment environment(model, Rng({1, 0, Role::environment}));
  for (int t = 0; t < 100; ++t) {
    const State before = environment.state();
    EXPECT_EQ(environment.step(Action{t % 2}).state, before);
  }
}

// Common random numbers: what an agent draws does not touch the environment's stream.
TEST(Environment, AgentsDrawsDoNotMatter) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    test::RandomModelOptions options;
    options.timing = timing;
    const Pomdp model = test::random_model(options, 2);
    RoundRobinPolicy frugal(2);
    WastefulAgent wasteful(2);
    EXPECT_EQ(run(model, frugal, 1000, 5), run(model, wasteful, 1000, 5));
  }
}

// Where actions make no difference, all agents live through the same states and observations.
TEST(Environment, DifferentAgentsShareTheirRandomNumbersStepByStep) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    test::RandomModelOptions options;
    options.num_actions = 1;
    options.timing = timing;
    const Pomdp single = test::random_model(options, 3);
    const auto twice = [](std::span<const double> values) {
      std::vector<double> doubled(values.begin(), values.end());
      doubled.insert(doubled.end(), values.begin(), values.end());
      return doubled;
    };
    PomdpParts parts = single.parts();
    parts.actions = Labels(2, "action");
    parts.transition = TransitionModel(3, 2, twice(single.transition().values()));
    parts.sensors = ObservationModel(3, 2, 4, twice(single.sensors().values()));
    const Pomdp model(std::move(parts));
    RoundRobinPolicy first(2);
    UniformPolicy second(2);
    const Trajectory x = run(model, first, 1000, 6);
    const Trajectory y = run(model, second, 1000, 6);
    EXPECT_NE(x.actions, y.actions);
    EXPECT_EQ(x.states, y.states);
    EXPECT_EQ(x.observations, y.observations);
  }
}

TEST(Environment, NeedsATransitionModel) {
  const Pomdp model = test::random_model({}, 1).without_transition();
  EXPECT_THAT(
      [&] {
        Environment(model, Rng({1, 0, Role::environment}));
      },
      ThrowsMessage<InvalidArgument>(StrEq("the model has no transition model")));
}

TEST(Run, AppendsToWhatIsThere) {
  const Pomdp model = test::random_model({}, 4);
  UniformPolicy agent(2);
  const Trajectory whole = run(model, agent, 50, 9, 2);
  Environment environment(model, Rng({9, 2, Role::environment}));
  Rng rng({9, 2, Role::agent});
  Trajectory pieces;
  for (const std::size_t steps : {1U, 0U, 20U, 29U}) {
    advance(environment, agent, rng, steps, pieces);
  }
  EXPECT_EQ(pieces, whole);
  EXPECT_EQ(whole.size(), 50U);
  EXPECT_EQ(whole.rewards.size(), 50U);
}

}  // namespace
}  // namespace oas
