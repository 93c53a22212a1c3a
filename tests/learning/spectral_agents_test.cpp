// What SEEU and SM-UCRL promise beyond the contract of all agents.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/estimation/transition_error.hpp"
#include "oas/learning/agents.hpp"
#include "oas/learning/seeu.hpp"
#include "oas/learning/sm_ucrl.hpp"
#include "oas/planning/oracles.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/environment.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;

// Three states that move on their own way under each action, sensors that tell them well apart:
// every T_a is invertible, which SEEU needs.
Pomdp easy_model(Timing timing) {
  PomdpParts parts;
  parts.timing = timing;
  parts.states = Labels(3, "state");
  parts.actions = Labels(2, "action");
  parts.observations = Labels(3, "observation");
  parts.transition = TransitionModel(3, 2,
                                     {0.8, 0.15, 0.05, 0.1, 0.8, 0.1, 0.05, 0.15, 0.8, 0.1, 0.8,
                                      0.1, 0.1, 0.1, 0.8, 0.8, 0.1, 0.1});
  parts.sensors = ObservationModel(3, 2, 3,
                                   {0.85, 0.1, 0.05, 0.1, 0.8, 0.1, 0.05, 0.1, 0.85, 0.8, 0.1, 0.1,
                                    0.05, 0.9, 0.05, 0.1, 0.1, 0.8});
  parts.reward = Reward::by_observation({0.0, 0.2, 1.0});
  return Pomdp(std::move(parts));
}

struct Played {
  std::vector<int> actions;
  double reward = 0.0;
};

template <class T>
Played play(T& agent, const Pomdp& model, int steps, std::uint64_t seed, bool reveal = false) {
  Environment environment(model, Rng({seed, 0, Role::environment}));
  Rng rng({seed, 0, Role::agent});
  Played run;
  for (int t = 0; t < steps; ++t) {
    const Choice choice = agent.act(rng);
    const Environment::Outcome outcome = environment.step(choice.action);
    if constexpr (SeesHiddenState<T>) {
      if (reveal) agent.reveal(outcome.state);
    }
    agent.observe(outcome.observation);
    run.actions.push_back(choice.action);
    run.reward += outcome.reward;
  }
  return run;
}

// Phase k: τ1 steps of action 0, τ1 of action 1, …, then ⌊τ2 √k⌋ of the planner's policy.
TEST(Seeu, FollowsItsSchedule) {
  const Pomdp model = easy_model(Timing::before);
  SeeuOptions options;
  options.tau1 = 50;
  options.tau2 = 70;
  Seeu agent(model, options);
  const Played run = play(agent, model, 2000, 1);
  const auto episodes = agent.episodes();
  std::size_t t = 0;
  std::size_t half = 0;
  for (int k = 1; t + 100 < run.actions.size(); ++k) {
    ASSERT_LT(half, episodes.size());
    EXPECT_EQ(episodes[half].start, static_cast<std::int64_t>(t));
    EXPECT_EQ(episodes[half].length, 100);
    EXPECT_EQ(episodes[half++].status, "exploring");
    for (int action = 0; action < 2; ++action) {
      for (int i = 0; i < 50; ++i, ++t) ASSERT_EQ(run.actions[t], action) << t;
    }
    ASSERT_LT(half, episodes.size());
    EXPECT_EQ(episodes[half].start, static_cast<std::int64_t>(t));
    EXPECT_EQ(episodes[half].length, static_cast<std::int64_t>(std::floor(70 * std::sqrt(k))));
    // Disjoint triples of the explorations so far: ⌊50/3⌋ for each action and phase.
    EXPECT_EQ(episodes[half].pairs, 2 * 16 * k);
    t += static_cast<std::size_t>(episodes[half++].length);
  }
  EXPECT_GT(half, 10u);
}

class SeeuLearns : public testing::TestWithParam<Timing> {};

// Its estimate gets better from phase to phase, with every estimator and view, and the paper's help
// helps: this is the order that docs/results/agents.md reports.
TEST_P(SeeuLearns, TheDynamics) {
  const Pomdp model = easy_model(GetParam());
  const auto errors = [&](SeeuEstimator estimator, ConstantViews views) {
    SeeuOptions options;
    options.tau1 = 15'000;
    options.tau2 = 10;
    options.estimator = estimator;
    options.views = views;
    Seeu agent(model, options);
    EXPECT_EQ(agent.needs_hidden_state(),
              estimator == SeeuEstimator::spectral && views == ConstantViews::emission_columns);
    static_cast<void>(play(agent, model, 300'200, 2, agent.needs_hidden_state()));
    std::vector<double> list;
    for (const Episode& episode : agent.episodes()) {
      EXPECT_EQ(episode.failure, std::nullopt);
      if (!episode.transition) continue;
      list.push_back(transition_error(model.transition(), *episode.transition).frobenius);
    }
    return list;
  };
  const auto plain = errors(SeeuEstimator::spectral, ConstantViews::one_hot);
  const auto helped = errors(SeeuEstimator::spectral, ConstantViews::emission_columns);
  const auto pairs = errors(SeeuEstimator::oas, ConstantViews::one_hot);
  ASSERT_EQ(plain.size(), 10u);
  EXPECT_LT(plain.back(), 0.1);
  EXPECT_LT(plain.back(), plain.front());
  EXPECT_LT(helped.back(), 0.05);
  EXPECT_LT(pairs.back(), 0.05);
}

INSTANTIATE_TEST_SUITE_P(Timings, SeeuLearns, testing::Values(Timing::before, Timing::after));

TEST(Seeu, RadiusShrinksWithTheSamplesAndGrowsTheGain) {
  const Pomdp model = easy_model(Timing::before);
  SeeuOptions options;
  options.tau1 = 3000;
  options.tau2 = 10;
  options.radius_scale = 0.5;
  options.resolution = 10;
  Seeu agent(model, options);
  static_cast<void>(play(agent, model, 12'030, 3));
  const auto episodes = agent.episodes();
  ASSERT_GE(episodes.size(), 4u);
  const double k1 = 0.5 * std::sqrt(std::log(1.0 / 0.1) / 1000.0);
  const double k2 = 0.5 * std::sqrt(std::log(8.0 / 0.1) / 2000.0);
  EXPECT_NEAR(episodes[1].radius, k1, 1e-12);
  EXPECT_NEAR(episodes[3].radius, k2, 1e-12);
  EXPECT_GT(episodes[1].optimistic_gain, 0.0);
  EXPECT_GE(episodes[1].optimistic_gain, episodes[1].planned_gain - 1e-6);
}

// Repairing makes every machine whole: T of that action has rank 1, the decomposition must fail and
// say so, and the rows are uniform, not invented.
TEST(Seeu, FailuresAreInTheRecord) {
  const Pomdp model = machine_maintenance();
  SeeuOptions options;
  options.tau1 = 3000;
  options.tau2 = 10;
  options.resolution = 4;
  Seeu agent(model, options);
  static_cast<void>(play(agent, model, 9010, 4));
  const Episode& exploited = agent.episodes()[1];
  ASSERT_TRUE(exploited.failure.has_value());
  EXPECT_EQ(exploited.failure->kind, Episode::Failure::Kind::undetermined_row);
  EXPECT_THAT(exploited.failure->message, HasSubstr("triples"));
  EXPECT_GE(exploited.flagged_rows, 4);
  const int repair = *model.actions().find("repair");
  for (int s = 0; s < 4; ++s) {
    EXPECT_DOUBLE_EQ((*exploited.transition)(Action{repair}, State{0}, State{s}), 0.25);
  }
}

TEST(Seeu, OptionsAreChecked) {
  const Pomdp model = easy_model(Timing::before);
  const auto refused = [&](const std::vector<Setting>& settings) {
    EXPECT_THROW(static_cast<void>(make_agent("seeu", model, settings)), InvalidArgument)
        << settings[0].name;
  };
  refused({{"tau1", "2"}});
  refused({{"tau2", "0"}});
  refused({{"delta", "1"}});
  refused({{"radius_scale", "-1"}});
  refused({{"views", "states"}});
  EXPECT_TRUE(make_agent("seeu", model, std::vector<Setting>{{"views", "emission-columns"}})
                  .needs_hidden_state());
}

class SmUcrlLearns : public testing::TestWithParam<std::tuple<Timing, SpectralPooling>> {};

// Most of the way from uniform play to the best memoryless policy, learning included.
TEST_P(SmUcrlLearns, ToBeatUniformPlay) {
  const auto [timing, pooling] = GetParam();
  const Pomdp model = easy_model(timing);
  SmUcrlOptions options;
  options.pooling = pooling;
  constexpr int kSteps = 150'000;
  constexpr int kRuns = 4;
  double rate = 0.0;
  for (int run = 0; run < kRuns; ++run) {
    SmUcrl agent(model, options);
    rate += play(agent, model, kSteps, static_cast<std::uint64_t>(run)).reward / kSteps / kRuns;
    const Episode& last = agent.episodes().back();
    EXPECT_EQ(last.flagged_rows, 0);
    EXPECT_LT(transition_error(model.transition(), *last.transition).frobenius, 0.4);
  }
  MemorylessOptions memoryless;
  memoryless.iota = 0.05;
  const double best = best_memoryless(model, memoryless).gain;
  const double uniform = uniform_gain(model);
  ASSERT_GT(best, uniform + 0.1);
  EXPECT_GT(rate, uniform + 0.8 * (best - uniform));
}

INSTANTIATE_TEST_SUITE_P(All, SmUcrlLearns,
                         testing::Combine(testing::Values(Timing::before, Timing::after),
                                          testing::Values(SpectralPooling::blocks,
                                                          SpectralPooling::sensors)));

// An episode ends when an action was played twice as often as in any single one before.
TEST(SmUcrl, EpisodesDouble) {
  const Pomdp model = easy_model(Timing::after);
  SmUcrlOptions options;
  options.first_episode = 1000;
  SmUcrl agent(model, options);
  const Played run = play(agent, model, 60'000, 6);
  const auto episodes = agent.episodes();
  ASSERT_GE(episodes.size(), 4u);
  EXPECT_EQ(episodes[1].start, 1000);
  std::vector<std::int64_t> most(2, 0);
  for (std::size_t k = 0; k + 1 < episodes.size(); ++k) {
    std::vector<std::int64_t> played(2, 0);
    for (std::int64_t t = episodes[k].start; t < episodes[k + 1].start; ++t) {
      ++played[static_cast<std::size_t>(run.actions[static_cast<std::size_t>(t)])];
    }
    if (k > 0) {
      const bool first = played[0] == 2 * most[0];
      const bool second = played[1] == 2 * most[1];
      EXPECT_TRUE(first || second) << "episode " << k;
    }
    for (std::size_t a = 0; a < 2; ++a) most[a] = std::max(most[a], played[a]);
  }
}

TEST(SmUcrl, OptimismNeverLowersThePlannedGain) {
  const Pomdp model = easy_model(Timing::before);
  SmUcrlOptions options;
  options.radius_scale = 0.3;
  SmUcrl agent(model, options);
  static_cast<void>(play(agent, model, 10'000, 7));
  for (const Episode& episode : agent.episodes()) {
    EXPECT_GE(episode.optimistic_gain, episode.planned_gain);
    if (episode.status != "uniform") {
      EXPECT_GT(episode.radius, 0.0);
    }
  }
  EXPECT_GT(agent.episodes().back().optimistic_gain, agent.episodes().back().planned_gain);
}

TEST(SmUcrl, OptionsAreChecked) {
  const Pomdp model = easy_model(Timing::before);
  for (const Setting& wrong : std::vector<Setting>{{"iota", "0"},
                                                   {"iota", "0.6"},
                                                   {"first_episode", "2"},
                                                   {"delta", "0"},
                                                   {"radius_scale", "-1"},
                                                   {"max_policies", "-1"},
                                                   {"pooling", "none"}}) {
    EXPECT_THROW(static_cast<void>(make_agent("sm-ucrl", model, std::vector<Setting>{wrong})),
                 InvalidArgument)
        << wrong.name;
  }
}

}  // namespace
}  // namespace oas
