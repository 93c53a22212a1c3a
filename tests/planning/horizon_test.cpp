#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "oas/core/contracts.hpp"
#include "oas/planning/horizon/horizon_evaluation.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/policies/asked_policy.hpp"
#include "oas/planning/policies/plan_export.hpp"
#include "oas/simulation/run.hpp"
#include "planning/horizon_support.hpp"
#include "planning/planning_support.hpp"
#include "support/random_models.hpp"

/// Plans that end: against the tree of all histories, and against answers known by other means.
namespace oas {
namespace {

using test::plan_for;
using test::small_model;
using testing::HasSubstr;

// P(s', o | s, a), from the definition of the timings.
double joint(const Pomdp& model, int a, int s, int next, int o) {
  const State emitter{model.timing() == Timing::before ? s : next};
  return model.transition()(Action{a}, State{s}, State{next}) *
         model.sensors()(Action{a}, emitter, Observation{o});
}

// The best value of n steps at weights x over states, over all ways to act on what is observed.
double best_of_tree(const Pomdp& model, const std::vector<double>& x, int n, double discount) {
  if (n == 0) return 0.0;
  const Matrix rewards = model.expected_reward();
  const auto states = x.size();
  double best = -1e300;
  for (int a = 0; a < model.num_actions(); ++a) {
    double value = 0.0;
    for (std::size_t s = 0; s < states; ++s) value += rewards(a, static_cast<int>(s)) * x[s];
    for (int o = 0; o < model.num_observations(); ++o) {
      std::vector<double> next(states, 0.0);
      for (std::size_t s = 0; s < states; ++s) {
        for (std::size_t t = 0; t < states; ++t) {
          next[t] += x[s] * joint(model, a, static_cast<int>(s), static_cast<int>(t), o);
        }
      }
      value += discount * best_of_tree(model, next, n - 1, discount);
    }
    best = std::max(best, value);
  }
  return best;
}

// Where runs start: weights over states for each first reading, or once for all.
std::vector<std::pair<Observation, std::vector<double>>> starts_of(const Pomdp& model) {
  if (!model.reading_first()) return {{kMissing, model.start()}};
  std::vector<std::pair<Observation, std::vector<double>>> starts;
  for (Observation o{0}; o < model.num_observations(); ++o) {
    std::vector<double> x = model.start();
    for (State s{0}; s < model.num_states(); ++s) {
      x[static_cast<std::size_t>(s)] *= (*model.first_observation())(Action{0}, s, o);
    }
    starts.emplace_back(o, std::move(x));
  }
  return starts;
}

double best_sum(const Pomdp& model, int steps, double discount = 1.0) {
  double sum = 0.0;
  for (const auto& [first, x] : starts_of(model)) sum += best_of_tree(model, x, steps, discount);
  return sum;
}

// What an agent earns, over all paths of states and observations.
double sum_over_paths(const Pomdp& model, const HorizonAgent& agent, int state, int steps,
                      double discount) {
  if (steps == 0) return 0.0;
  Rng rng({1, 0, Role::agent});
  HorizonAgent now = agent;
  const int a = now.act(rng).action.value();
  double value = model.expected_reward()(a, state);
  for (int o = 0; o < model.num_observations(); ++o) {
    HorizonAgent told = now;
    told.observe(Observation{o});
    for (int next = 0; next < model.num_states(); ++next) {
      const double p = joint(model, a, state, next, o);
      if (p > 0.0) value += discount * p * sum_over_paths(model, told, next, steps - 1, discount);
    }
  }
  return value;
}

double earned_over_paths(const Pomdp& truth, const Plan& plan) {
  double sum = 0.0;
  for (const auto& [first, x] : starts_of(truth)) {
    HorizonAgent agent(*plan.horizon_policy());
    if (first != kMissing) agent.begin(first);
    for (std::size_t s = 0; s < x.size(); ++s) {
      if (x[s] == 0.0) continue;
      sum += x[s] * sum_over_paths(truth, agent, static_cast<int>(s), plan.horizon->steps,
                                   plan.horizon->discount);
    }
  }
  return sum;
}

TEST(Horizon, AgainstTheTreeOfAllHistories) {
  int searched = 0;
  for (int kind = 0; kind < 3; ++kind) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Pomdp model = small_model(kind, seed);
      const double discount = seed % 4 == 0 ? 0.8 : 1.0;
      for (int steps = 1; steps <= 5; ++steps) {
        const Plan plan = plan_for(model, steps, 1e-9, discount);
        const double best = best_sum(model, steps, discount);
        ASSERT_EQ(plan.status, SolveStatus::converged) << plan.message;
        EXPECT_NEAR(plan.horizon->lower, best, 2e-9) << kind << " " << seed << " " << steps;
        EXPECT_NEAR(plan.horizon->upper, best, 2e-9);
        EXPECT_LE(plan.horizon->lower, best + 1e-12);
        EXPECT_GE(plan.horizon->upper, best - 1e-11);
        EXPECT_NEAR(horizon_value(model, plan), plan.horizon->lower, 1e-12);
        EXPECT_NEAR(earned_over_paths(model, plan), plan.horizon->lower, 1e-12);
        plan.validate();
        searched += plan.iterations > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(searched, 90);  // of 180, 36 of them for one step
}

// However little is allowed, both bounds hold, and the plan earns what it says.
TEST(Horizon, BoundsHoldAndCloseWithWork) {
  int cut = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Pomdp model = small_model(static_cast<int>(seed % 3), seed);
    const double best = best_sum(model, 5);
    double lower = -1e300;
    double upper = 1e300;
    bool closed = false;
    for (const double work : {1.0, 1e3, 1e4, 1e5, 1e8}) {
      const Plan plan = horizon_plan(model, {.steps = 5, .gap = 1e-10, .work = work});
      EXPECT_LE(lower, plan.horizon->lower);
      EXPECT_GE(upper + 1e-12, plan.horizon->upper);  // rounding
      lower = plan.horizon->lower;
      upper = plan.horizon->upper;
      EXPECT_LE(lower, best + 1e-12);
      EXPECT_GE(upper, best - 1e-11);
      EXPECT_LE(lower, upper);
      EXPECT_NEAR(horizon_value(model, plan), lower, 1e-12);
      closed = plan.status == SolveStatus::converged;
      EXPECT_EQ(closed, plan.residual <= 1e-10);
      EXPECT_EQ(!closed, plan.message.find("the limit of work is reached") != std::string::npos);
      cut += closed ? 0 : 1;
    }
    EXPECT_TRUE(closed);
  }
  EXPECT_GT(cut, 10);
}

TEST(Horizon, OneStepIsTheBestReward) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Pomdp model = small_model(0, seed);
    const VectorView start(model.start().data(), 3);
    const Plan plan = plan_for(model, 1);
    EXPECT_NEAR(plan.horizon->lower, (model.expected_reward() * start).maxCoeff(), 1e-14);
    EXPECT_EQ(plan.horizon->upper, plan.horizon->lower);
    EXPECT_EQ(plan.iterations, 0);
    EXPECT_EQ(plan.gain_lower, plan.horizon->lower);
  }
}

TEST(Horizon, VisibleStatesAgainstBackwardInduction) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Rng rng({seed, 0, Role::policy});
    std::vector<double> rewards;
    for (int i = 0; i < 12; ++i) rewards.push_back(rng.uniform());
    const Pomdp model = test::make_model(
        Timing::after, 4, 3, 4, test::random_rows(12, 4, 0.7, 0.2, rng),
        test::identity_sensors(4, 3), Reward::by_action_state(std::move(rewards)), {0, 1, 0, 0});
    Vector value = Vector::Zero(4);
    for (int n = 1; n <= 30; ++n) {
      Matrix q(3, 4);
      for (int a = 0; a < 3; ++a) {
        q.row(a) = model.expected_reward().row(a) +
                   (model.transition().matrix(Action{a}) * value).transpose();
      }
      value = q.colwise().maxCoeff().transpose();
      if (n % 10 != 0) continue;
      const Plan plan = plan_for(model, n, 1e-8);
      EXPECT_EQ(plan.status, SolveStatus::converged);
      EXPECT_NEAR(plan.horizon->lower, value[1], 1e-8);
      EXPECT_NEAR(plan.horizon->upper, value[1], 1e-8);
    }
  }
}

TEST(Horizon, BlindSensorsAgainstAllSequencesOfActions) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    Rng rng({11, 0, Role::policy});
    const Pomdp model = test::make_model(timing, 3, 2, 1, test::random_rows(6, 3, 0.5, 0.2, rng),
                                         {1, 1, 1, 1, 1, 1},
                                         Reward::by_action_state({1, 0, 3, -1, 2, 0.5}), {1, 0, 0});
    constexpr int kSteps = 9;
    double best = -1e300;
    for (int code = 0; code < 1 << kSteps; ++code) {
      Vector law = VectorView(model.start().data(), 3);
      double sum = 0.0;
      for (int t = 0; t < kSteps; ++t) {
        const int a = (code >> t) & 1;
        sum += model.expected_reward().row(a).dot(law);
        law = model.transition().matrix(Action{a}).transpose() * law;
      }
      best = std::max(best, sum);
    }
    const Plan plan = plan_for(model, kSteps);
    EXPECT_NEAR(plan.horizon->lower, best, 1e-9);
    EXPECT_NEAR(plan.horizon->upper, best, 1e-9);
  }
}

TEST(Horizon, CornerModels) {
  const Pomdp one =
      test::make_model(Timing::before, 1, 2, 1, {1, 1}, {1, 1}, Reward::by_action_state({2, 5}));
  EXPECT_NEAR(plan_for(one, 7).horizon->upper, 35.0, 1e-12);
  EXPECT_NEAR(plan_for(one, 7, 1e-9, 0.5).horizon->lower, 5.0 * (2.0 - 1.0 / 64), 1e-12);
  EXPECT_EQ(plan_for(one, 3, 1e-9, 1e-300).status, SolveStatus::converged);
  const Pomdp flip = test::make_model(Timing::before, 2, 1, 1, {0, 1, 1, 0}, {1, 1},
                                      Reward::by_action_state({1, 0}), {1, 0});
  for (int n = 1; n < 8; ++n) EXPECT_NEAR(plan_for(flip, n).horizon->lower, (n + 1) / 2, 1e-12);
  // Cash in now and be out for ever, or wait and lose a little: in the last step only.
  const Pomdp cash = test::make_model(Timing::after, 2, 2, 2, {1, 0, 0, 1, 0, 1, 0, 1},
                                      test::identity_sensors(2, 2),
                                      Reward::by_action_state({-0.1, 0, 5, 0}), {1, 0});
  const Plan plan = plan_for(cash, 4);
  EXPECT_NEAR(plan.horizon->lower, 5.0, 1e-12);
  EXPECT_EQ(plan.horizon_policy()->first_action(), Action{1});
  const Pomdp equal = test::make_model(Timing::after, 2, 2, 1, {1, 0, 0, 1, 0, 1, 0, 1},
                                       {1, 1, 1, 1}, Reward::by_action_state({3, 3, 3, 3}));
  EXPECT_EQ(horizon_plan(equal, {.steps = 50, .gap = {}}).status, SolveStatus::converged);
  const Pomdp zero = test::make_model(Timing::after, 2, 2, 1, {1, 0, 0, 1, 0, 1, 0, 1},
                                      {1, 1, 1, 1}, Reward::by_action_state({0, 0, 0, 0}));
  EXPECT_EQ(horizon_plan(zero, {.steps = 50, .gap = {}}).status, SolveStatus::converged);
}

// The machine is replaced for what it will earn: not when the end is near.
TEST(Horizon, TheEndChangesWhatIsBest) {
  const Pomdp machine = test::make_model(Timing::after, 2, 2, 2, {0.9, 0.1, 0, 1, 1, 0, 1, 0},
                                         test::identity_sensors(2, 2),
                                         Reward::by_action_state({1, 0, -2, -2}), {0, 1});
  EXPECT_EQ(plan_for(machine, 3).horizon_policy()->first_action(), Action{0});
  EXPECT_EQ(plan_for(machine, 6).horizon_policy()->first_action(), Action{1});
}

TEST(Horizon, ValuePerStepTendsToTheGain) {
  const Pomdp model = test::replacement_problem(0.1, 2.0);
  const double gain = test::replacement_gain(0.1, 2.0);
  for (const int steps : {10, 40, 160}) {
    const Plan plan = horizon_plan(model, {.steps = steps, .gap = {}});
    EXPECT_EQ(plan.status, SolveStatus::converged);
    EXPECT_LE(std::abs(plan.horizon->lower - steps * gain), 5.0) << steps;
    EXPECT_LE(std::abs(plan.horizon->upper - steps * gain), 5.0) << steps;
  }
}

// Judged in another model with other states; every node goes on after every observation.
TEST(Horizon, ExactInOtherModels) {
  for (int kind = 0; kind < 3; ++kind) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Plan plan = plan_for(small_model(kind, seed), 4, 1e-3, 0.9);
      const Pomdp truth = small_model(kind, seed + 2);
      EXPECT_NEAR(horizon_value(truth, plan), earned_over_paths(truth, plan), 1e-12);
      const std::vector<Pomdp> both{truth, plan.model};
      const std::vector<double> values = horizon_values(both, plan, Parallelism{2});
      EXPECT_EQ(values[0], horizon_value(truth, plan));
      EXPECT_NEAR(values[1], plan.horizon->lower, 1e-12);
    }
  }
  // Runs that begin with a reading, played by a plan that does not ask for it.
  const Plan plain = plan_for(small_model(1, 4), 3);
  const Pomdp reading = small_model(2, 4);
  EXPECT_NEAR(horizon_value(reading, plain), earned_over_paths(reading, plain), 1e-12);
  EXPECT_THROW(static_cast<void>(horizon_value(small_model(1, 4), plan_for(reading, 3))),
               InvalidArgument);
  EXPECT_THROW(static_cast<void>(horizon_value(small_model(1, 5), plain)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(horizon_value(reading, make_plan(small_model(1, 4)))),
               InvalidArgument);
}

// What the plan's model rules out tells nothing: the plan goes on with what is best without it.
TEST(Horizon, AnObservationThatCannotComeTellsNothing) {
  // Action 0 earns in state 0, action 1 in state 1, and readings 0 and 1 tell; 2 never comes.
  const auto model = [](double p, double broken) {
    const double works = 1.0 - broken;
    return test::make_model(
        Timing::after, 2, 2, 3, {p, 1 - p, p, 1 - p, p, 1 - p, p, 1 - p},
        {works, 0, broken, 0, works, broken, works, 0, broken, 0, works, broken},
        Reward::by_action_state({1, 0, 0, 1}), {1, 0});
  };
  for (const double p : {0.2, 0.8}) {
    const Plan plan = plan_for(model(p, 0.0), 2);
    EXPECT_NEAR(plan.horizon->lower, 2.0, 1e-12);
    EXPECT_NEAR(horizon_value(model(p, 1.0), plan), 1.8, 1e-12);
  }
}

TEST(Horizon, SimulationAgreesAndKnowsNoThreads) {
  for (int kind = 0; kind < 3; ++kind) {
    const Pomdp model = small_model(kind, 4);
    const Plan plan = plan_for(model, 12, 1e-2);
    SimulationOptions options;
    options.level = 1.0 - 1e-6;
    options.steps = 60'000;
    const GainInterval one = simulate_horizon(model, plan, options, Parallelism{1});
    EXPECT_NEAR(one.mean, plan.horizon->lower, one.half_width);
    EXPECT_LT(one.half_width, 0.5);
    EXPECT_EQ(one.num_batches, 5000);
    const GainInterval three = simulate_horizon(model, plan, options, Parallelism{3});
    EXPECT_EQ(one.mean, three.mean);
    EXPECT_EQ(one.half_width, three.half_width);
  }
}

TEST(Horizon, ThePlanIsOverAfterItsLastStep) {
  const Plan plan = plan_for(small_model(1, 1), 2);
  Rng rng({1, 0, Role::agent});
  HorizonAgent agent(*plan.horizon_policy());
  for (int t = 0; t < 2; ++t) {
    EXPECT_EQ(agent.act(rng).propensity, 1.0);
    EXPECT_THROW(agent.observe(kMissing), InvalidArgument);
    agent.observe(Observation{0});
  }
  EXPECT_THROW(static_cast<void>(agent.act(rng)), InvalidArgument);
  EXPECT_THROW(agent.observe(Observation{0}), InvalidArgument);
}

TEST(Horizon, GoesThroughTheTableOfPlanners) {
  const Pomdp model = small_model(1, 1);
  const PlanOptions options = plan_options(model, std::vector<Setting>{{"horizon", "5"}});
  const Plan plan = make_plan(model, options, Parallelism{1});
  EXPECT_EQ(plan, make_plan(model, options, Parallelism{3}));
  EXPECT_EQ(plan, horizon_plan(model, {.steps = 5, .gap = {}}));
  EXPECT_LE(plan.residual,
            1e-4 * 5 * (model.expected_reward().maxCoeff() - model.expected_reward().minCoeff()));
  const Plan both = make_plan(
      model, plan_options(model, std::vector<Setting>{{"horizon", "5"}, {"discount", "0.7"}}));
  EXPECT_EQ(both, horizon_plan(model, {.steps = 5, .discount = 0.7, .gap = {}}));
  EXPECT_FALSE(both.discounted.has_value());
  EXPECT_NEAR(both.gain_lower, both.horizon->lower * 0.3 / (1 - std::pow(0.7, 5)), 1e-12);
}

TEST(Horizon, WhatDoesNotGoWithItIsRefusedByName) {
  const Pomdp model = small_model(1, 1);
  const std::vector<std::pair<std::vector<Setting>, std::string>> cases = {
      {{{"horizon", "0"}}, "horizon is '0'; it must be a whole number between 1 and 10000"},
      {{{"horizon", "-3"}}, "'-3'"},
      {{{"horizon", "1000000000"}}, "'1000000000'"},
      {{{"horizon", "nan"}}, "'nan'"},
      {{{"horizon", "3"}, {"limit", "0=0.1"}}, "limit is for the long run"},
      {{{"horizon", "3"}, {"iota", "0.1"}}, "no floor"},
      {{{"horizon", "3"}, {"planner", "grid"}}, "planner grid makes plans that never end"},
      {{{"horizon", "3"}, {"grid", "5"}}, "grid: "},
      {{{"horizon", "3"}, {"steps", "1000"}}, "steps: a plan for a horizon has neither"},
      {{{"horizon", "3"}, {"seed", "2"}}, "seed: a plan for a horizon has neither"},
      {{{"work", "2"}}, "work: used only by --horizon, by --gap and by plans for many states"},
      {{{"horizon", "3"}, {"work", "0"}}, "work is '0'; it must be a number above 0"}};
  for (const auto& [settings, says] : cases) {
    try {
      static_cast<void>(make_plan(model, plan_options(model, settings)));
      FAIL() << says;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr(says));
    }
  }
  PlanOptions options;
  options.horizon = 3;
  EXPECT_THROW(static_cast<void>(optimistic_plan(model, 0.1, options)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(horizon_plan(model, {.steps = 0, .gap = {}})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(horizon_plan(model, {.steps = kMostHorizon + 1, .gap = {}})),
               InvalidArgument);
  EXPECT_THROW(static_cast<void>(horizon_plan(model, {.gap = std::nan("")})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(horizon_plan(model, {.discount = 1.5, .gap = {}})),
               InvalidArgument);
}

// Nobody who takes a plan to go on for ever takes one that ends.
TEST(Horizon, OthersSayThatItEnds) {
  const Pomdp model = small_model(1, 1);
  const Plan plan = plan_for(model, 3);
  const std::vector<std::function<void()>> others = {
      [&] { static_cast<void>(asked_policy(plan, "plan", model)); },
      [&] { static_cast<void>(export_graph(plan)); },
      [&] { static_cast<void>(export_vectors(plan)); },
      [&] { static_cast<void>(acting_controller(plan)); },
      [&] { static_cast<void>(evaluate_by_simulation(model, plan, model)); },
      [&] { static_cast<void>(evaluate_on_chain(model, plan, model, {.resolution = 5})); }};
  for (const auto& other : others) {
    try {
      other();
      FAIL();
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr("the plan is for 3 steps"));
    }
  }
}

}  // namespace
}  // namespace oas
