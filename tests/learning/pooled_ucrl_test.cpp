#include "oas/learning/pooled_ucrl.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/learning/agents.hpp"
#include "oas/simulation/run.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

Pomdp pooled_model(Timing timing) {
  test::RandomModelOptions options;
  options.timing = timing;
  options.num_actions = 3;
  options.min_alpha = 0.3;
  options.concentration = 1.0;
  return test::random_model(options, 21);
}

PooledUcrlOptions pooled_options(PooledEstimator estimator, PooledExploration exploration) {
  PooledUcrlOptions options;
  options.estimator = estimator;
  options.exploration = exploration;
  options.acting.resolution = 10;
  return options;
}

class PooledUcrlTest : public testing::TestWithParam<Timing> {};

// Every pair of consecutive rows of all episodes and policies, weighted in `after` timing.
TEST_P(PooledUcrlTest, MomentsAreThoseOfAllRowsSoFar) {
  const Pomdp model = pooled_model(GetParam());
  PooledUcrl agent(model, pooled_options(PooledEstimator::moments, PooledExploration::sampling));
  const Trajectory rows = run(model, agent, 1500, 3);
  const LeftInverses inverses(model);
  FoldOptions fold;
  fold.pairing = Pairing::overlapping;
  fold.inverse_propensity = GetParam() == Timing::after;
  ASSERT_GE(agent.episodes().size(), 10u);
  EXPECT_EQ(agent.episodes()[1].start, 12 * 3 * 3);
  for (std::size_t k = 1; k < agent.episodes().size(); ++k) {
    const Episode& episode = agent.episodes()[k];
    const auto length = static_cast<std::size_t>(episode.start);
    PairFolder folder(inverses, model.timing(), fold);
    folder.add(std::span(rows.actions).first(length), std::span(rows.observations).first(length),
               std::span(rows.propensities).first(length));
    const TransitionEstimate expected = estimate_oas(folder.finish(), inverses, model);
    EXPECT_EQ(episode.pairs, episode.start - 1);
    EXPECT_EQ(episode.length, std::ceil(0.25 * static_cast<double>(episode.start)));
    const auto values = episode.transition->values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], expected.transition.values()[i], 1e-9);
    }
  }
}

// No model is likelier than the estimate by more than the tolerance, in particular not the truth.
TEST_P(PooledUcrlTest, LikelihoodIsThatOfAllRowsSoFar) {
  const Pomdp model = pooled_model(GetParam());
  PooledUcrlOptions options =
      pooled_options(PooledEstimator::likelihood, PooledExploration::sampling);
  options.prior = 0.0;
  PooledUcrl agent(model, options);
  const Trajectory rows = run(model, agent, 3000, 4);
  for (std::size_t k = 1; k < agent.episodes().size(); ++k) {
    const Episode& episode = agent.episodes()[k];
    const auto length = static_cast<std::size_t>(episode.start);
    TransitionLikelihood likelihood(model);
    likelihood.append(std::span(rows.actions).first(length),
                      std::span(rows.observations).first(length));
    EXPECT_EQ(episode.failure, std::nullopt);
    EXPECT_GE(likelihood.pass(*episode.transition).log_likelihood,
              likelihood.pass(model.transition()).log_likelihood - 2.0 * options.tolerance)
        << "episode " << k;
  }
}

// An agent that trusts its estimate would give actions up; c·t^(1/3) plays are kept up at all
// times.
TEST_P(PooledUcrlTest, WithoutFloorEveryActionIsPlayedNowAndThen) {
  const Pomdp model = pooled_model(GetParam());
  PooledUcrlOptions options = pooled_options(PooledEstimator::likelihood, PooledExploration::none);
  options.first_episode = 9;
  options.least_plays = 3.0;
  PooledUcrl agent(model, options);
  const Trajectory rows = run(model, agent, 8000, 5);
  std::array<int, 3> plays{};
  for (std::size_t t = 0; t < rows.size(); ++t) {
    if (t > 100) {
      for (const int count : plays) ASSERT_GE(count, 3.0 * std::cbrt(t) - 2.0) << "step " << t;
    }
    ++plays[static_cast<std::size_t>(rows.actions[t])];
  }
}

// By the rows alone: an episode ends with the step that doubles the plays of its action.
TEST_P(PooledUcrlTest, EpisodesByPlaysEndWhereSomeActionHasDoubled) {
  const Pomdp model = pooled_model(GetParam());
  AnyAgent agent = find_agent("oas-ucrl-actionwise").make(model, {});
  const Trajectory rows = run(model, agent, 20'000, 8);
  const std::span<const Episode> episodes = agent.episodes();
  ASSERT_GE(episodes.size(), 6u);
  EXPECT_EQ(episodes[1].start, 12 * 3 * 3);
  std::array<std::int64_t, 3> plays{};
  std::array<std::int64_t, 3> at_start{};
  std::size_t next = 1;
  bool doubled = false;
  for (std::int64_t t = 0; t < static_cast<std::int64_t>(rows.size()); ++t) {
    const bool starts = next < episodes.size() && episodes[next].start == t;
    if (t == 12 * 3 * 3 || doubled) {
      EXPECT_TRUE(starts) << "step " << t;
    } else {
      EXPECT_FALSE(starts) << "step " << t;
    }
    if (starts) {
      ++next;
      at_start = plays;
    }
    const auto a = static_cast<std::size_t>(rows.actions[static_cast<std::size_t>(t)]);
    ++plays[a];
    doubled = next > 1 && plays[a] - at_start[a] >= std::max<std::int64_t>(1, at_start[a]);
  }
  EXPECT_EQ(next, episodes.size());
}

// Sampling is wide where little was seen, and vanishes when the counts are made to look huge.
TEST_P(PooledUcrlTest, SamplesConcentrateOnTheEstimate) {
  const Pomdp model = pooled_model(GetParam());
  const auto actions = [&](PooledExploration exploration, double sharpness) {
    PooledUcrlOptions options = pooled_options(PooledEstimator::likelihood, exploration);
    options.sharpness = sharpness;
    options.prior = 0.0;  // the maximum is then where expected counts, normalised, are the estimate
    options.tolerance = 1e-9;
    PooledUcrl agent(model, options);
    return run(model, agent, 1000, 6).actions;
  };
  const auto trusting = actions(PooledExploration::none, 1.0);
  EXPECT_EQ(actions(PooledExploration::sampling, 1e14), trusting);
  EXPECT_NE(actions(PooledExploration::sampling, 0.05), trusting);
}

TEST_P(PooledUcrlTest, RadiiShrinkWithVisits) {
  const Pomdp model = pooled_model(GetParam());
  PooledUcrl agent(model, pooled_options(PooledEstimator::moments, PooledExploration::optimism));
  static_cast<void>(run(model, agent, 4000, 7));
  const std::span<const Episode> episodes = agent.episodes();
  EXPECT_GT(episodes[1].radius, 0.0);
  EXPECT_LT(episodes.back().radius, episodes[1].radius);
  for (const Episode& episode : episodes.subspan(1)) {
    EXPECT_GE(episode.optimistic_gain, episode.planned_gain - 2e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Timings, PooledUcrlTest, testing::Values(Timing::before, Timing::after),
                         [](const auto& each) { return std::string(to_string(each.param)); });

TEST(PooledUcrl, BadOptionsAreNamed) {
  const auto message = [](Timing timing, auto change) {
    PooledUcrlOptions options;
    change(options);
    try {
      const PooledUcrl agent(pooled_model(timing), options);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto before = Timing::before;
  EXPECT_EQ(message(before, [](auto& o) { o.acting.iota = 0.0; }), "");
  EXPECT_NE(message(Timing::after, [](auto& o) { o.acting.iota = 0.0; }).find("oas-ucrl-ml"),
            std::string::npos);
  EXPECT_NE(message(before, [](auto& o) { o.first_episode = 1; }).find("first_episode is 1"),
            std::string::npos);
  EXPECT_NE(message(before, [](auto& o) { o.growth = 1.0; }).find("growth is 1"),
            std::string::npos);
  EXPECT_NE(message(before, [](auto& o) { o.sharpness = 0.0; }).find("sharpness is 0"),
            std::string::npos);
  EXPECT_NE(message(before,
                    [](auto& o) {
                      o.estimator = PooledEstimator::likelihood;
                      o.prior = -1.0;
                    })
                .find("prior is -1"),
            std::string::npos);
}

}  // namespace
}  // namespace oas
