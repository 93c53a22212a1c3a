// Weights by age: what is weighted, what the error bars say, and the trade-off between noise and
// drift.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/likelihood/weighted_likelihood.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/estimation/transition_error.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

Pomdp drift_model(Timing timing, std::uint64_t seed) {
  test::RandomModelOptions options;
  options.num_states = 3;
  options.num_actions = 2;
  options.num_observations = 4;
  options.timing = timing;
  options.concentration = 3.0;
  options.min_alpha = 0.3;
  return test::random_model(options, seed);
}

LikelihoodEstimatorOptions point_estimate() {
  LikelihoodEstimatorOptions options;
  options.error_bars = false;
  return options;
}

TransitionModel likelihood_of(const TransitionLikelihood& rows, const Pomdp& model,
                              const Forgetting& forgetting) {
  const TransitionModel start = TransitionModel::uniform(3, 2);
  return estimate_likelihood(with_forgetting(likelihood_rows(rows, {1}), forgetting), {start},
                             model, point_estimate())
      .transition;
}

MomentSeries moments_of(const Trajectory& rows, const Pomdp& model, const LeftInverses& inverses,
                        const Forgetting& forgetting) {
  FoldOptions fold;
  fold.forgetting = forgetting;
  PairFolder folder(inverses, model.timing(), fold);
  folder.add(rows.actions, rows.observations, {});
  MomentSeries series = folder.finish();
  series.forget(forgetting);
  return series;
}

class ForgettingTimings : public ::testing::TestWithParam<Timing> {};
INSTANTIATE_TEST_SUITE_P(All, ForgettingTimings, ::testing::Values(Timing::before, Timing::after));

// A weighted pass is a sum over stretches of 16 rows, which differences of windows show one by one.
TEST_P(ForgettingTimings, APassIsTheWeightedSumOfItsStretches) {
  const Pomdp model = drift_model(GetParam(), 1);
  TransitionLikelihood rows(model);
  const Trajectory log = test::play_uniformly(model, 1600, 0.1, 2);
  rows.append(log.actions, log.observations);
  const auto pass = [&](const Forgetting& forgetting) {
    PassOptions options;
    options.forgetting = forgetting;
    return rows.pass(model.transition(), options, {1});
  };
  const LikelihoodPass plain = rows.pass(model.transition(), {}, {1});
  const LikelihoodPass all = pass({0.0, 1600});
  const Forgetting fading{300.0, 0};
  const LikelihoodPass faded = pass(fading);
  std::vector<double> sum(plain.counts.size(), 0.0);
  double log_likelihood = 0.0;
  LikelihoodPass last;
  for (std::int64_t window = 16; window <= 1600; window += 16) {
    const LikelihoodPass next = pass({0.0, window});
    const double weight = fading.mean_weight(window - 16, 16);
    // `before`: the last row makes no step, so the youngest stretch has 15.
    const double share = window == 16 && GetParam() == Timing::before
                             ? fading.mean_weight(1, 15) / (Forgetting{0.0, 16}.mean_weight(1, 15))
                             : weight;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += share * (next.counts[i] - (window > 16 ? last.counts[i] : 0.0));
    }
    log_likelihood += weight * (next.log_likelihood - (window > 16 ? last.log_likelihood : 0.0));
    last = next;
  }
  EXPECT_NEAR(all.log_likelihood, plain.log_likelihood, 1e-9 * std::abs(plain.log_likelihood));
  for (std::size_t i = 0; i < sum.size(); ++i) {
    EXPECT_NEAR(all.counts[i], plain.counts[i], 1e-9 * plain.counts[i]);
    EXPECT_NEAR(faded.counts[i], sum[i], 1e-9 * sum[i]);
  }
  EXPECT_NEAR(faded.log_likelihood, log_likelihood, 0.02 * std::abs(log_likelihood));
}

// Σ_t w_t P(step t is (a,s,s') | all rows of the run), by plain forward and backward recursions;
// w_t is the mean weight of the stretch of 16 rows that row t is in.
std::vector<double> weighed_by_hand(const Trajectory& run, const Pomdp& model,
                                    const Forgetting& forgetting) {
  const std::size_t rows = run.size();
  const std::size_t shift = model.timing() == Timing::before ? 1 : 0;
  const std::size_t steps = rows - shift;
  const auto emission = [&](std::size_t row) {
    Vector values = Vector::Ones(3);
    if (run.observations[row] == kMissing) return values;
    for (State s{0}; s < 3; ++s) {
      values(s.value()) = model.sensors()(run.actions[row], s, run.observations[row]);
    }
    return values;
  };
  std::vector<Vector> forward(steps + 1);
  std::vector<Vector> backward(steps + 1, Vector::Ones(3));
  forward[0] = VectorView(model.start().data(), 3);
  if (shift == 1) forward[0] = forward[0].cwiseProduct(emission(0)).eval();
  const auto matrix = [&](std::size_t t) { return model.transition().matrix(run.actions[t]); };
  for (std::size_t t = 0; t < steps; ++t) {
    forward[t + 1] = (matrix(t).transpose() * forward[t]).cwiseProduct(emission(t + shift));
    forward[t + 1] /= forward[t + 1].sum();
  }
  for (std::size_t t = steps; t-- > 0;) {
    backward[t] = matrix(t) * emission(t + shift).cwiseProduct(backward[t + 1]);
    backward[t] /= backward[t].sum();
  }
  std::vector<double> counts(18, 0.0);
  for (std::size_t t = 0; t < steps; ++t) {
    Matrix joint = forward[t].asDiagonal() * Matrix(matrix(t)) *
                   emission(t + shift).cwiseProduct(backward[t + 1]).asDiagonal();
    joint /= joint.sum();
    const std::size_t first = t / 16 * 16;
    const std::size_t end = std::min(steps, first + 16);
    double weight = 0.0;
    for (std::size_t row = first; row < end; ++row) {
      weight +=
          forgetting.weight(static_cast<double>(rows - 1 - row)) / static_cast<double>(end - first);
    }
    for (int i = 0; i < 9; ++i) {
      counts[static_cast<std::size_t>(9 * run.actions[t].value() + i)] += weight * joint.data()[i];
    }
  }
  return counts;
}

// Units side by side: the age of a row is that within its own run, whatever stands behind it.
TEST_P(ForgettingTimings, AgeWithinRunsIsThatOfEveryUnit) {
  const Pomdp model = drift_model(GetParam(), 1);
  TransitionLikelihood rows(model);
  std::vector<Trajectory> runs;
  for (std::uint64_t unit = 0; unit < 12; ++unit) {
    const std::size_t length = unit == 5 ? 9000 : unit % 4 == 0 ? 1 + unit : 300 + 41 * unit;
    runs.push_back(test::play_uniformly(model, length, 0.05, unit));
    rows.start_run();
    rows.append(runs.back().actions, runs.back().observations);
  }
  for (const Forgetting& forgetting :
       {Forgetting{0.0, 100, Age::run}, Forgetting{80.0, 0, Age::run},
        Forgetting{200.0, 333, Age::run}}) {
    std::vector<double> expected(18, 0.0);
    for (const Trajectory& run : runs) {
      const std::vector<double> part = weighed_by_hand(run, model, forgetting);
      for (std::size_t i = 0; i < 18; ++i) expected[i] += part[i];
    }
    PassOptions options;
    options.forgetting = forgetting;
    const LikelihoodPass pass = rows.pass(model.transition(), options, {1});
    const LikelihoodPass threads = rows.pass(model.transition(), options, {4});
    EXPECT_EQ(pass.counts, threads.counts);
    for (std::size_t i = 0; i < 18; ++i) {
      EXPECT_NEAR(pass.counts[i], expected[i], 1e-6 * (1.0 + expected[i]));
    }
  }
  const LikelihoodRows all = likelihood_rows(rows, {1});
  EXPECT_THROW(static_cast<void>(with_forgetting(all, {0.0, 100}, rows.run_lengths())),
               InvalidArgument);
  EXPECT_THROW(static_cast<void>(with_forgetting(all, {0.0, 100, Age::run})), InvalidArgument);
  const Forgetting window{0.0, 100, Age::run};
  const RunLengths lengths = rows.run_lengths();
  EXPECT_DOUBLE_EQ(*with_forgetting(all, window, lengths).effective_rows,
                   9.0 * 100.0 + 1.0 + 5.0 + 9.0);
}

TEST_P(ForgettingTimings, OldRowsAreLeftOutAndThreadsChangeNothing) {
  const Pomdp model = drift_model(GetParam(), 1);
  const Pomdp other = drift_model(GetParam(), 9);
  TransitionLikelihood both(model);
  TransitionLikelihood late(model);
  const Trajectory old = test::play_uniformly(other, 40'000, 0.0, 1);
  const Trajectory recent = test::play_uniformly(model, 40'000, 0.0, 2);
  both.append(old.actions, old.observations);
  both.append(recent.actions, recent.observations);
  late.append(recent.actions, recent.observations);
  PassOptions options;
  options.batches = 64;
  for (const Forgetting& forgetting : {Forgetting{500.0, 0}, Forgetting{0.0, 9'999}}) {
    options.forgetting = forgetting;
    const LikelihoodPass one = both.pass(model.transition(), options, {1});
    const LikelihoodPass many = both.pass(model.transition(), options, {4});
    const LikelihoodPass alone = late.pass(model.transition(), options, {1});
    EXPECT_EQ(one.score, many.score);
    EXPECT_EQ(one.log_likelihood, many.log_likelihood);
    EXPECT_EQ(one.batch_scores, many.batch_scores);
    for (std::size_t i = 0; i < one.counts.size(); ++i) {
      EXPECT_NEAR(one.counts[i], alone.counts[i], 1e-6 + 2e-3 * alone.counts[i]);
    }
  }
}

// Dynamics that stand still: intervals hold as often as they should.
TEST_P(ForgettingTimings, IntervalsFollowTheWeights) {
  const Pomdp model = drift_model(GetParam(), 1);
  LikelihoodEstimatorOptions options;
  const Forgetting forgetting{2000.0, 0};
  int by_likelihood = 0;
  int by_moments = 0;
  int entries = 0;
  const LeftInverses inverses(model);
  for (std::uint64_t log = 0; log < 60; ++log) {
    const Trajectory played = test::play_uniformly(model, 20'000, 0.0, log);
    TransitionLikelihood rows(model);
    rows.append(played.actions, played.observations);
    const TransitionEstimate likelihood =
        estimate_likelihood(with_forgetting(likelihood_rows(rows, {1}), forgetting),
                            {TransitionModel::uniform(3, 2)}, model, options);
    EXPECT_NEAR(*likelihood.effective_rows, 4000.0 / std::log(2.0), 20.0);
    const TransitionEstimate moments =
        estimate_oas(moments_of(played, model, inverses, forgetting), inverses, model);
    for (std::size_t i = 0; i < 18; ++i, ++entries) {
      const double truth = model.transition().values()[i];
      by_likelihood += likelihood.lower[i] <= truth && truth <= likelihood.upper[i];
      by_moments += moments.lower[i] <= truth && truth <= moments.upper[i];
    }
  }
  // Entries of a row depend on each other; the standard deviation of a share is about 0.01.
  EXPECT_NEAR(static_cast<double>(by_likelihood) / entries, 0.95, 0.035);
  EXPECT_NEAR(static_cast<double>(by_moments) / entries, 0.95, 0.035);
}

// A half-life of 64 rows leaves less than three batches of 64 rows with any weight to speak of: no
// spread is to be had from them, however many there are.
TEST_P(ForgettingTimings, FewBatchesOfWeightGiveNoErrorBars) {
  const Pomdp model = drift_model(GetParam(), 1);
  const LeftInverses inverses(model);
  const Trajectory played = test::play_uniformly(model, 20'000, 0.0, 3);
  const auto series_of = [&](const Forgetting& forgetting) {
    return moments_of(played, model, inverses, forgetting);
  };
  // Batches of b rows at half-life h: n_eff/b = 2h/(b ln 2).
  const MomentSeries few = series_of({64.0, 0});
  // The last batch has 32 rows, of mean weight 0.845; before it 64 each, of 0.510, 0.255, …:
  // (Σw)²/Σw² = 1.865² / 1.061.
  EXPECT_NEAR(few.effective_batches(), 3.2788, 1e-3);
  EXPECT_TRUE(estimate_oas(few, inverses, model).standard_error.empty());
  const MomentSeries enough = series_of({400.0, 0});
  EXPECT_NEAR(enough.effective_batches(), 800.0 / std::log(2.0) / 64.0, 0.2);
  EXPECT_FALSE(estimate_oas(enough, inverses, model).standard_error.empty());
  EXPECT_EQ(series_of({}).effective_batches(), static_cast<double>(series_of({}).batches.size()));
}

TEST_P(ForgettingTimings, AnyHalfLifeThatIsAllowedWorks) {
  const Pomdp model = drift_model(GetParam(), 1);
  TransitionLikelihood rows(model);
  const Trajectory played = test::play_uniformly(model, 2000, 0.0, 3);
  rows.append(played.actions, played.observations);
  const TransitionEstimate estimate =
      estimate_likelihood(with_forgetting(likelihood_rows(rows, {1}), {1.0, 0}),
                          {TransitionModel::uniform(3, 2)}, model, {});
  EXPECT_NEAR(*estimate.effective_rows, 3.0, 1e-6);
}

// A run in which T moves at a steady pace from that of one model to that of another.
Trajectory drifting(const Pomdp& from, const Pomdp& to, std::size_t steps, std::uint64_t seed) {
  Rng rng({seed, 1, Role::test});
  Trajectory rows;
  State state{0};
  std::vector<double> row(3);
  for (std::size_t t = 0; t < steps; ++t) {
    const double share = static_cast<double>(t + 1) / static_cast<double>(steps);
    const Action action{static_cast<int>(2.0 * rng.uniform())};
    for (State next{0}; next < 3; ++next) {
      row[static_cast<std::size_t>(next)] = (1.0 - share) * from.transition()(action, state, next) +
                                            share * to.transition()(action, state, next);
    }
    const State next{sample_categorical(row, rng)};
    const State emitter = from.timing() == Timing::before ? state : next;
    rows.actions.push_back(action);
    rows.observations.emplace_back(
        sample_categorical(from.sensors().distribution(action, emitter), rng));
    state = next;
  }
  return rows;
}

// Squared error v ln 2/(2h) + (h d/ln 2)²: noise of one row v, drift of T per row d.
TEST_P(ForgettingTimings, TheErrorIsUShapedWithItsLeastWhereTheorySays) {
  const Pomdp from = drift_model(GetParam(), 1);
  const Pomdp to = drift_model(GetParam(), 9);
  constexpr std::size_t kSteps = 120'000;
  constexpr int kLogs = 10;
  const double distance = transition_error(from.transition(), to.transition()).frobenius;
  const double drift = distance / static_cast<double>(kSteps);
  const std::vector<double> half_lives = {500, 1000, 2000, 4000, 8000, 16'000, 32'000};
  const LeftInverses inverses(from);
  // v, without drift, at the end point of the road.
  const Pomdp end = from.with_transition(to.transition());
  double v_likelihood = 0.0;
  double v_moments = 0.0;
  const auto by_moments = [&](const Trajectory& rows, const Forgetting& forgetting) {
    return estimate_oas(moments_of(rows, from, inverses, forgetting), inverses, from).transition;
  };
  const auto square = [&](const TransitionModel& estimate) {
    return std::pow(transition_error(to.transition(), estimate).frobenius, 2);
  };
  std::vector<double> likelihood(half_lives.size(), 0.0);
  std::vector<double> moments(half_lives.size(), 0.0);
  for (std::uint64_t log = 0; log < kLogs; ++log) {
    const Trajectory still = test::play_uniformly(end, 20'000, 0.0, log);
    TransitionLikelihood still_rows(from);
    still_rows.append(still.actions, still.observations);
    v_likelihood += 20'000 * square(likelihood_of(still_rows, from, {})) / kLogs;
    v_moments += 20'000 * square(by_moments(still, {})) / kLogs;
    const Trajectory moving = drifting(from, to, kSteps, log);
    TransitionLikelihood rows(from);
    rows.append(moving.actions, moving.observations);
    for (std::size_t i = 0; i < half_lives.size(); ++i) {
      const Forgetting forgetting{half_lives[i], 0};
      likelihood[i] += square(likelihood_of(rows, from, forgetting)) / kLogs;
      moments[i] += square(by_moments(moving, forgetting)) / kLogs;
    }
  }
  const auto expect_u = [&](const char* name, const std::vector<double>& squares, double v) {
    const double best = std::log(2.0) * std::cbrt(v / (4.0 * drift * drift));
    std::size_t least = 0;
    for (std::size_t i = 0; i < squares.size(); ++i) {
      const double h = half_lives[i];
      const double theory = v * std::log(2.0) / (2.0 * h) + std::pow(h * drift / std::log(2.0), 2);
      std::printf("| %s | %6.0f | %.4f | %.4f |\n", name, h, std::sqrt(squares[i]),
                  std::sqrt(theory));
      if (squares[i] < squares[least]) least = i;
      if (h > best / 4.0 && h < 8000.0) {
        EXPECT_NEAR(std::sqrt(squares[i] / theory), 1.0, 0.3) << name << " " << h;
      }
    }
    EXPECT_LT(std::abs(std::log2(half_lives[least] / best)), 1.5) << name;
    EXPECT_GT(squares.front(), 1.3 * squares[least]) << name;
    EXPECT_GT(squares.back(), 1.3 * squares[least]) << name;
  };
  expect_u("likelihood", likelihood, v_likelihood);
  expect_u("moments", moments, v_moments);
}

}  // namespace
}  // namespace oas
