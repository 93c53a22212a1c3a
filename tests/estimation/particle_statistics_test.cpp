// The claims about the particle posterior with randomness in them: unbiased resampling, moves that
// leave the posterior alone, convergence at its rate, intervals that cover.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "oas/core/sampling.hpp"
#include "oas/estimation/particles/finite_posterior.hpp"
#include "oas/estimation/particles/particle.hpp"
#include "support/chi_square.hpp"
#include "support/printing.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

Pomdp learnable_model(int states, int actions, Timing timing, std::uint64_t seed) {
  test::RandomModelOptions options;
  options.num_states = states;
  options.num_actions = actions;
  options.timing = timing;
  options.min_alpha = 0.4;
  options.concentration = 1.0;
  return test::random_model(options, seed);
}

// A random position of the output has exactly the distribution of the weights, and every index
// comes up its share of times, rounded down or up.
TEST(Systematic, IsUnbiasedAndEven) {
  const std::vector<double> weights = {0.05, 0.0, 2.0, 0.7, 0.33, 1.1, 0.0};
  double total = 0.0;
  for (const double weight : weights) total += weight;
  Rng rng({1, 0, Role::test});
  std::vector<int> out(11);
  std::vector<std::int64_t> counts(weights.size(), 0);
  for (int i = 0; i < 100'000; ++i) {
    sample_systematic(weights, out, rng);
    ++counts[static_cast<std::size_t>(out[rng.below(11)])];
    std::vector<int> copies(weights.size(), 0);
    for (const int index : out) ++copies[static_cast<std::size_t>(index)];
    for (std::size_t k = 0; k < weights.size(); ++k) {
      ASSERT_LT(std::abs(copies[k] - 11.0 * weights[k] / total), 1.0);
    }
  }
  EXPECT_GT(test::chi_square_p_value(counts, weights), test::kFailureProbability);
}

// Two states and one action: T is a point of the unit square, so the posterior after a few rows can
// be had by quadrature. Particles are resampled and moved at every row: whatever the moves do not
// leave invariant piles up twelve times. 20 000 particles: a share of them has a standard deviation
// of at most 0.0036 if they were independent.
TEST(WindowMove, LeavesThePosteriorInvariant) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp sensors = learnable_model(2, 1, timing, 3);
    const Trajectory rows = test::play_uniformly(sensors, 12, 0.0, 4);
    constexpr int kSide = 200;
    constexpr int kCells = 4;
    std::array<double, kCells * kCells> exact{};
    double total = 0.0;
    for (int i = 0; i < kSide; ++i) {
      for (int j = 0; j < kSide; ++j) {
        const double p = (i + 0.5) / kSide;
        const double q = (j + 0.5) / kSide;
        const std::array candidate = {TransitionModel(2, 1, {p, 1.0 - p, q, 1.0 - q})};
        FinitePosterior likelihood(sensors, candidate);
        double value = 1.0;
        for (std::size_t t = 0; t < rows.size(); ++t) {
          value *= likelihood.update(rows.actions[t], rows.observations[t]);
        }
        total += value;
        exact[static_cast<std::size_t>(i * kCells / kSide * kCells + j * kCells / kSide)] += value;
      }
    }
    ParticleOptions options;
    options.particles = 20'000;
    options.ess_threshold = options.particles;
    Rng rng({5, 0, Role::test});
    ParticlePosterior posterior(sensors, options, rng);
    for (std::size_t t = 0; t < rows.size(); ++t) {
      posterior.update(rows.actions[t], rows.observations[t], rng);
    }
    // In `before` timing the first row says nothing about T.
    ASSERT_EQ(posterior.report().resamplings, timing == Timing::before ? 11 : 12);
    std::array<double, kCells * kCells> found{};
    for (int i = 0; i < options.particles; ++i) {
      const TransitionModel model = posterior.transition(i);
      const auto cell = [&](int state) {
        return std::min(kCells - 1,
                        static_cast<int>(model(Action{0}, State{state}, State{0}) * kCells));
      };
      found[static_cast<std::size_t>(cell(0) * kCells + cell(1))] += 1.0 / options.particles;
    }
    for (std::size_t k = 0; k < exact.size(); ++k) {
      EXPECT_NEAR(found[k], exact[k] / total, 0.02) << to_string(timing) << ", cell " << k;
    }
  }
}

// log P(wrong)/P(true) falls linearly: twice the rows, twice the log-odds.
TEST(FinitePosterior, FindsTheTruthExponentiallyFast) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = learnable_model(3, 2, timing, 5);
    std::vector<TransitionModel> candidates = {model.transition()};
    for (std::uint64_t seed = 50; seed < 54; ++seed) {
      candidates.push_back(learnable_model(3, 2, timing, seed).transition());
    }
    FinitePosterior posterior(model, candidates);
    const Trajectory rows = test::play_uniformly(model, 8000, 0.0, 6);
    double half = 0.0;
    const auto log_odds = [&] {
      double worst = -1e300;
      for (int i = 1; i < posterior.size(); ++i) {
        worst = std::max(worst, posterior.log_probability(i) - posterior.log_probability(0));
      }
      return worst;
    };
    for (std::size_t t = 0; t < rows.size(); ++t) {
      posterior.update(rows.actions[t], rows.observations[t]);
      if (t + 1 == 4000) half = log_odds();
    }
    EXPECT_LT(half, -50.0);
    EXPECT_NEAR(log_odds() / half, 2.0, 0.4);
  }
}

struct Calibration {
  double error_ratio = 0.0;  // root mean squares at 16 000 rows over those at 1000
  double spread_ratio = 0.0;
  double error_over_spread = 0.0;  // at 16 000 rows
  double coverage = 0.0;           // of 95 % intervals there
};

// Over 12 models of both timings, 216 entries.
Calibration calibrate(int window) {
  constexpr int kLogs = 12;
  ParticleEstimateOptions options;
  options.posterior.window = window;
  double errors[2] = {};
  double spreads[2] = {};
  int covered = 0;
  for (std::uint64_t log = 0; log < kLogs; ++log) {
    const Pomdp model =
        learnable_model(3, 2, log % 2 == 0 ? Timing::before : Timing::after, 70 + log);
    const Trajectory rows = test::play_uniformly(model, 16'000, 0.0, log);
    ParticleEstimator estimator(model, options, Rng({log, 0, Role::test}));
    const std::span<const Action> actions(rows.actions);
    const std::span<const Observation> observations(rows.observations);
    for (const int late : {0, 1}) {
      const std::size_t first = late == 0 ? 0 : 1000;
      const std::size_t count = late == 0 ? 1000 : 15'000;
      estimator.add(actions.subspan(first, count), observations.subspan(first, count));
      const TransitionEstimate estimate = estimator.finish();
      for (std::size_t e = 0; e < estimate.lower.size(); ++e) {
        const double truth = model.transition().values()[e];
        errors[late] += std::pow(estimate.transition.values()[e] - truth, 2);
        spreads[late] += std::pow(estimate.standard_error[e], 2);
        if (late == 1) covered += truth >= estimate.lower[e] && truth <= estimate.upper[e];
      }
    }
  }
  return {std::sqrt(errors[1] / errors[0]), std::sqrt(spreads[1] / spreads[0]),
          std::sqrt(errors[1] / spreads[1]), covered / (18.0 * kLogs)};
}

// While the window holds all rows, the posterior is the exact one but for the number of particles:
// 16 times the rows, a quarter of the spread (and somewhat more of the error, since at 1000 rows
// the prior still helps), and intervals that cover. Found: 0.33, 0.27, 1.16, 0.90.
TEST(ParticleEstimator, ConvergesAtItsRateAndItsIntervalsCover) {
  const Calibration found = calibrate(32'768);
  EXPECT_NEAR(found.error_ratio, 0.3, 0.08);
  EXPECT_NEAR(found.spread_ratio, 0.25, 0.05);
  EXPECT_NEAR(found.error_over_spread, 1.0, 0.25);
  EXPECT_GT(found.coverage, 0.87);
}

// Eight summaries forget how rows of T depend on each other: something is lost, not all.
// Found: 0.34, 0.25, 1.28, 0.83.
TEST(ParticleEstimator, SummariesLoseLittle) {
  const Calibration found = calibrate(2000);
  EXPECT_LT(found.error_ratio, 0.4);
  EXPECT_LT(found.error_over_spread, 1.6);
  EXPECT_GT(found.coverage, 0.75);
}

// Jitter widens: it does not collapse, and it learns, more slowly.
TEST(Jitter, LearnsWithoutCollapse) {
  const Pomdp model = learnable_model(3, 2, Timing::before, 9);
  const Trajectory rows = test::play_uniformly(model, 40'000, 0.0, 10);
  ParticleEstimateOptions options;
  options.posterior.move = ParticleMove::jitter;
  ParticleEstimator estimator(model, options, Rng({11, 0, Role::test}));
  estimator.add(rows.actions, rows.observations);
  EXPECT_EQ(estimator.posterior().report().collapsed, 0);
  const TransitionEstimate estimate = estimator.finish();
  double error = 0.0;
  double prior_error = 0.0;
  for (std::size_t e = 0; e < estimate.transition.values().size(); ++e) {
    const double truth = model.transition().values()[e];
    error += std::pow(estimate.transition.values()[e] - truth, 2);
    prior_error += std::pow(1.0 / 3.0 - truth, 2);
  }
  EXPECT_LT(error, 0.1 * prior_error);
}

}  // namespace
}  // namespace oas
