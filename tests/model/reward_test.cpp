#include "oas/model/reward.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/model/pomdp.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::StrEq;
using testing::ThrowsMessage;

// The reward of one fully known step.
double step_reward(const Pomdp& model, int a, int s, int next, int o) {
  const auto values = model.reward().values();
  const int num_states = model.num_states();
  switch (model.reward().kind()) {
    case Reward::Kind::none:
      return 0.0;
    case Reward::Kind::by_observation:
      return values[static_cast<std::size_t>(o)];
    case Reward::Kind::by_action_state:
      return values[static_cast<std::size_t>(a * num_states + s)];
    case Reward::Kind::by_transition:
      break;
  }
  const int row = (a * num_states + s) * num_states + next;
  return values[static_cast<std::size_t>(row * model.num_observations() + o)];
}

// Sum over all (s', o) of probability times reward, from the definition of the timing.
double brute_force(const Pomdp& model, int a, int s) {
  double mean = 0.0;
  for (int next = 0; next < model.num_states(); ++next) {
    for (int o = 0; o < model.num_observations(); ++o) {
      const int emitter = model.timing() == Timing::before ? s : next;
      mean += model.transition()(Action{a}, State{s}, State{next}) *
              model.sensors()(Action{a}, State{emitter}, Observation{o}) *
              step_reward(model, a, s, next, o);
    }
  }
  return mean;
}

// All kinds of reward, both timings, sizes from 1 up.
RC_GTEST_PROP(ExpectedReward, EqualsTheSumOverAllSteps, ()) {
  const Pomdp model = test::any_model(5, 4, 5);
  const Matrix table = model.expected_reward();
  RC_ASSERT(table.rows() == model.num_actions() && table.cols() == model.num_states());
  for (int a = 0; a < model.num_actions(); ++a) {
    for (int s = 0; s < model.num_states(); ++s) {
      RC_ASSERT(std::abs(table(a, s) - brute_force(model, a, s)) < 1e-13);
    }
  }
}

TEST(ExpectedReward, TimingMatters) {
  test::RandomModelOptions options;
  const Pomdp before = test::random_model(options, 1);
  options.timing = Timing::after;
  const Pomdp after = test::random_model(options, 1);
  EXPECT_EQ(before.transition(), after.transition());
  EXPECT_GT((before.expected_reward() - after.expected_reward()).norm(), 0.1);
}

TEST(ExpectedReward, DoesWithoutTransitionWhereItCan) {
  for (const auto kind : {Reward::Kind::none, Reward::Kind::by_observation,
                          Reward::Kind::by_action_state, Reward::Kind::by_transition}) {
    for (const Timing timing : {Timing::before, Timing::after}) {
      test::RandomModelOptions options;
      options.reward = kind;
      options.timing = timing;
      const Pomdp model = test::random_model(options, 2);
      const Pomdp blind = model.without_transition();
      const bool needs = kind == Reward::Kind::by_transition ||
                         (kind == Reward::Kind::by_observation && timing == Timing::after);
      EXPECT_EQ(reward_needs_transition(model.reward(), timing), needs);
      if (needs) {
        EXPECT_THAT([&] { (void)blind.expected_reward(); },
                    ThrowsMessage<InvalidArgument>(StrEq("the expected reward depends on the "
                                                         "transition model, and the model has "
                                                         "none")));
      } else {
        EXPECT_EQ(blind.expected_reward(), model.expected_reward());
      }
    }
  }
}

TEST(Reward, ValuesMustBeFinite) {
  EXPECT_THAT(
      [] {
        (void)Reward::by_observation({0.0, std::numeric_limits<double>::infinity()});
      },
      ThrowsMessage<InvalidArgument>(StrEq("reward[1] is inf; it must be finite")));
  EXPECT_THAT([] { (void)Reward::by_action_state({std::numeric_limits<double>::quiet_NaN()}); },
              ThrowsMessage<InvalidArgument>(StrEq("reward[0] is nan; it must be finite")));
}

TEST(Reward, KindCountsInEquality) {
  EXPECT_NE(Reward::by_observation({1.0}), Reward::by_action_state({1.0}));
  EXPECT_EQ(Reward::by_observation({1.0}), Reward::by_observation({1.0}));
  EXPECT_EQ(Reward().kind(), Reward::Kind::none);
  EXPECT_EQ(Reward::by_transition({1.0}).kind(), Reward::Kind::by_transition);
}

}  // namespace
}  // namespace oas
