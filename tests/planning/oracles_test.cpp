#include "oas/planning/oracles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oas/core/contracts.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/simulation/run.hpp"
#include "planning/planning_support.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

Pomdp model_of(Timing timing, std::uint64_t seed, int states = 3, int actions = 2,
               int observations = 3) {
  test::RandomModelOptions options;
  options.num_states = states;
  options.num_actions = actions;
  options.num_observations = observations;
  options.timing = timing;
  return test::random_model(options, seed);
}

PlanOptions quick(double iota = 0.0) {
  PlanOptions options;
  options.iota = iota;
  options.resolution = 20;
  options.simulation.steps = 20'000;
  return options;
}

// A policy that reacts to the last action and observation, played.
struct TablePolicy {
  const std::vector<int>* greedy;
  int num_actions;
  int num_observations;
  double iota;
  int context = -1;
  Action last{};

  Choice act(Rng& rng) {
    const int action = context < 0 ? 0 : (*greedy)[static_cast<std::size_t>(context)];
    const Choice choice = explore(action, iota, num_actions, rng);
    last = choice.action;
    return choice;
  }
  void observe(Observation o) { context = last * num_observations + o; }
};

TEST(Oracles, MemorylessGainIsWhatSimulationEarns) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = model_of(timing, 3);
    std::vector<int> greedy = {0, 1, 1, 1, 0, 1};
    const double expected = memoryless_gain(model, greedy, 0.1);
    TablePolicy policy{&greedy, 2, 3, 0.1};
    const Trajectory log = run(model, policy, 400'000, 5);
    std::vector<double> batches(40, 0.0);
    for (std::size_t t = 0; t < log.size(); ++t) batches[t / 10'000] += log.rewards[t] / 10'000;
    const GainInterval interval = batch_means_interval(batches, 40, 1.0 - 1e-6);
    EXPECT_NEAR(expected, interval.mean, interval.half_width);
  }
}

TEST(Oracles, ClimbingFindsWhatEnumerationFinds) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Pomdp model = model_of(seed % 2 == 0 ? Timing::before : Timing::after, seed);
    MemorylessOptions options;
    options.iota = seed % 3 == 0 ? 0.0 : 0.05;
    const MemorylessResult all = best_memoryless(model, options);
    EXPECT_TRUE(all.exhaustive);
    EXPECT_EQ(all.evaluated, 64);
    EXPECT_NEAR(memoryless_gain(model, all.greedy, options.iota), all.gain, 1e-12);
    options.max_policies = 0;
    const MemorylessResult climbed = best_memoryless(model, options);
    EXPECT_FALSE(climbed.exhaustive);
    EXPECT_LE(climbed.gain, all.gain + 1e-12);
    EXPECT_NEAR(climbed.gain, all.gain, 0.02);
  }
}

// More knowledge never hurts: the chain of oracles is ordered on random models of both timings.
TEST(Oracles, AreOrdered) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Pomdp model = model_of(seed % 2 == 0 ? Timing::before : Timing::after, seed);
    const double iota = 0.04;
    MemorylessOptions memoryless;
    memoryless.iota = iota;
    const double floor_upper = make_plan(model, quick(iota)).gain_upper;
    const Plan free = make_plan(model, quick());
    EXPECT_LE(uniform_gain(model), floor_upper + 1e-9);
    EXPECT_LE(best_memoryless(model, memoryless).gain, floor_upper + 1e-9);
    EXPECT_LE(make_plan(model, quick(iota)).gain_lower, free.gain_upper + 1e-9);
    EXPECT_LE(free.gain_lower, fully_observed_gain(model).upper + 1e-9);
    EXPECT_LE(free.gain_lower, fast_informed_bound(model, 0.0) + 1e-9);
    EXPECT_LE(fast_informed_bound(model, 0.0), fully_observed_gain(model).upper + 1e-5);
  }
}

TEST(Oracles, UniformGainIsTheFloorAtOneOverA) {
  const Pomdp model = model_of(Timing::after, 2);
  EXPECT_NEAR(uniform_gain(model), make_plan(model, quick(0.5)).gain_upper, 2e-6);
  // Two classes: the start decides.
  const Pomdp split = test::make_model(Timing::before, 2, 1, 1, {1, 0, 0, 1}, {1, 1},
                                       Reward::by_action_state({1.0, 0.0}), {0.25, 0.75});
  EXPECT_NEAR(uniform_gain(split), 0.25, 1e-12);
}

TEST(Oracles, FullyObservedGainIsTheMdps) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Pomdp model = model_of(Timing::before, seed, 4, 3, 4);
    std::vector<Matrix> next;
    for (int a = 0; a < 3; ++a) next.emplace_back(model.transition().matrix(Action{a}));
    const Matrix rewards = model.expected_reward().transpose();
    EXPECT_NEAR(fully_observed_gain(model, 0.1).gain, test::dense_mdp_gain(rewards, next, 0.1),
                1e-8);
  }
}

TEST(Oracles, AllRowsAreThereAndMyopicIsBelowTheBest) {
  const std::vector<OracleRow> rows = all_oracles(model_of(Timing::before, 5), quick(0.04));
  std::vector<std::string> names;
  for (const OracleRow& row : rows) {
    names.push_back(row.name);
    EXPECT_LE(row.lower, row.upper);
  }
  EXPECT_THAT(names, testing::ElementsAre("uniform", "myopic", "memoryless", "best with floor",
                                          "best without floor", "state seen"));
  EXPECT_LE(rows[1].lower, rows[3].upper);
}

// A `before` model and its exact twin in `after` timing on pairs (previous, current): two state
// spaces, one problem, so the brackets of their gains overlap.
TEST(Twins, BeforeAndItsAfterTwinHaveOverlappingBrackets) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const int n = 2;
    const int actions = 2;
    const int observations = 2;
    const Pomdp model = model_of(Timing::before, seed, n, actions, observations);
    std::vector<double> transition(static_cast<std::size_t>(actions) * n * n * n * n, 0.0);
    std::vector<double> sensors;
    std::vector<double> start(static_cast<std::size_t>(n) * n, 0.0);
    for (int a = 0; a < actions; ++a) {
      for (int p = 0; p < n; ++p) {
        for (int s = 0; s < n; ++s) {
          for (int next = 0; next < n; ++next) {
            transition[static_cast<std::size_t>(((a * n * n) + p * n + s) * n * n + s * n + next)] =
                model.transition()(Action{a}, State{s}, State{next});
          }
          for (int o = 0; o < observations; ++o) {  // (p,s) shows what p emitted
            sensors.push_back(model.sensors()(Action{a}, State{p}, Observation{o}));
          }
        }
      }
    }
    for (int s = 0; s < n; ++s) start[static_cast<std::size_t>(s)] = model.start()[s];
    const Pomdp twin = test::make_model(
        Timing::after, n * n, actions, observations, transition, sensors,
        Reward::by_observation({model.reward().values().begin(), model.reward().values().end()}),
        start);
    PlanOptions options = quick();
    options.resolution = 100;
    const Plan plain = make_plan(model, options);
    options.resolution = 20;
    const Plan other = make_plan(twin, options);
    EXPECT_LE(plain.gain_lower, other.gain_upper + 1e-9) << seed;
    EXPECT_LE(other.gain_lower, plain.gain_upper + 1e-9) << seed;
    EXPECT_LT(other.gain_upper - other.gain_lower, 0.05);
  }
}

}  // namespace
}  // namespace oas
