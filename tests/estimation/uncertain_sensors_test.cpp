#include "oas/estimation/sensors/uncertain_sensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <functional>

#include "oas/core/contracts.hpp"
#include "oas/estimation/error_bars/detail/free_coordinates.hpp"
#include "sensors_support.hpp"
#include "support/random_models.hpp"

namespace oas::test {
namespace {

using ::testing::HasSubstr;

// A log and a calibration of one random model.
struct Setting {
  Setting(const SensorCase& one, std::uint64_t seed)
      : truth(truth_of(one, seed)),
        model(UncertainSensors::opened(calibrated(truth, one, seed))),
        rows(model) {
    for (std::uint64_t run = 0; run < 2; ++run) {  // two runs, missing rows
      const Trajectory log = play_uniformly(truth, one.steps / 2, 0.05, 2 * seed + run);
      rows.start_run();
      rows.append(log.actions, log.observations);
    }
  }
  [[nodiscard]] LikelihoodFunction likelihood(Parallelism parallelism = {1}) const {
    return likelihood_rows(rows, parallelism).likelihood;
  }

  Pomdp truth;
  Pomdp model;
  TransitionLikelihood rows;
};

SensorCase small_case(Timing timing, std::size_t steps, int labelled) {
  SensorCase one;
  one.timing = timing;
  one.states = 2;
  one.actions = 1;
  one.observations = 2;
  one.steps = steps;
  one.labelled = labelled;
  return one;
}

// log P(rows | T, Z) + Σ (n + ½) log(Z / its best): straight from the definition.
double joint(const Setting& setting, const TransitionModel& transition,
             const std::vector<double>& sensors) {
  const Pomdp& model = setting.model;
  const int o = model.num_observations();
  const ObservationCounts& counts = *model.observation_counts();
  std::vector<double> full = sensors;
  for (int a = 1; a < (counts.shared() ? model.num_actions() : 1); ++a) {
    full.insert(full.end(), sensors.begin(), sensors.end());
  }
  PassOptions options;
  options.sensors =
      std::make_shared<const ObservationModel>(model.num_states(), model.num_actions(), o, full);
  double sum = setting.rows.pass(transition, options, {1}).log_likelihood;
  for (std::size_t i = 0; i < counts.values().size(); ++i) {
    const auto first = i - i % static_cast<std::size_t>(o);
    double total = 0.5 * o;
    for (std::size_t j = first; j < first + static_cast<std::size_t>(o); ++j) {
      total += counts.values()[j];
    }
    const double count = counts.values()[i] + 0.5;
    sum += count * std::log(sensors[i] / (count / total));
  }
  return sum;
}

// The largest value of a function of numbers in (0, 1), by trying smaller and smaller steps.
double best_by_trying(const std::function<double(const std::vector<double>&)>& f,
                      std::vector<double> at) {
  double best = f(at);
  for (double step = 0.1; step > 1e-7;) {
    bool better = false;
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (const double sign : {1.0, -1.0}) {
        std::vector<double> next = at;
        next[i] += sign * step;
        if (next[i] <= 0.0 || next[i] >= 1.0) continue;
        const double value = f(next);
        if (value <= best) continue;
        best = value;
        at = next;
        better = true;
      }
    }
    if (!better) step *= 0.5;
  }
  return best;
}

TransitionModel two_states(double a, double b) { return {2, 1, {a, 1.0 - a, b, 1.0 - b}}; }
std::vector<double> two_sensors(double a, double b) { return {a, 1.0 - a, b, 1.0 - b}; }

class UncertainSensorsOf : public ::testing::TestWithParam<Timing> {};
INSTANTIATE_TEST_SUITE_P(All, UncertainSensorsOf, ::testing::Values(Timing::before, Timing::after));

TEST_P(UncertainSensorsOf, TheInnerMaximumIsWhatTryingFinds) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Setting setting(small_case(GetParam(), 120, 8), seed);
    UncertainSensors sensors(setting.likelihood(), setting.model);
    for (const auto& [a, b] : {std::pair{0.9, 0.3}, std::pair{0.8, 0.35}, std::pair{0.1, 0.2}}) {
      const TransitionModel at = two_states(a, b);
      const double found = sensors.pass(at).log_likelihood;
      EXPECT_TRUE(sensors.settled());
      const ObservationModel there = sensors.sensors();
      const std::vector<double> z(there.values().begin(), there.values().end());
      const double best = best_by_trying(
          [&](const std::vector<double>& x) { return joint(setting, at, two_sensors(x[0], x[1])); },
          {z[0], z[2]});
      EXPECT_NEAR(found, best, 1e-7) << seed;
      EXPECT_NEAR(joint(setting, at, z), best, 1e-7);
    }
  }
}

TEST_P(UncertainSensorsOf, TheJointMaximumIsWhatTryingFinds) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Setting setting(small_case(GetParam(), 300, 20), seed);
    UncertainSensors sensors(setting.likelihood(), setting.model);
    LikelihoodOptions options;
    options.tolerance = 1e-9;
    const LikelihoodEstimate climbed =
        maximize_likelihood(sensors.function(), two_states(0.6, 0.4), options);
    EXPECT_EQ(climbed.status, LikelihoodStatus::converged);
    const double best = best_by_trying(
        [&](const std::vector<double>& x) {
          return joint(setting, two_states(x[0], x[1]), two_sensors(x[2], x[3]));
        },
        {climbed.transition.values()[0], climbed.transition.values()[2],
         sensors.sensors().values()[0], sensors.sensors().values()[2]});
    EXPECT_NEAR(climbed.objective, best, 1e-6) << seed;
  }
}

TEST_P(UncertainSensorsOf, TheScoreIsTheDerivative) {
  for (const bool shared : {false, true}) {
    SensorCase one;
    one.timing = GetParam();
    one.shared = shared;
    one.steps = 2'000;
    const Setting setting(one, 3);
    UncertainSensors sensors(setting.likelihood(), setting.model);
    const TransitionModel at = mixed_with_uniform(setting.truth.transition(), 0.2);
    const LikelihoodPass here = sensors.pass(at);
    constexpr double kStep = 1e-4;
    for (std::size_t i = 0; i < here.score.size(); i += 2) {
      const std::size_t other = i / 3 * 3 + (i + 1) % 3;
      const auto value = [&](double step) {
        std::vector<double> values(at.values().begin(), at.values().end());
        values[i] += step;
        values[other] -= step;
        return sensors.pass(TransitionModel(3, 2, values)).log_likelihood;
      };
      const double slope = (value(kStep) - value(-kStep)) / (2.0 * kStep);
      EXPECT_NEAR(here.score[i] - here.score[other], slope, 1e-3 * (1.0 + std::abs(slope)));
      EXPECT_NEAR(here.counts[i], at.values()[i] * here.score[i], 1e-3);
    }
  }
}

// Coordinates: two of T, two of Z.
TEST_P(UncertainSensorsOf, TheInformationIsThatOfTheJointProblem) {
  const Setting setting(small_case(GetParam(), 2'000, 30), 2);
  UncertainSensors sensors(setting.likelihood(), setting.model);
  LikelihoodOptions options;
  options.tolerance = 1e-9;
  const LikelihoodEstimate climbed =
      maximize_likelihood(sensors.function(), two_states(0.6, 0.4), options);
  const std::vector<double> x = {climbed.transition.values()[0], climbed.transition.values()[2],
                                 sensors.sensors().values()[0], sensors.sensors().values()[2]};
  constexpr double kStep = 1e-3;
  const auto value = [&](Eigen::Index i, double first, Eigen::Index j, double second) {
    std::vector<double> y = x;
    y[static_cast<std::size_t>(i)] += first;
    y[static_cast<std::size_t>(j)] += second;
    return joint(setting, two_states(y[0], y[1]), two_sensors(y[2], y[3]));
  };
  Eigen::MatrixXd whole(4, 4);
  for (Eigen::Index i = 0; i < 4; ++i) {
    for (Eigen::Index j = 0; j < 4; ++j) {
      whole(i, j) = -(value(i, kStep, j, kStep) - value(i, kStep, j, -kStep) -
                      value(i, -kStep, j, kStep) + value(i, -kStep, j, -kStep)) /
                    (4.0 * kStep * kStep);
    }
  }
  const Eigen::MatrixXd covariance = whole.inverse();
  const int before = sensors.passes();
  const ObservedInformation found =
      observed_information(sensors.function(), climbed.transition, climbed.pass);
  EXPECT_LE(sensors.passes() - before, 4 * found.passes);
  const Eigen::MatrixXd profiled = Eigen::MatrixXd(found.matrix).inverse();
  for (Eigen::Index i = 0; i < 2; ++i) {
    EXPECT_NEAR(profiled(i, i) / covariance(i, i), 1.0, 0.01);
    // The test would see sensors that are taken as exact.
    const Eigen::MatrixXd exact = whole.topLeftCorner(2, 2).inverse();
    EXPECT_LT(exact(i, i), 0.9 * covariance(i, i));
  }
}

// The spread of the batches' scores is the information by differences, labelled rows included.
TEST_P(UncertainSensorsOf, BatchesKnowOfTheSensorsToo) {
  for (const int labelled : {10, 300}) {
    SensorCase one;
    one.timing = GetParam();
    one.steps = 400'000;
    one.labelled = labelled;
    const Setting setting(one, 4);
    UncertainSensors sensors(setting.likelihood(), setting.model);
    const LikelihoodEstimate climbed = maximize_likelihood(
        sensors.function(), mixed_with_uniform(setting.truth.transition(), 0.1));
    const detail::FreeCoordinates free(climbed.transition);
    PassOptions batches;
    batches.batches = 1024;
    const LikelihoodPass pass = sensors.pass(climbed.transition, batches);
    std::vector<double> sums(pass.score.size(), 0.0);
    for (std::size_t i = 0; i < pass.batch_scores.size(); ++i) {
      sums[i % sums.size()] += pass.batch_scores[i];
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      EXPECT_NEAR(sums[i], pass.score[i], 1e-2 * (1.0 + std::abs(pass.score[i])));
    }
    const Eigen::MatrixXd by_batches = Eigen::MatrixXd(free.batch_information(pass)).inverse();
    const Eigen::MatrixXd by_differences =
        Eigen::MatrixXd(
            observed_information(sensors.function(), climbed.transition, climbed.pass).matrix)
            .inverse();
    for (Eigen::Index i = 0; i < free.size(); ++i) {
      EXPECT_NEAR(std::sqrt(by_batches(i, i) / by_differences(i, i)), 1.0, 0.15) << labelled;
    }
  }
}

TEST(UncertainSensors, SameCallsGiveTheSameBitsForAnyNumberOfThreads) {
  SensorCase one;
  one.steps = 40'000;
  const Setting setting(one, 5);
  const auto climb = [&](Parallelism parallelism) {
    UncertainSensors sensors(setting.likelihood(parallelism), setting.model);
    return maximize_likelihood(sensors.function(), TransitionModel::uniform(3, 2)).transition;
  };
  EXPECT_EQ(climb({1}), climb({4}));
}

// With very many labelled rows sensors are as good as exact, with none the log alone must tell.
TEST(UncertainSensors, ManyLabelledRowsAreExactSensors) {
  SensorCase one;
  one.labelled = 10'000'000;
  const TransitionEstimate uncertain = estimate_calibrated(one, 1);
  one.exact = true;
  const TransitionEstimate exact = estimate_calibrated(one, 1);
  for (std::size_t i = 0; i < exact.standard_error.size(); ++i) {
    EXPECT_NEAR(uncertain.transition.values()[i], exact.transition.values()[i], 2e-3);
    EXPECT_NEAR(uncertain.standard_error[i] / exact.standard_error[i], 1.0, 0.02);
  }
  EXPECT_EQ(uncertain.labelled_rows, 60'000'000.0);
  ASSERT_TRUE(uncertain.sensors.has_value());
  EXPECT_FALSE(exact.sensors.has_value());
}

TEST(UncertainSensors, OneTableForAllActionsStaysOne) {
  SensorCase one;
  one.shared = true;
  const TransitionEstimate estimate = estimate_calibrated(one, 2);
  EXPECT_TRUE(estimate.sensors->matrix(Action{0}) == estimate.sensors->matrix(Action{1}));
  EXPECT_EQ(estimate.labelled_rows, 90.0);
  const Pomdp truth = truth_of(one, 2);
  const Pomdp given = calibrated(truth, one, 2);
  const double before =
      (given.sensors().matrix(Action{0}) - truth.sensors().matrix(Action{0})).norm();
  const double after =
      (estimate.sensors->matrix(Action{0}) - truth.sensors().matrix(Action{0})).norm();
  EXPECT_LT(after, before);  // the log knows more than 90 rows
}

TEST(UncertainSensors, AStateThatWasNeverLabelledIsWarnedOf) {
  SensorCase one;
  one.steps = 20'000;
  const Pomdp truth = truth_of(one, 3);
  PomdpParts parts = calibrated(truth, one, 3).parts();
  std::vector<double> counts(parts.observation_counts->values().begin(),
                             parts.observation_counts->values().end());
  std::fill_n(counts.begin() + 4, 4, 0.0);  // (action 0, state 1)
  parts.observation_counts = ObservationCounts(3, 2, 4, counts);
  const Pomdp model = UncertainSensors::opened(Pomdp(std::move(parts)));
  TransitionLikelihood rows(model);
  const Trajectory log = play_uniformly(truth, one.steps, 0.0, 3);
  rows.append(log.actions, log.observations);
  const TransitionEstimate estimate =
      estimate_with_sensors(likelihood_rows(rows), {TransitionModel::uniform(3, 2)}, model, {});
  EXPECT_THAT(estimate.warnings, testing::Contains(HasSubstr("sensors of (0, 1)")));
}

// Two states with the same labelled rows, and one with none against one with few.
TEST(UncertainSensors, WhereNamesAreInDoubtNothingIsDetermined) {
  SensorCase one;
  const Pomdp truth = truth_of(one, 3);
  for (const bool equal : {true, false}) {
    PomdpParts parts = calibrated(truth, one, 3).parts();
    std::vector<double> counts(parts.observation_counts->values().begin(),
                               parts.observation_counts->values().end());
    for (std::size_t i = 0; i < 8; ++i) {  // states 0 and 1, both actions
      const std::size_t entry = i % 4 + 12 * (i / 4);
      if (!equal) counts[entry] = 0.0;
      counts[entry + 4] = counts[entry];
    }
    parts.observation_counts = ObservationCounts(3, 2, 4, counts);
    const Pomdp model = UncertainSensors::opened(Pomdp(std::move(parts)));
    TransitionLikelihood rows(model);
    const Trajectory log = play_uniformly(truth, one.steps, 0.0, 3);
    rows.append(log.actions, log.observations);
    LikelihoodEstimatorOptions options;
    options.regions = true;
    const TransitionEstimate estimate = estimate_with_sensors(
        likelihood_rows(rows), {TransitionModel::uniform(3, 2)}, model, options);
    EXPECT_EQ(estimate.status, EstimateStatus::flagged);
    EXPECT_EQ(estimate.flagged.size(), 6U);
    EXPECT_THAT(estimate.warnings, testing::Contains(HasSubstr("which state is '0' and which")));
    for (std::size_t i = 0; i < estimate.standard_error.size(); ++i) {
      EXPECT_TRUE(std::isnan(estimate.standard_error[i]));
      EXPECT_EQ(estimate.upper[i] - estimate.lower[i], 1.0);
      EXPECT_EQ(estimate.joint_region.upper[i] - estimate.joint_region.lower[i], 1.0);
    }
    EXPECT_EQ(estimate.row_region.l1, std::vector<double>(6, 2.0));
  }
}

TEST(UncertainSensors, WhatCannotBeIsRefusedByName) {
  SensorCase one;
  one.steps = 100;
  const Setting setting(one, 1);
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no exception";
  };
  EXPECT_THAT(message([&] { UncertainSensors(setting.likelihood(), setting.truth); }),
              HasSubstr("no observation_counts"));
  SensorCase large = one;
  large.observations = 101;
  large.min_alpha = 0.0;
  const Pomdp wide = calibrated(truth_of(large, 1), large, 1);
  EXPECT_FALSE(UncertainSensors::possible(wide));
  EXPECT_THAT(message([&] { UncertainSensors(setting.likelihood(), wide); }),
              HasSubstr("606 entries"));
  UncertainSensors sensors(setting.likelihood(), setting.model);
  PassOptions options;
  options.emissions = true;
  EXPECT_THAT(message([&] { (void)sensors.pass(TransitionModel::uniform(3, 2), options); }),
              HasSubstr("neither given sensors"));
}

// A part of estimation_sensors_coverage. With the sensors as exact 60 to 80 % are inside.
TEST(UncertainSensors, IntervalsHoldWhatTheyPromise) {
  SensorCase one;
  one.models = 40;
  const SensorCoverage found = measure_coverage(one);
  EXPECT_GT(found.inside, 0.93 - 4.9 * found.error);
  EXPECT_LT(found.flagged, 0.3);
  one.exact = true;
  EXPECT_LT(measure_coverage(one).inside, 0.85);
}

}  // namespace
}  // namespace oas::test
