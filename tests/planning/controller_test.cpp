#include "oas/planning/policies/controller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/controller_forecast.hpp"
#include "oas/planning/oracles.hpp"
#include "oas/planning/policies/asked_policy.hpp"
#include "oas/planning/policies/belief_rule.hpp"
#include "planning/planning_support.hpp"
#include "support/random_models.hpp"

/// Policies with finitely many states of their own: exact answers against dense chains, older
/// evaluations and the enumeration of all that may be observed.
namespace oas {
namespace {

Pomdp random_pomdp(Timing timing, std::uint64_t seed, double zeros = 0.0) {
  test::RandomModelOptions options;
  options.num_observations = 3;
  options.timing = timing;
  options.zero_fraction = zeros;
  return test::random_model(options, seed);
}

TEST(Controller, AConstantActionHasTheStationaryLawOfItsMatrix) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Pomdp model = random_pomdp(timing, seed);
      const std::vector<Action> action = {Action{seed % 2}};
      const ControllerValue value = evaluate_controller(model, schedule_controller(action, model));
      const Vector law = stationary_distribution(model.transition().matrix(action[0]));
      EXPECT_NEAR(value.gain, model.expected_reward().row(action[0].value()).dot(law), 1e-10);
      for (int s = 0; s < 3; ++s) {
        EXPECT_NEAR(value.frequencies[static_cast<std::size_t>(s)], law[s], 1e-10);
      }
    }
  }
}

TEST(Controller, AScheduleIsAChainOfPhases) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Pomdp model = random_pomdp(Timing::after, seed);
    const std::vector<Action> schedule = {Action{0}, Action{1}, Action{0}};
    const Matrix round = model.transition().matrix(Action{0}) *
                         model.transition().matrix(Action{1}) *
                         model.transition().matrix(Action{0});
    Vector law = stationary_distribution(round);
    double sum = 0.0;
    for (const Action a : schedule) {
      sum += model.expected_reward().row(a.value()).dot(law) / 3.0;
      law = model.transition().matrix(a).transpose() * law;
    }
    EXPECT_NEAR(evaluate_controller(model, schedule_controller(schedule, model)).gain, sum, 1e-10);
  }
}

// v = r + γ T v, for a constant action; and a failure for ever, whose long run says nothing.
TEST(Controller, DiscountedSumsSolveTheirEquation) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Pomdp model = random_pomdp(timing, seed);
      const std::vector<Action> action = {Action{seed % 2}};
      const Controller controller = schedule_controller(action, model);
      for (const double discount : {0.3, 0.9, 0.999}) {
        const Matrix transition = model.transition().matrix(action[0]);
        const Vector reward = model.expected_reward().row(action[0].value());
        Vector values = Vector::Zero(3);
        for (int sweep = 0; sweep < 40'000; ++sweep) {
          values = (reward + discount * transition * values).eval();
        }
        double expected = 0.0;
        for (int s = 0; s < 3; ++s) {
          expected += model.start()[static_cast<std::size_t>(s)] * values[s];
        }
        const ControllerValue found = evaluate_discounted(model, controller, discount);
        EXPECT_NEAR(found.gain, expected, 1e-9 * std::abs(expected));
        double by_shares = 0.0;
        for (int s = 0; s < 3; ++s) {
          by_shares += found.frequencies.at(static_cast<std::size_t>(s)) * reward[s];
        }
        EXPECT_NEAR(by_shares, (1.0 - discount) * expected, 1e-9 * std::abs(expected));
      }
      EXPECT_THROW(static_cast<void>(evaluate_discounted(model, controller, 1.0)), InvalidArgument);
      EXPECT_THROW(static_cast<void>(evaluate_discounted(model, controller, 0.0)), InvalidArgument);
    }
  }
}

TEST(Controller, CornerChains) {
  const auto blind = [](std::vector<double> transition, std::vector<double> start) {
    return test::make_model(Timing::before, 2, 1, 1, std::move(transition), {1.0, 1.0},
                            Reward::by_action_state({1.0, 5.0}), std::move(start));
  };
  const auto value_of = [](const Pomdp& model) {
    return evaluate_controller(model, uniform_controller(model));
  };
  EXPECT_NEAR(value_of(blind({0, 1, 1, 0}, {1, 0})).gain, 3.0, 1e-10);  // periodic
  const ControllerValue apart = value_of(blind({1, 0, 0, 1}, {0.25, 0.75}));
  EXPECT_NEAR(apart.gain, 4.0, 1e-12);  // where it starts decides
  EXPECT_EQ(apart.num_classes, 2);
  EXPECT_THAT(apart.frequencies, testing::ElementsAre(0.25, 0.75));
  EXPECT_NEAR(value_of(blind({0.9, 0.1, 0, 1}, {1, 0})).gain, 5.0, 1e-10);  // absorbing
  // Too slow for laws to settle: by linear systems.
  EXPECT_NEAR(value_of(blind({1 - 1e-9, 1e-9, 3e-9, 1 - 3e-9}, {1, 0})).gain, 2.0, 1e-6);
  // Moves so rare that laws seem to have settled before they show.
  for (const double rare : {1e-11, 1e-13, 1e-14}) {
    EXPECT_NEAR(value_of(blind({1 - rare, rare, 0, 1}, {1, 0})).gain, 5.0, 1e-6) << rare;
    EXPECT_NEAR(value_of(blind({1 - rare, rare, 3 * rare, 1 - 3 * rare}, {1, 0})).gain, 2.0, 1e-2)
        << rare;
  }
  // A difference 1 - P(stay) would be 0 here.
  EXPECT_NEAR(value_of(blind({1.0, 1e-18, 1.0, 0.0}, {0, 1})).gain, 1.0, 1e-10);
  const Pomdp one =
      test::make_model(Timing::after, 1, 2, 1, {1, 1}, {1, 1}, Reward::by_action_state({2.0, 4.0}));
  EXPECT_NEAR(value_of(one).gain, 3.0, 1e-12);
}

TEST(Controller, AFunctionOfTheLastRowIsAMemorylessPolicy) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Pomdp model = random_pomdp(timing, seed, 0.3);
      Rng rng({seed, 0, Role::policy});
      const double iota = seed % 2 == 0 ? 0.0 : 0.1;
      std::vector<int> greedy;
      std::vector<double> given;
      for (int row = 0; row < 2 * 3; ++row) {
        greedy.push_back(static_cast<int>(rng.below(2)));
        given.push_back(greedy.back() == 0 ? 1.0 - iota : iota);
        given.push_back(1.0 - given.back());
      }
      const std::vector<double> first = {0.5, 0.5};
      EXPECT_NEAR(evaluate_controller(model, last_row_controller(given, first, model)).gain,
                  memoryless_gain(model, greedy, iota), 1e-9);
    }
  }
}

TEST(Controller, WithPerfectSensorsBeliefsAreStates) {
  // In `after` the state is seen before each action: a rule on beliefs is a rule on states.
  test::RandomModelOptions options;
  const Pomdp drawn = test::random_model(options, 5);
  const Pomdp model = test::make_model(
      Timing::after, 3, 2, 3,
      {drawn.transition().values().begin(), drawn.transition().values().end()},
      test::identity_sensors(3, 2), Reward::by_action_state({1, 2, 3, 3, 1, 0}), {1, 0, 0});
  const AskedPolicy policy = parse_policy_text("threshold:1+2>0.5=1,else=0", model);
  const StartedPolicy ready = started(policy);
  EXPECT_EQ(ready.controller.num_nodes(), 3);
  EXPECT_EQ(ready.tolerance, 0.0);
  Matrix chain(3, 3);
  chain.row(0) = model.transition().matrix(Action{0}).row(0);
  chain.row(1) = model.transition().matrix(Action{1}).row(1);
  chain.row(2) = model.transition().matrix(Action{1}).row(2);
  const Vector law = stationary_distribution(chain);
  EXPECT_NEAR(evaluate_controller(model, ready.controller).gain, law.dot(Vector{{1, 1, 0}}), 1e-10);
}

TEST(Controller, APlanThatFiltersWithAWrongModelIsWhatSimulationSays) {
  const Pomdp truth = random_pomdp(Timing::before, 3);
  PlanOptions options;
  options.simulation.steps = 6400;
  const Plan plan =
      make_plan(truth.with_transition(random_pomdp(Timing::before, 4).transition()), options);
  const StartedPolicy ready = started(asked_policy(plan, "plan", truth));
  SimulationOptions simulation;
  simulation.steps = 100'000;
  simulation.level = 1.0 - 1e-6;
  const GainInterval simulated = evaluate_by_simulation(truth, plan, plan.model, simulation);
  EXPECT_NEAR(evaluate_controller(truth, ready.controller).gain, simulated.mean,
              simulated.half_width + 2e-3);
}

TEST(Controller, BadOnesAreRefused) {
  const Pomdp model = random_pomdp(Timing::before, 1);
  Controller controller = uniform_controller(model);
  controller.start = 1;
  EXPECT_THROW(static_cast<void>(evaluate_controller(model, controller)), InvalidArgument);
  controller = uniform_controller(model);
  controller.probabilities[0] = 0.7;
  EXPECT_THROW(static_cast<void>(evaluate_controller(model, controller)), InvalidArgument);
  controller = uniform_controller(model);
  controller.next[2] = Controller::kNone;
  EXPECT_THROW(static_cast<void>(evaluate_controller(model, controller)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(schedule_controller({}, model)), InvalidArgument);
}

TEST(PolicyText, WhatIsWrongIsNamed) {
  const Pomdp model = random_pomdp(Timing::before, 1);
  const std::string state = model.states()[0];
  const std::string action = model.actions()[0];
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {"constant:fly", "there is no action 'fly'"},
           {"constant:" + action + "," + action, "one action"},
           {"schedule:", "there is no action ''"},
           {"threshold:" + state + ">0.5=" + action, "else=ACTION"},
           {"threshold:else=" + action, "no condition"},
           {"threshold:" + state + ">2=" + action + ",else=" + action, "between 0 and 1"},
           {"threshold:" + state + "=" + action + ",else=" + action, "not a condition"},
           {"threshold:moon>0.5=" + action + ",else=" + action, "no state 'moon'"},
           {"sometimes:" + action, "no policy of kind sometimes"},
           {"sometimes", "expected uniform"}}) {
    try {
      static_cast<void>(parse_policy_text(text, model));
      FAIL() << text;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(says)) << text;
    }
  }
}

void expect_same(const Forecast& a, const Forecast& b) {
  ASSERT_EQ(a.states.size(), b.states.size());
  ASSERT_EQ(a.survival.size(), b.survival.size());
  for (std::size_t i = 0; i < a.states.size(); ++i) EXPECT_NEAR(a.states[i], b.states[i], 1e-10);
  for (std::size_t i = 0; i < a.survival.size(); ++i) {
    EXPECT_NEAR(a.survival[i], b.survival[i], 1e-10);
  }
  EXPECT_NEAR(a.ever, b.ever, 1e-8);
  if (std::isinf(b.mean_steps)) {
    EXPECT_EQ(a.mean_steps, b.mean_steps);
  } else {
    EXPECT_NEAR(a.mean_steps, b.mean_steps, 1e-8 * (1.0 + b.mean_steps));
  }
}

TEST(ControllerForecaster, ASchedulesForecastIsTheForecasters) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const Pomdp model = random_pomdp(timing, seed, seed % 2 == 0 ? 0.5 : 0.0);
      ForecastQuestion question;
      question.steps = 9;
      question.schedule = {Action{0}, Action{1}, Action{1}};
      if (seed % 5 != 0) question.reach = {State{2}};
      const Controller controller = schedule_controller(question.schedule, model);
      const ControllerForecaster forecaster(model, controller, question, std::vector<int>{0});
      expect_same(forecaster(model.start(), 0),
                  Forecaster(model.transition(), question)(model.start()));
    }
  }
}

// P(not reached, state) after each step, by all observations that may come.
void enumerate(const Pomdp& model, const BeliefRule& rule, const std::vector<char>& inside,
               const Vector& joint, const std::vector<double>& belief, int left,
               std::vector<double>& survival) {
  const std::size_t at = survival.size() - 1 - static_cast<std::size_t>(left);
  survival[at] += joint.sum();
  if (left == 0) return;
  const Action a{rule.best(belief)};
  for (Observation o{0}; o < model.num_observations(); ++o) {
    Vector next = Vector::Zero(joint.size());
    for (State s{0}; s < model.num_states(); ++s) {
      for (State t{0}; t < model.num_states(); ++t) {
        if (inside[static_cast<std::size_t>(t)] != 0) continue;
        const State emitter = model.timing() == Timing::before ? s : t;
        next[t.value()] +=
            joint[s.value()] * model.transition()(a, s, t) * model.sensors()(a, emitter, o);
      }
    }
    BeliefFilter filter(rule.model);
    filter.reset(Belief(belief));
    filter.update(a, o);
    enumerate(model, rule, inside, next, {filter.belief().begin(), filter.belief().end()}, left - 1,
              survival);
  }
}

TEST(ControllerForecaster, ARuleOnBeliefsAgainstAllObservations) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Pomdp truth = random_pomdp(timing, seed);
      const Pomdp own = truth.with_transition(random_pomdp(timing, seed + 100).transition());
      const std::string text = fmt::format("threshold:{}>0.4={},else={}", own.states()[1],
                                           own.actions()[1], own.actions()[0]);
      const BeliefRule rule = std::get<BeliefRule>(parse_policy_text(text, own).acts);
      ForecastQuestion question;
      question.steps = 4;
      question.reach = {State{2}};
      const std::vector<double> now = {0.6, 0.4, 0.0};
      // Beliefs that follow are as many as there are histories: none may share a node.
      const std::vector<std::vector<double>> roots = {{0.2, 0.5, 0.3}};
      const BeliefNodes nodes = nodes_of(rule, roots, 600);
      const ControllerForecaster forecaster(truth, nodes.controller, question, nodes.roots);
      std::vector<double> survival(5, 0.0);
      enumerate(truth, rule, {0, 0, 1}, Vector{{0.6, 0.4, 0.0}}, roots[0], 4, survival);
      const Forecast forecast = forecaster(now, nodes.roots[0]);
      for (std::size_t k = 0; k < survival.size(); ++k) {
        EXPECT_NEAR(forecast.survival[k], survival[k], nodes.tolerance > 1e-4 ? 0.02 : 1e-3) << k;
      }
    }
  }
}

}  // namespace
}  // namespace oas
