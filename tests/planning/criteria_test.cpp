#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/planning/limited_plan.hpp"
#include "oas/planning/planner.hpp"
#include "planning/planning_support.hpp"
#include "support/random_models.hpp"

/// Discounted values against linear systems, limits against all randomised policies of tiny MDPs.
namespace oas {
namespace {

// A model whose states are seen before each action.
Pomdp visible(int states, int actions, std::uint64_t seed, std::vector<double> start) {
  Rng rng({seed, 0, Role::policy});
  std::vector<double> rewards;
  for (int i = 0; i < states * actions; ++i) rewards.push_back(rng.uniform());
  return test::make_model(Timing::after, states, actions, states,
                          test::random_rows(states * actions, states, 0.7, 0.2, rng),
                          test::identity_sensors(states, actions),
                          Reward::by_action_state(std::move(rewards)), std::move(start));
}

// The best discounted value from a state, over all deterministic policies.
double best_discounted(const Pomdp& model, double discount, int start) {
  const int n = model.num_states();
  const int actions = model.num_actions();
  const Matrix rewards = model.expected_reward();
  double best = -1e9;
  int policies = 1;
  for (int s = 0; s < n; ++s) policies *= actions;
  for (int policy = 0; policy < policies; ++policy) {
    Eigen::MatrixXd system = Eigen::MatrixXd::Identity(n, n);
    Vector earned(n);
    int code = policy;
    for (int s = 0; s < n; ++s, code /= actions) {
      const int a = code % actions;
      system.row(s) -= discount * model.transition().matrix(Action{a}).row(s);
      earned[s] = rewards(a, s);
    }
    best = std::max(best, Vector(system.partialPivLu().solve(earned))[start]);
  }
  return best;
}

TEST(Discounted, VisibleStatesAgainstLinearSystems) {
  for (const double discount : {0.3, 0.9, 0.99}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Pomdp model = visible(3, 2, seed, {0, 1, 0});
      PlanOptions options;
      options.discount = discount;
      options.simulation.steps = 20'000;
      const Plan plan = make_plan(model, options);
      const double best = best_discounted(model, discount, 1);
      ASSERT_TRUE(plan.discounted.has_value());
      EXPECT_LE(plan.discounted->lower, best + 1e-9);
      EXPECT_GE(plan.discounted->upper, best - 1e-9);
      EXPECT_NEAR(plan.discounted->upper, best, 1e-5 / (1.0 - discount));
      EXPECT_NEAR(plan.discounted->lower, best, 1e-4 / (1.0 - discount));
      EXPECT_LE(plan.gain_lower, plan.gain_upper);
    }
  }
}

TEST(Discounted, CornerModels) {
  PlanOptions options;
  options.discount = 0.95;
  options.simulation.steps = 6400;
  const Pomdp one =
      test::make_model(Timing::before, 1, 2, 1, {1, 1}, {1, 1}, Reward::by_action_state({2, 5}));
  EXPECT_NEAR(make_plan(one, options).discounted->upper, 100.0, 1e-4);
  const Pomdp flip = test::make_model(Timing::before, 2, 1, 1, {0, 1, 1, 0}, {1, 1},
                                      Reward::by_action_state({1, 0}), {1, 0});
  const Plan plan = make_plan(flip, options);
  EXPECT_NEAR(plan.discounted->upper, 1.0 / (1.0 - 0.95 * 0.95), 1e-5);
  EXPECT_NEAR(plan.discounted->lower, plan.discounted->upper, 1e-4);
  EXPECT_NEAR(plan.gain_lower, 0.5, 1e-6);
}

TEST(Discounted, IsRefusedWhereItCannotBe) {
  const Pomdp model = visible(2, 2, 1, {1, 0});
  PlanOptions options;
  options.discount = 0.9;
  options.planner = "point";
  EXPECT_THROW(static_cast<void>(make_plan(model, options)), InvalidArgument);
  options.planner = "auto";
  options.gap = 0.1;
  EXPECT_THROW(static_cast<void>(make_plan(model, options)), InvalidArgument);
  options.gap.reset();
  options.discount = 1.0;
  EXPECT_THROW(static_cast<void>(make_plan(model, options)), InvalidArgument);
  options.discount = 0.9;
  EXPECT_THROW(static_cast<void>(optimistic_plan(model, 0.1, options)), InvalidArgument);
}

// The best gain of a visible MDP of two states and actions whose frequency of state 1 is at most
// `most`, over randomised policies: the linear program, by brute force.
double best_under(const Pomdp& model, double most) {
  const Matrix rewards = model.expected_reward();
  double best = -1e9;
  constexpr int kSteps = 1000;
  for (int i = 0; i <= kSteps; ++i) {
    for (int j = 0; j <= kSteps; ++j) {
      const double p = static_cast<double>(i) / kSteps;  // of action 1 in state 0
      const double q = static_cast<double>(j) / kSteps;
      const auto mixed = [&](int s, double share) {
        return (1.0 - share) * model.transition()(Action{0}, State{s}, State{1}) +
               share * model.transition()(Action{1}, State{s}, State{1});
      };
      const double up = mixed(0, p);
      const double down = 1.0 - mixed(1, q);
      if (!(up + down > 0.0)) continue;
      const double frequency = up / (up + down);
      if (frequency > most) continue;
      const double gain = (1.0 - frequency) * ((1.0 - p) * rewards(0, 0) + p * rewards(1, 0)) +
                          frequency * ((1.0 - q) * rewards(0, 1) + q * rewards(1, 1));
      best = std::max(best, gain);
    }
  }
  return best;
}

TEST(Limited, VisibleStatesAgainstAllRandomisedPolicies) {
  // Action 1 pays and leads to the bad state, action 0 leads out of it.
  const Pomdp model = test::make_model(
      Timing::after, 2, 2, 2, {0.95, 0.05, 0.6, 0.4, 0.5, 0.5, 0.2, 0.8},
      test::identity_sensors(2, 2), Reward::by_action_state({0.2, 0.0, 1.0, 1.2}), {1, 0});
  for (const double most : {0.1, 0.2, 0.4, 0.9}) {
    PlanOptions options;
    options.limit = fmt::format("1={}", most);
    options.simulation.steps = 50'000;
    const Plan plan = make_plan(model, options);
    const double best = best_under(model, most);
    ASSERT_TRUE(plan.limited.has_value());
    EXPECT_LE(plan.limited->frequency, most);
    EXPECT_LE(plan.limited->gain_lower, best + 1e-3);  // the brute force has steps
    EXPECT_GE(plan.limited->gain_upper, best - 1e-6);
    EXPECT_LE(plan.limited->gain_upper, best + 5e-3);
    EXPECT_EQ(plan.limited->multiplier == 0.0, most == 0.9);
    EXPECT_EQ(parse_plan(dump_json(plan_to_json(plan)), "plan"), plan);
  }
}

// Hidden states: frequencies jump with the penalty, and a plan is a little off its controller.
TEST(Limited, WhatASmallerLimitKeepsIsNotRefused) {
  const Pomdp model = test::make_model(
      Timing::before, 3, 2, 3,
      {0.9, 0.08, 0.02, 0.02, 0.83, 0.15, 0.01, 0.01, 0.98, 0.97, 0.02, 0.01, 0.8, 0.19, 0.01, 0.6,
       0.1, 0.3},
      {0.7, 0.2, 0.1, 0.2, 0.6, 0.2, 0.1, 0.2, 0.7, 0.7, 0.2, 0.1, 0.2, 0.6, 0.2, 0.1, 0.2, 0.7},
      Reward::by_action_state({10, 6, 0, 2, 2, -4}), {0.2, 0.3, 0.5});
  double tighter = 0.0;
  for (const double most : {0.06, 0.07, 0.08, 0.09}) {
    PlanOptions options;
    options.limit = fmt::format("2={}", most);
    const Plan plan = make_plan(model, options);
    EXPECT_LE(plan.limited->frequency, most);
    EXPECT_GT(plan.limited->gain_lower, tighter - 0.05) << most;
    tighter = plan.limited->gain_lower;
  }
}

TEST(Limited, WhatCannotBeKeptIsSaid) {
  const Pomdp model = test::make_model(
      Timing::after, 3, 2, 3,
      {0.5, 0.3, 0.2, 0.2, 0.2, 0.6, 0.4, 0.3, 0.3, 0.1, 0.8, 0.1, 0.3, 0.5, 0.2, 0.3, 0.3, 0.4},
      test::identity_sensors(3, 2), Reward::by_action_state({1, 0, 2, 0, 1, 3}));
  PlanOptions options;
  options.simulation.steps = 6400;
  for (const auto& [limit, says] : std::vector<std::pair<std::string, std::string>>{
           {"2=0", "under every policy it takes at least"},
           {"2", "STATE=SHARE"},
           {"=0.1", "STATE=SHARE"},
           {"7=0.1", "there is no state '7'; there are 0, 1, 2"},
           {"1+=0.1", "there is no state ''"},
           {"1=2", "'2' is not a share"},
           {"1=x", "'x' is not a share"}}) {
    options.limit = limit;
    try {
      static_cast<void>(make_plan(model, options));
      FAIL() << limit;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(says)) << limit;
    }
  }
}

TEST(PlanFile, KeepsWhatCriteriaAndDrawsAdd) {
  PlanOptions options;
  options.discount = 0.9;
  options.simulation.steps = 640;
  Plan plan = make_plan(visible(2, 2, 3, {1, 0}), options);
  plan.posterior = PosteriorGain{0.9, 200, 0.5, 0.25, 0.75};
  EXPECT_EQ(parse_plan(dump_json(plan_to_json(plan)), "plan"), plan);
}

}  // namespace
}  // namespace oas
