#include "oas/planning/uncertain/policy_answer.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "oas/planning/evaluation/rule_simulation.hpp"
#include "planning/planning_support.hpp"
#include "support/random_models.hpp"

/// What is said about policies on beliefs holds for the policy, not for a coarse copy of it.
namespace oas {
namespace {

// Four phases that hardly ever do anything else, and a sensor that tells little: beliefs are many.
Pomdp phases(double slip, double right) {
  std::vector<double> transition;
  for (const int step : {1, 0}) {  // go, hold
    for (int s = 0; s < 4; ++s) {
      for (int next = 0; next < 4; ++next) {
        transition.push_back(next == (s + step) % 4 ? 1.0 - 3.0 * slip : slip);
      }
    }
  }
  std::vector<double> sensors;
  for (int a = 0; a < 2; ++a) {
    for (int s = 0; s < 4; ++s) {
      for (int o = 0; o < 4; ++o) sensors.push_back(o == s ? right : (1.0 - right) / 3.0);
    }
  }
  return test::make_model(Timing::before, 4, 2, 4, std::move(transition), std::move(sensors),
                          Reward::by_action_state({0, 0, 0, 4, 0.5, 0, 0, 0}), {1, 0, 0, 0});
}

TEST(PolicyAnswer, WhereFewBeliefsAreNotEnoughThePolicyIsSimulated) {
  SimulationOptions simulation;
  simulation.steps = 40'000;
  int simulated = 0;
  for (const double slip : {0.0005, 0.005}) {
    for (const char* text : {"threshold:0>0.9=1,else=0", "threshold:0>0.8=1,else=0"}) {
      const Pomdp model = phases(slip, 0.5);
      const AskedPolicy policy = parse_policy_text(text, model);
      const PolicyAnswer answer = answer_about(policy, model, {{model}}, {{}, simulation});
      const RuleValue itself = simulate_rule(model, std::get<BeliefRule>(policy.acts), simulation);
      EXPECT_NEAR(answer.value.gain, itself.gain.mean, itself.gain.half_width + 4e-3) << text;
      EXPECT_NEAR(answer.drawn.gains.at(0), itself.gain.mean, 3.0 * itself.gain.half_width + 4e-3);
      simulated += answer.simulated.has_value() ? 1 : 0;
    }
  }
  EXPECT_GE(simulated, 1);  // else this test looks at nothing
}

// The phases, and a failure for ever once in ten million steps, which no simulation lives to see.
Pomdp phases_that_fail(double slip, double right) {
  const Pomdp phases_only = phases(slip, right);
  constexpr double kFails = 1e-7;
  std::vector<double> transition;
  std::vector<double> sensors;
  for (Action a{0}; a < 2; ++a) {
    for (State s{0}; s < 5; ++s) {
      for (State next{0}; next < 5; ++next) {
        const bool to_failed = next == 4;
        const double stays = s == 4 ? 0.0 : (1.0 - kFails);
        transition.push_back(to_failed
                                 ? 1.0 - stays
                                 : stays * (s == 4 ? 0.0 : phases_only.transition()(a, s, next)));
      }
      for (Observation o{0}; o < 4; ++o) {
        sensors.push_back(s == 4 ? 0.25 : phases_only.sensors()(a, s, o));
      }
    }
  }
  return test::make_model(Timing::before, 5, 2, 4, std::move(transition), std::move(sensors),
                          Reward::by_action_state({0, 0, 0, 4, -3, 0.5, 0, 0, 0, -3}),
                          {1, 0, 0, 0, 0});
}

TEST(PolicyAnswer, AFailureForEverThatNoSimulationSeesIsTheLongRun) {
  SimulationOptions simulation;
  simulation.steps = 40'000;
  int rounded = 0;
  for (const char* text : {"threshold:0>0.9=1,else=0", "threshold:0>0.8=1,else=0"}) {
    const Pomdp model = phases_that_fail(0.0005, 0.5);
    const PolicyAnswer answer =
        answer_about(parse_policy_text(text, model), model, {{model}}, {{}, simulation});
    EXPECT_FALSE(answer.simulated);
    EXPECT_NEAR(answer.value.gain, -3.0, 1e-6) << text;
    EXPECT_NEAR(answer.drawn.gains.at(0), -3.0, 1e-6) << text;
    rounded += answer.tolerance > 0.0 ? 1 : 0;
  }
  EXPECT_GE(rounded, 1);  // else this test looks at nothing
}

// Where runs end for ever in one of two ways, a few long runs tell little of how often in each.
TEST(PolicyAnswer, RunsThatEndInSeveralWaysAreSimulatedOften) {
  const Pomdp model = test::make_model(
      Timing::before, 4, 2, 2, {0.9, 0.1, 0, 0, 0,   0.7, 0.2,  0.1,  0, 0, 1, 0, 0, 0, 0, 1,
                                1,   0,   0, 0, 0.9, 0,   0.05, 0.05, 0, 0, 1, 0, 0, 0, 0, 1},
      {0.9, 0.1, 0.3, 0.7, 0.5, 0.5, 0.4, 0.6, 0.9, 0.1, 0.3, 0.7, 0.5, 0.5, 0.4, 0.6},
      Reward::by_action_state({1, 0.8, 0, 0.6, 0.5, 0.5, 0, 0.6}), {1, 0, 0, 0});
  for (const char* text : {"threshold:1>0.099=1,else=0", "threshold:1>0.101=1,else=0"}) {
    const AskedPolicy policy = parse_policy_text(text, model);
    SimulationOptions exact;
    exact.replications = 20'000;
    exact.batches_per_replication = 2;
    exact.steps = 40'000;
    exact.seed = 9;
    const RuleValue truth = simulate_rule(model, std::get<BeliefRule>(policy.acts), exact);
    const PolicyAnswer answer = answer_about(policy, model);
    const double slack = answer.simulated ? answer.simulated->half_width : 0.03;
    EXPECT_NEAR(answer.value.gain, truth.gain.mean, slack + truth.gain.half_width) << text;
    EXPECT_LT(slack, 0.06);
  }
}

// The same about discounted sums, whose simulation also allows for what comes after its steps.
TEST(PolicyAnswer, DiscountedSumsAreThoseOfThePolicyItself) {
  SimulationOptions simulation;
  simulation.steps = 40'000;
  for (const double slip : {0.0005, 0.005}) {
    for (const double discount : {0.9, 0.999, 0.99999}) {
      const Pomdp model = phases(slip, 0.5);
      const AskedPolicy policy = parse_policy_text("threshold:0>0.9=1,else=0", model);
      const auto& rule = std::get<BeliefRule>(policy.acts);
      const PolicyAnswer answer = answer_about(policy, model, {{model}}, {discount, simulation});
      const RuleValue itself = simulate_discounted(model, rule, discount, simulation);
      const double slack = itself.gain.half_width + 4e-3 / (1.0 - discount);
      EXPECT_NEAR(answer.value.gain, itself.gain.mean, slack) << discount;
      EXPECT_NEAR(answer.drawn.gains.at(0), itself.gain.mean, 3.0 * slack) << discount;
      EXPECT_NEAR(std::accumulate(itself.frequencies.begin(), itself.frequencies.end(), 0.0), 1.0,
                  1e-9);
      EXPECT_THROW(static_cast<void>(simulate_discounted(model, rule, 1.0)), InvalidArgument);
    }
  }
}

// A constant policy, whose sum is known, simulated for fewer steps than matter.
TEST(PolicyAnswer, AnInfiniteSumThatIsCutOffIsWithinItsLimits) {
  const Pomdp model = phases(0.05, 0.7);
  const AskedPolicy rule = parse_policy_text("threshold:0>0=0,else=0", model);
  const AskedPolicy constant = parse_policy_text("constant:0", model);
  for (const double discount : {0.9, 0.999, 0.9999}) {
    SimulationOptions simulation;
    simulation.steps = 20'000;
    const double truth = evaluate_discounted(model, started(constant).controller, discount).gain;
    const GainInterval found =
        simulate_discounted(model, std::get<BeliefRule>(rule.acts), discount, simulation).gain;
    EXPECT_NEAR(found.mean, truth, 2.0 * found.half_width) << discount;
    EXPECT_LE(found.lower_limit, truth + found.half_width) << discount;
  }
}

TEST(PolicyAnswer, AControllerIsExact) {
  const Pomdp model = phases(0.05, 0.7);
  const AskedPolicy constant = parse_policy_text("constant:0", model);
  const PolicyAnswer answer = answer_about(constant, model, {{model, model}});
  EXPECT_FALSE(answer.simulated);
  EXPECT_EQ(answer.tolerance, 0.0);
  EXPECT_NEAR(answer.value.gain, 1.0, 1e-10);
  EXPECT_EQ(answer.drawn.gains, (std::vector<double>{answer.value.gain, answer.value.gain}));
}

// With perfect sensors in `after` a rule on beliefs is one on states.
TEST(PolicyAnswer, SimulationAgreesWithTheExactAnswer) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Pomdp drawn = test::random_model({}, seed);
    const Pomdp model = test::make_model(
        Timing::after, 3, 2, 3,
        {drawn.transition().values().begin(), drawn.transition().values().end()},
        test::identity_sensors(3, 2), Reward::by_action_state({1, 2, 3, 3, 1, 0}), {1, 0, 0});
    const AskedPolicy policy = parse_policy_text("threshold:1+2>0.5=1,else=0", model);
    const ControllerValue exact = evaluate_controller(model, started(policy).controller);
    SimulationOptions simulation;
    simulation.level = 1.0 - 1e-7;
    const RuleValue found = simulate_rule(model, std::get<BeliefRule>(policy.acts), simulation);
    EXPECT_NEAR(found.gain.mean, exact.gain, found.gain.half_width);
    double sum = 0.0;
    for (std::size_t s = 0; s < 3; ++s) {
      EXPECT_NEAR(found.frequencies[s], exact.frequencies[s], 0.03);
      sum += found.frequencies[s];
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
    for (const int threads : {1, 2, 3}) {
      EXPECT_EQ(
          simulate_rule(model, std::get<BeliefRule>(policy.acts), simulation, {threads}).gain.mean,
          found.gain.mean);
    }
  }
}

}  // namespace
}  // namespace oas
