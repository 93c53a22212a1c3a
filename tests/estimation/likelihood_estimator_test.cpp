// The likelihood estimators as a whole: exact answers, coverage, the Cramér-Rao limit, blind
// sensors.

#include "oas/estimation/likelihood/likelihood_estimator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>

#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/estimation/transition_error.hpp"
#include "oas/problems/named.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;

// Two states, two actions, two observations.
Pomdp tiny_model(Timing timing, const std::vector<double>& transition,
                 const std::vector<double>& sensors) {
  PomdpParts parts;
  parts.timing = timing;
  parts.states = Labels(2, "states");
  parts.actions = Labels(static_cast<int>(transition.size()) / 4, "actions");
  parts.observations = Labels(2, "observations");
  parts.start = {0.5, 0.5};
  parts.transition = TransitionModel(2, parts.actions.size(), transition);
  parts.sensors = ObservationModel(2, parts.actions.size(), 2, sensors);
  return Pomdp(parts);
}

TransitionEstimate estimate(const TransitionLikelihood& rows, const Pomdp& model,
                            const LikelihoodEstimatorOptions& options = {}) {
  const TransitionModel first = TransitionModel::uniform(model.num_states(), model.num_actions());
  return estimate_likelihood(likelihood_rows(rows, {1}), likelihood_starts(model, first), model,
                             options);
}

double error_of(const Pomdp& model, const TransitionModel& estimate) {
  return transition_error(model.transition(), estimate).frobenius;
}

// Short runs that were cut out of longer ones: where they began is learned with T. Taken as all
// states alike it would bias T by as much as 0.1.
TEST(LikelihoodEstimator, LearnsWhereCutRunsBegan) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const std::vector<double> dynamics = {0.9, 0.1, 0.2, 0.8};
    const Pomdp model = tiny_model(timing, dynamics, {0.8, 0.2, 0.3, 0.7});
    TransitionLikelihood rows(model);
    constexpr int kRuns = 3000;
    for (int run = 0; run < kRuns; ++run) {
      Rng rng({5, static_cast<std::uint32_t>(run), Role::test});
      rows.start_run(RunStart::unknown());
      int state = rng.uniform() < 0.95 ? 0 : 1;
      for (int t = 0; t < 5; ++t) {
        const auto next = [&] { return rng.uniform() < dynamics[state * 2] ? 0 : 1; };
        if (timing == Timing::after) state = next();
        const Observation seen{rng.uniform() < (state == 0 ? 0.8 : 0.3) ? 0 : 1};
        rows.append(std::array{Action{0}}, std::array{seen});
        if (timing == Timing::before) state = next();
      }
    }
    const LikelihoodPass even = rows.pass(model.transition(), {}, {1});
    ASSERT_EQ(even.unknown_starts.size(), 2U);
    EXPECT_NEAR(even.unknown_starts[0] + even.unknown_starts[1], kRuns, 1e-6);
    const TransitionEstimate found = estimate(rows, model);
    ASSERT_EQ(found.unknown_start.size(), 2U);
    // In `after` nothing is seen of the first state itself, so that it is known less well.
    EXPECT_NEAR(found.unknown_start[0], 0.95, timing == Timing::before ? 0.06 : 0.15);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(found.transition.values()[i], dynamics[i], 0.05) << to_string(timing) << i;
    }
    PassOptions with;
    with.unknown_start = found.unknown_start;
    EXPECT_GT(rows.pass(model.transition(), with, {1}).log_likelihood, even.log_likelihood + 50.0);
  }
}

class LikelihoodTimings : public ::testing::TestWithParam<Timing> {};
INSTANTIATE_TEST_SUITE_P(All, LikelihoodTimings, ::testing::Values(Timing::before, Timing::after));

// Every sequence of three rows has a probability that is a whole multiple of 2^-14; a log that
// holds each that often is the population itself. The policy reacts: after observation 0 it repeats
// its action three times out of four.
TEST_P(LikelihoodTimings, ThePopulationGivesTheTruth) {
  const Pomdp model = tiny_model(GetParam(), {0.75, 0.25, 0.5, 0.5, 0.25, 0.75, 1.0, 0.0},
                                 {1.0, 0.0, 0.5, 0.5, 0.5, 0.5, 0.0, 1.0});
  const auto probability = [&](const std::vector<int>& actions, const std::vector<int>& seen) {
    double sum = 0.0;
    for (int path = 0; path < 16; ++path) {
      double p = model.start()[static_cast<std::size_t>(path & 1)];
      for (int t = 0; t < 3; ++t) {
        const int state = path >> t & 1;
        const int next = path >> (t + 1) & 1;
        const Action a{actions[static_cast<std::size_t>(t)]};
        p *= model.transition()(a, State{state}, State{next}) *
             model.sensors()(a, State{GetParam() == Timing::before ? state : next},
                             Observation{seen[static_cast<std::size_t>(t)]});
      }
      sum += p;
    }
    return sum;
  };
  TransitionLikelihood rows(model);
  for (int code = 0; code < 64; ++code) {
    const std::vector<int> actions = {code & 1, code >> 1 & 1, code >> 2 & 1};
    const std::vector<int> seen = {code >> 3 & 1, code >> 4 & 1, code >> 5 & 1};
    double policy = 1.0;
    for (std::size_t t = 1; t < 3; ++t) {
      const bool repeats = actions[t] == actions[t - 1];
      policy *= seen[t - 1] == 0 ? (repeats ? 0.75 : 0.25) : 0.5;
    }
    const double times = probability(actions, seen) * policy * 16384.0;
    ASSERT_EQ(times, std::round(times));
    for (int i = 0; i < static_cast<int>(times); ++i) {
      rows.start_run();
      for (std::size_t t = 0; t < 3; ++t) {
        rows.append(Action{actions[t]}, Observation{seen[t]});
      }
    }
  }
  LikelihoodEstimatorOptions options;
  options.climb.tolerance = 1e-8;
  const TransitionEstimate result = estimate(rows, model, options);
  EXPECT_LT(error_of(model, result.transition), 1e-4);
  EXPECT_EQ(result.status, EstimateStatus::ok);
}

// With sensors that show the state the answer is counting, and with a prior counting with more.
TEST_P(LikelihoodTimings, SensorsThatShowTheStateGiveCounts) {
  const Pomdp model = tiny_model(GetParam(), {0.75, 0.25, 0.5, 0.5, 0.25, 0.75, 1.0, 0.0},
                                 {1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0});
  ClosedLoop loop(model, {.name = "uniform"}, 5);
  Trajectory log;
  loop.advance(5000, log);
  TransitionLikelihood rows(model);
  rows.append(log.actions, log.observations);
  std::vector<double> counts(8, 0.0);
  const bool before = GetParam() == Timing::before;
  for (std::size_t t = 1; t < log.size(); ++t) {
    const Action a = log.actions[before ? t - 1 : t];
    counts[static_cast<std::size_t>(4 * a + 2 * log.observations[t - 1] + log.observations[t])] +=
        1.0;
  }
  for (const double prior : {0.0, 3.0}) {
    LikelihoodEstimatorOptions options;
    options.climb.tolerance = 1e-10;
    options.climb.prior = prior;
    const TransitionEstimate result = estimate(rows, model, options);
    for (std::size_t i = 0; i < 8; ++i) {
      const double total = counts[i / 2 * 2] + counts[i / 2 * 2 + 1] + 2.0 * prior;
      // In `after` timing the first row says a little about the start too.
      EXPECT_NEAR(result.transition.values()[i], (counts[i] + prior) / total, 2e-3);
    }
    EXPECT_NEAR(result.standard_error[0], std::sqrt(0.75 * 0.25 / (counts[0] + counts[1])), 1e-3);
  }
  // A prior that weighs as much as the log adds as much information, and intervals are around what
  // is then the estimate.
  LikelihoodEstimatorOptions options;
  options.climb.tolerance = 1e-10;
  options.climb.prior = 600.0;
  const TransitionEstimate result = estimate(rows, model, options);
  for (std::size_t i = 0; i < 8; ++i) {
    const double total = counts[i / 2 * 2] + counts[i / 2 * 2 + 1] + 1200.0;
    const double value = result.transition.values()[i];
    EXPECT_NEAR(result.standard_error[i], std::sqrt(value * (1.0 - value) / total), 1e-4);
    const double error = result.standard_error[i];
    EXPECT_NEAR(result.lower[i], value - 1.96 * error, 0.05 * error);
    EXPECT_NEAR(result.upper[i], value + 1.96 * error, 0.05 * error);
  }
  // However much it weighs: what is imagined makes no log too long for its information.
  options.climb.prior = 1e9;
  const TransitionEstimate sure = estimate(rows, model, options);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(sure.standard_error[i], std::sqrt(0.25 / 2e9), 1e-6) << i;
  }
}

RandomPomdp instance(Timing timing, double alpha) {
  RandomPomdpOptions options;
  options.num_observations = 4;
  options.timing = timing;
  options.min_alpha = alpha;
  options.peak = 3.0;
  Rng rng({7, 0, Role::problem});
  return random_pomdp(options, rng);
}

TransitionLikelihood simulated(const Pomdp& model, std::size_t steps, std::uint32_t replication,
                               const char* name = "belief") {
  PolicyOptions policy;
  policy.name = name;
  if (policy.name == "belief") policy.min_action_probability = 0.1;
  ClosedLoop loop(model, policy, 2026, replication);
  Trajectory log;
  loop.advance(steps, log);
  TransitionLikelihood rows(model);
  rows.append(log.actions, log.observations);
  return rows;
}

// 95 % intervals hold the true entry in 93 to 97 % of all cases; 200 runs, 5400 entries, belief
// policy. Runs are independent: the standard error of the rate is about 0.5 %.
TEST_P(LikelihoodTimings, IntervalsHoldWhatTheyPromise) {
  const Pomdp model = instance(GetParam(), 0.2).model;
  constexpr std::size_t kRuns = 200;
  std::vector<int> inside(kRuns, 0);
  parallel_for(kRuns, {}, [&](std::size_t r) {
    const TransitionEstimate result =
        estimate(simulated(model, 12'000, static_cast<std::uint32_t>(r)), model);
    const auto truth = model.transition().values();
    for (std::size_t i = 0; i < truth.size(); ++i) {
      inside[r] += truth[i] >= result.lower[i] && truth[i] <= result.upper[i];
    }
  });
  const double rate = std::accumulate(inside.begin(), inside.end(), 0.0) / (27.0 * kRuns);
  EXPECT_GT(rate, 0.93);
  EXPECT_LT(rate, 0.97);
}

// No unbiased estimator can do better than the inverse information at the truth. Root mean square
// error over 100 runs against it: the standard error of the ratio is about 3 %.
TEST_P(LikelihoodTimings, TheErrorIsAtTheCramerRaoLimit) {
  const Pomdp model = instance(GetParam(), 0.2).model;
  constexpr std::size_t kSteps = 50'000;
  const TransitionLikelihood many = simulated(model, 10 * kSteps, 1000);
  const LikelihoodRows rows = likelihood_rows(many, {1});
  const ObservedInformation information =
      observed_information(rows.likelihood, model.transition(), many.pass(model.transition()));
  const Matrix covariance = information.matrix.inverse() * 10.0;
  double limit = 0.0;
  const Eigen::Index per_row = 2;
  for (Eigen::Index row = 0; row < covariance.rows(); row += per_row) {
    // The largest entry of a row has the variance of the sum of the two others.
    const Matrix block = covariance.block(row, row, per_row, per_row);
    limit += block.trace() + block.sum();
  }
  constexpr std::size_t kRuns = 100;
  std::vector<double> square(kRuns);
  LikelihoodEstimatorOptions options;
  options.error_bars = false;
  parallel_for(kRuns, {}, [&](std::size_t r) {
    const TransitionLikelihood log = simulated(model, kSteps, static_cast<std::uint32_t>(r));
    square[r] = std::pow(error_of(model, estimate(log, model, options).transition), 2);
  });
  const double mean = std::accumulate(square.begin(), square.end(), 0.0) / kRuns;
  EXPECT_LT(std::sqrt(mean / limit), 1.12);
  EXPECT_GT(std::sqrt(mean / limit), 0.88);
}

// Listening tells, opening does not: no moment estimator works, likelihood does.
TEST(BlindSensors, AreLearnedWhereTheLogTells) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = tiny_model(timing, {0.9, 0.1, 0.05, 0.95, 0.3, 0.7, 0.6, 0.4},
                                   {0.85, 0.15, 0.15, 0.85, 0.5, 0.5, 0.5, 0.5});
    ClosedLoop loop(model, {.name = "uniform"}, 3);
    Trajectory log;
    loop.advance(200'000, log);
    TransitionLikelihood rows(model);
    rows.append(log.actions, log.observations);
    const TransitionEstimate result = estimate(rows, model);
    EXPECT_EQ(result.status, EstimateStatus::ok);
    EXPECT_LT(error_of(model, result.transition), 0.05);
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_LT(std::abs(result.transition.values()[i] - model.transition().values()[i]),
                5.0 * result.standard_error[i]);
    }
  }
}

TEST(BlindSensors, AreFlaggedWhereItDoesNot) {
  // A third action that is never taken, and a model that never tells.
  const Pomdp model =
      tiny_model(Timing::before, {0.9, 0.1, 0.05, 0.95, 0.3, 0.7, 0.6, 0.4, 0.5, 0.5, 0.9, 0.1},
                 {0.85, 0.15, 0.15, 0.85, 0.5, 0.5, 0.5, 0.5, 0.2, 0.8, 0.8, 0.2});
  Rng rng({3, 0, Role::test});
  TransitionLikelihood rows(model);
  State state{0};
  for (int t = 0; t < 20'000; ++t) {
    const Action a{rng.below(2)};
    const double p = model.sensors()(a, state, Observation{0});
    rows.append(a, Observation{rng.uniform() < p ? 0 : 1});
    state = State{rng.uniform() < model.transition()(a, state, State{0}) ? 0 : 1};
  }
  const TransitionEstimate result = estimate(rows, model);
  ASSERT_EQ(result.flagged.size(), 2U);
  for (const FlaggedRow& row : result.flagged) {
    EXPECT_EQ(row.action, Action{2});
    EXPECT_THAT(row.reason, HasSubstr("never visited"));
    EXPECT_EQ(result.transition(Action{2}, row.state, State{0}), 0.5);
  }
  EXPECT_TRUE(std::isnan(result.standard_error[8]));
  EXPECT_EQ(result.lower[8], 0.0);
  EXPECT_EQ(result.upper[8], 1.0);

  const Pomdp mute = tiny_model(Timing::before, {0.9, 0.1, 0.05, 0.95, 0.3, 0.7, 0.6, 0.4},
                                {0.3, 0.7, 0.3, 0.7, 0.5, 0.5, 0.5, 0.5});
  TransitionLikelihood nothing(mute);
  for (int t = 0; t < 5000; ++t) {
    const Action a{rng.below(2)};
    nothing.append(a, Observation{rng.uniform() < (a == 0 ? 0.3 : 0.5) ? 0 : 1});
  }
  const TransitionEstimate guess = estimate(nothing, mute);
  EXPECT_EQ(guess.status, EstimateStatus::flagged);
  EXPECT_EQ(guess.flagged.size(), 4U);
  EXPECT_THAT(guess.flagged[0].reason, HasSubstr("same sensors and can be swapped"));
}

TEST(LikelihoodEstimator, KnownZerosStay) {
  const Pomdp model = tiny_model(Timing::before, {1.0, 0.0, 0.4, 0.6, 0.3, 0.7, 0.6, 0.4},
                                 {0.8, 0.2, 0.3, 0.7, 0.4, 0.6, 0.9, 0.1});
  const TransitionLikelihood rows = simulated(model, 20'000, 1, "uniform");
  const TransitionModel start(2, 2, {1.0, 0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5});
  const LikelihoodEstimate result = maximize_likelihood(rows, start);
  EXPECT_EQ(result.transition(Action{0}, State{0}, State{1}), 0.0);
  EXPECT_EQ(result.status, LikelihoodStatus::converged);
}

// Plain expectation-maximisation makes entries smaller for hundreds of passes. They must not become
// 0, which would say that they are known to be impossible.
TEST(LikelihoodEstimator, EntriesThatShrinkAwayKeepTheirErrors) {
  const Pomdp model = machine_maintenance();
  LikelihoodEstimatorOptions options;
  options.climb.accelerate = false;
  options.climb.max_passes = 3000;
  options.climb.tolerance = 1e-7;
  const TransitionEstimate result = estimate(simulated(model, 3000, 10), model, options);
  double smallest = 1.0;
  for (std::size_t i = 0; i < result.transition.values().size(); ++i) {
    smallest = std::min(smallest, result.transition.values()[i]);
    EXPECT_FALSE(result.standard_error[i] == 0.0) << i;
  }
  EXPECT_GT(smallest, 0.0);
  EXPECT_LT(smallest, 1e-100);
}

TEST(LikelihoodEstimator, WrongOptionsAreNamed) {
  const auto message = [](auto options) -> std::string {
    try {
      options.validate();
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no exception";
  };
  LikelihoodEstimatorOptions estimator;
  estimator.confidence = 1.0;
  EXPECT_THAT(message(estimator), HasSubstr("confidence is 1"));
  LikelihoodOptions options;
  options.prior = -1.0;
  EXPECT_THAT(message(options), HasSubstr("prior is -1"));
  options.prior = 0.0;
  options.tolerance = 0.0;
  EXPECT_THAT(message(options), HasSubstr("tolerance is 0"));
  options.tolerance = 1.0;
  options.max_passes = 0;
  EXPECT_THAT(message(options), HasSubstr("max_passes is 0"));
}

// A row that hardly any row of the log speaks of is not determined; what is has error bars, however
// short the log.
TEST(LikelihoodEstimator, ShortLogsDetermineLittle) {
  const Pomdp model = robot_corridor();
  EXPECT_EQ(estimate(simulated(model, 3, 1), model).flagged.size(), 15U);
  const TransitionEstimate result = estimate(simulated(model, 300, 1), model);
  ASSERT_EQ(result.standard_error.size(), 75U);
  for (std::size_t i = 0; i < 75; ++i) {
    const bool flagged = std::isnan(result.standard_error[i]);
    EXPECT_TRUE(flagged || result.upper[i] > result.lower[i]) << i;
    EXPECT_LE(result.lower[i], result.transition.values()[i]);
    EXPECT_GE(result.upper[i], result.transition.values()[i]);
    EXPECT_TRUE(flagged || result.visits[i / 5] > 1.9) << i;
  }
}

// One state: T is 1, which no log has to tell.
TEST(LikelihoodEstimator, OneStateIsKnown) {
  PomdpParts parts;
  parts.timing = Timing::before;
  parts.states = Labels(1, "states");
  parts.actions = Labels(1, "actions");
  parts.observations = Labels(2, "observations");
  parts.start = {1.0};
  parts.sensors = ObservationModel(1, 1, 2, {0.3, 0.7});
  const Pomdp model(parts);
  TransitionLikelihood rows(model);
  for (int t = 0; t < 50; ++t) rows.append(Action{0}, Observation{t % 2});
  const TransitionEstimate result = estimate(rows, model);
  EXPECT_TRUE(result.flagged.empty());
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_EQ(result.standard_error, std::vector<double>{0.0});
  EXPECT_EQ(result.lower, std::vector<double>{1.0});
  EXPECT_EQ(result.upper, std::vector<double>{1.0});
}

TEST(LikelihoodEstimator, RefusesALogWithoutTransitions) {
  const Pomdp model = instance(Timing::before, 0.2).model;
  TransitionLikelihood rows(model);
  rows.append(Action{0}, Observation{0});
  EXPECT_THROW(static_cast<void>(estimate(rows, model)), InvalidArgument);
}

}  // namespace
}  // namespace oas
