#include <gmock/gmock.h>

#include <cmath>

#include "oas/belief/likelihood_filter.hpp"
#include "oas/belief/smoother.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "support/path_enumeration.hpp"
#include "support/random_models.hpp"

/// Rows that bring likelihoods against the same rows with finite observations.
namespace oas::test {
namespace {

using testing::HasSubstr;

// The column of Z that a row shows, times `scale`; 1 where nothing is seen.
std::vector<double> column(const Pomdp& model, Action action, Observation observation,
                           double scale = 1.0) {
  std::vector<double> values(static_cast<std::size_t>(model.num_states()), 1.0);
  for (State s{0}; s < model.num_states() && observation != kMissing; ++s) {
    values[static_cast<std::size_t>(s)] = scale * model.sensors()(action, s, observation);
  }
  return values;
}

Pomdp model_for(Timing timing, int states, std::uint64_t seed) {
  RandomModelOptions options;
  options.timing = timing;
  options.num_states = states;
  return random_model(options, seed);
}

void expect_equal(const LikelihoodPass& a, const LikelihoodPass& b, double shift) {
  EXPECT_NEAR(a.log_likelihood, b.log_likelihood + shift, 1e-9 * std::abs(b.log_likelihood));
  ASSERT_EQ(a.score.size(), b.score.size());
  for (std::size_t i = 0; i < a.score.size(); ++i) {
    EXPECT_NEAR(a.score[i], b.score[i], 1e-9 * (1.0 + std::abs(b.score[i])));
    EXPECT_NEAR(a.counts[i], b.counts[i], 1e-9 * (1.0 + std::abs(b.counts[i])));
  }
}

// Several runs, one of many blocks, missing rows, a factor per row; also with fixed and with any
// number of states.
TEST(LikelihoodVectors, ColumnsOfTheSensorsAreFiniteObservations) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const int states : {3, 7}) {
      const Pomdp model = model_for(timing, states, 5);
      TransitionLikelihood finite(model);
      TransitionLikelihood vectors = TransitionLikelihood::with_vectors(model);
      double shift = 0.0;
      std::size_t missing = 0;
      for (const std::size_t length : {std::size_t{1}, std::size_t{40}, std::size_t{15'000}}) {
        const Trajectory rows = play_uniformly(model, length, 0.05, length);
        finite.start_run();
        vectors.start_run();
        for (std::size_t t = 0; t < rows.size(); ++t) {
          const bool seen = rows.observations[t] != kMissing;
          const double scale = seen ? 0.5 + static_cast<double>(t % 7) : 1.0;
          finite.append(rows.actions[t], rows.observations[t]);
          vectors.append(rows.actions[t],
                         column(model, rows.actions[t], rows.observations[t], scale));
          shift += std::log(scale);
          missing += !seen;
        }
      }
      const Pomdp other = model_for(timing, states, 6);
      expect_equal(vectors.pass(other.transition()), finite.pass(other.transition()), shift);
      EXPECT_EQ(vectors.transitions(), finite.transitions());
      EXPECT_EQ(vectors.missing(), missing);
      EXPECT_EQ(vectors.runs(), 3U);
      PassOptions batches;
      batches.batches = 8;
      EXPECT_EQ(vectors.pass(other.transition(), batches, {1}).batch_scores,
                vectors.pass(other.transition(), batches, {4}).batch_scores);
      // A window: continued from the one before, with rows ahead.
      PassOptions window;
      window.first_belief = other.start();
      window.rows_ahead = 300;
      const LikelihoodPass a = vectors.pass(other.transition(), window);
      const LikelihoodPass b = finite.pass(other.transition(), window);
      for (std::size_t i = 0; i < a.score.size(); ++i) EXPECT_NEAR(a.score[i], b.score[i], 1e-6);
      EXPECT_GT(a.log_likelihood - b.log_likelihood, 0.0);
    }
  }
}

// Vectors that are columns of no matrix: a model in which every row has an observation of its own.
TEST(LikelihoodVectors, AreWhatTheSumOverAllPathsSays) {
  constexpr int kRows = 6;
  for (const Timing timing : {Timing::before, Timing::after}) {
    RandomModelOptions options;
    options.timing = timing;
    options.num_observations = kRows + 1;
    const Pomdp base = random_model(options, 17);
    std::vector<Action> actions;
    std::vector<Observation> observations;
    TransitionLikelihood vectors = TransitionLikelihood::with_vectors(base);
    LikelihoodFilter filter(base);
    std::vector<double> likelihoods;
    double density = 1.0;
    for (int t = 0; t < kRows; ++t) {
      actions.emplace_back(t % 2);
      observations.emplace_back(t);
      const std::vector<double> row = column(base, actions.back(), observations.back());
      vectors.append(actions.back(), row);
      likelihoods.insert(likelihoods.end(), row.begin(), row.end());
      density *= filter.update(actions.back(), row);
    }
    const PathPosterior expected = enumerate_paths(base, actions, observations);
    EXPECT_NEAR(vectors.pass(base.transition()).log_likelihood, std::log(expected.likelihood),
                1e-12);
    EXPECT_NEAR(density, expected.likelihood, 1e-15);
    smooth_likelihoods(base, actions, likelihoods,
                       [&](std::size_t t, std::span<const double> /*belief*/,
                           std::span<const double> smoothed, double /*probability*/) {
                         for (Eigen::Index s = 0; s < 3; ++s) {
                           EXPECT_NEAR(smoothed[static_cast<std::size_t>(s)],
                                       expected.states(static_cast<Eigen::Index>(t), s), 1e-12);
                         }
                       });
  }
}

TEST(LikelihoodVectors, BadRowsAreRefused) {
  const Pomdp model = model_for(Timing::before, 3, 1);
  TransitionLikelihood vectors = TransitionLikelihood::with_vectors(model);
  const auto error = [&](std::vector<double> row) -> std::string {
    try {
      vectors.append(Action{0}, row);
    } catch (const InvalidArgument& found) {
      return found.what();
    }
    return "";
  };
  EXPECT_EQ(error({0.0, 0.5, 2.0}), "");
  EXPECT_THAT(error({0.0, 0.0, 0.0}), HasSubstr("row 1: the likelihood is 0 in every state"));
  EXPECT_THAT(error({0.1, -0.5, 0.0}), HasSubstr("likelihood -0.5 is negative"));
  EXPECT_THAT(error({0.1, std::nan(""), 0.0}), HasSubstr("not finite"));
  EXPECT_THAT(error({0.1, 0.2}), HasSubstr("2 likelihoods for 3 states"));
  EXPECT_THROW(vectors.append(Action{0}, Observation{0}), InvalidArgument);
  EXPECT_EQ(vectors.rows(), 1U);
}

}  // namespace
}  // namespace oas::test
