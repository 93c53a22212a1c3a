// Sensors from labelled rows: exact counts in both timings, intervals that hold, blind sensors that
// are not taken for seeing ones.

#include "oas/sensors/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/sensors/revealing.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Pomdp calibration_model(Timing timing, std::uint64_t seed, int observations = 4) {
  test::RandomModelOptions options;
  options.timing = timing;
  options.concentration = 2.0;
  options.num_observations = observations;
  options.min_alpha = 0.25;
  return test::random_model(options, seed);
}

SensorCounts counted(const Pomdp& model, const Trajectory& rows) {
  SensorCounter counter(model);
  counter.start_run();
  // Blocks must not matter.
  counter.add(rows, 0, rows.size() / 3);
  counter.add(rows, rows.size() / 3, rows.size() - rows.size() / 3);
  return counter.finish();
}

TEST(Calibration, CountsTheStateThatEmits) {
  Trajectory rows;
  rows.actions = {Action{0}, Action{1}, Action{0}, Action{1}};
  rows.observations = {Observation{2}, Observation{0}, kMissing, Observation{3}};
  rows.states = {State{1}, State{2}, State{0}, State{1}};
  SensorCounts before = counted(calibration_model(Timing::before, 1), rows);
  EXPECT_EQ(before.at(Action{0}, State{1}, Observation{2}), 1);
  EXPECT_EQ(before.at(Action{1}, State{2}, Observation{0}), 1);
  EXPECT_EQ(before.at(Action{1}, State{1}, Observation{3}), 1);
  EXPECT_EQ(before.tally.unused, 1);
  SensorCounts after = counted(calibration_model(Timing::after, 1), rows);
  EXPECT_EQ(after.at(Action{0}, State{2}, Observation{2}), 1);
  EXPECT_EQ(after.at(Action{1}, State{0}, Observation{0}), 1);
  EXPECT_EQ(after.tally.unused, 2);  // the missing one, and the last, whose state nobody saw
  for (const SensorCounts& counts : {before, after}) {
    EXPECT_EQ(counts.tally.rows, 4);
    EXPECT_EQ(counts.tally.runs, 1);
  }
}

// Reading-first rows as they stand in a file: the state of a row emitted its reading, under the
// action of the row before; the last row counts, and so does a row alone.
SensorCounts counted_readings(const Pomdp& model) {
  Trajectory rows;
  rows.actions = {Action{1}, Action{0}, Action{-1}, Action{1}, Action{0}};
  rows.observations = {Observation{2}, Observation{0}, Observation{3}, Observation{1}, kMissing};
  rows.states = {State{1}, State{2}, State{0}, State{1}, State{0}};
  SensorCounter counter(model);
  counter.start_run();
  counter.add(rows, 0, 2);
  counter.add(rows, 2, 1);
  for (std::size_t run = 3; run < 5; ++run) {
    counter.start_run();
    counter.add(rows, run, 1);
  }
  return counter.finish();
}

PomdpParts reading_first_parts() {
  PomdpParts parts = calibration_model(Timing::after, 1).parts();
  parts.rows = Rows::reading_first;
  parts.sensors = ObservationModel(3, 2, 4, std::vector<double>(24, 0.25));
  return parts;
}

TEST(Calibration, CountsReadingFirstRowsAsTheyStand) {
  SensorCounts counts = counted_readings(Pomdp(reading_first_parts()));
  EXPECT_EQ(counts.at(Action{1}, State{2}, Observation{0}), 1);
  EXPECT_EQ(counts.at(Action{0}, State{0}, Observation{3}), 1);
  EXPECT_EQ(std::accumulate(counts.values.begin(), counts.values.end(), 0L), 2);
  std::vector<std::int64_t> first(12, 0);
  first[4 + 2] = first[4 + 1] = 1;  // state 1, observations 2 and 1
  EXPECT_EQ(counts.first, first);
  EXPECT_EQ(counts.tally.rows, 5);
  EXPECT_EQ(counts.tally.runs, 3);
  EXPECT_EQ(counts.tally.unused, 1);
  EXPECT_EQ(counts.tally.missing, 1);
  counts.add(counts);
  EXPECT_EQ(counts.first[6], 2);
  // Their sensor is known: they teach nothing.
  PomdpParts parts = reading_first_parts();
  parts.first_observation =
      ObservationModel(3, 1, 4, {1, 0, 0, 0, 0.5, 0.5, 0, 0, 0.25, 0.25, 0.25, 0.25});
  const SensorCounts known = counted_readings(Pomdp(parts));
  EXPECT_TRUE(known.first.empty());
  EXPECT_EQ(known.tally.unused, 3);
  EXPECT_EQ(known.tally.known_first, 2);
  EXPECT_EQ(
      unused_rows_text(known.tally, Timing::after, Rows::reading_first),
      "without observation: 1; of an unknown state: 0; first readings, whose sensor the model "
      "states: 2");
}

// First readings make a sensor of their own where actions have different ones, and count for the
// one sensor where they have not.
TEST(Calibration, FirstReadingsTeachTheirSensor) {
  const Pomdp model(reading_first_parts());
  SensorCounts counts(3, 2, 4);
  counts.values.assign(24, 10);
  counts.first = {3, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8};
  const Calibration apart = calibrate(counts, model);
  ASSERT_TRUE(apart.first_observation.has_value());
  EXPECT_EQ((*apart.first_observation)(Action{0}, State{0}, Observation{0}), 0.75);
  EXPECT_EQ((*apart.first_observation)(Action{0}, State{2}, Observation{3}), 1.0);
  EXPECT_EQ(apart.sensors(Action{0}, State{2}, Observation{3}), 0.25);
  CalibrationOptions options;
  options.same_for_all_actions = true;
  Calibration together = calibrate(counts, model, options);
  EXPECT_FALSE(together.first_observation.has_value());
  EXPECT_EQ(together.counts.at(Action{1}, State{2}, Observation{3}), 28);
  EXPECT_EQ(together.sensors(Action{1}, State{2}, Observation{3}), 28.0 / 88.0);
  counts.first[5] = 0;
  try {
    static_cast<void>(calibrate(counts, model));
    ADD_FAILURE();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("no first reading is labelled with state '1'"));
  }
  options.same_for_all_actions = false;
  options.prior = 1.0;
  const Calibration prior = calibrate(counts, model, options);
  EXPECT_EQ((*prior.first_observation)(Action{0}, State{1}, Observation{2}), 0.25);
  EXPECT_EQ((*prior.first_observation)(Action{0}, State{0}, Observation{0}), 0.5);
}

class CalibrationTimings : public ::testing::TestWithParam<Timing> {};
INSTANTIATE_TEST_SUITE_P(All, CalibrationTimings, ::testing::Values(Timing::before, Timing::after));

// 150 logs, 6 rows (action, state) each: the share of rows whose four intervals all hold has a
// standard deviation below 0.01. Taking the wrong state would leave almost none.
TEST_P(CalibrationTimings, IntervalsHoldForWholeRowsAndAlphaIsInside) {
  const Pomdp model = calibration_model(GetParam(), 7);
  const SensorReport truth = analyse_sensors(model.sensors());
  int held = 0;
  int alphas = 0;
  constexpr int kLogs = 150;
  CalibrationOptions options;
  options.draws = 200;
  for (int log = 0; log < kLogs; ++log) {
    const Trajectory rows = test::play_uniformly(model, 4000, 0.05, static_cast<unsigned>(log));
    const Calibration result = calibrate(counted(model, rows), model, options);
    for (std::size_t row = 0; row < 6; ++row) {
      bool all = true;
      for (std::size_t i = 4 * row; i < 4 * row + 4; ++i) {
        const double z = model.sensors().values()[i];
        all = all && result.lower[i] <= z && z <= result.upper[i];
      }
      held += all;
    }
    for (std::size_t a = 0; a < 2; ++a) {
      alphas += result.alpha[a].lower <= truth.actions[a].alpha &&
                truth.actions[a].alpha <= result.alpha[a].upper;
    }
    EXPECT_TRUE(result.suffices()) << result.brief();
  }
  EXPECT_GT(held, 0.92 * 6 * kLogs);
  EXPECT_LT(held, 0.995 * 6 * kLogs);
  EXPECT_GT(alphas, 0.95 * 2 * kLogs);
}

// Two states that look alike: their estimated columns never are, but that is no proof of anything.
TEST_P(CalibrationTimings, ABlindSensorIsNotTakenForASeeingOne) {
  const Pomdp seeing = calibration_model(GetParam(), 7, 8);
  PomdpParts parts = seeing.parts();
  std::vector<double> values(parts.sensors.values().begin(), parts.sensors.values().end());
  std::copy_n(values.begin(), 8, values.begin() + 8);  // action 0: states 0 and 1
  parts.sensors = ObservationModel(3, 2, 8, values);
  const Pomdp model(parts);
  int fooled = 0;
  constexpr int kLogs = 60;
  CalibrationOptions options;
  options.draws = 100;
  for (int log = 0; log < kLogs; ++log) {
    const Trajectory rows = test::play_uniformly(model, 2000, 0.0, static_cast<unsigned>(log));
    const Calibration result = calibrate(counted(model, rows), model, options);
    EXPECT_GT(result.alpha[0].value, 0.0);
    fooled += result.alpha[0].lower > 0.0;
    if (result.alpha[0].lower == 0.0) {
      EXPECT_FALSE(result.suffices());
      EXPECT_THAT(result.warnings.front(), HasSubstr("do not show"));
    }
  }
  EXPECT_LE(fooled, 3);
}

TEST(Calibration, TwoReadingsCannotTellThreeStatesApart) {
  PomdpParts parts = calibration_model(Timing::before, 1).parts();
  parts.observations = Labels(2, "observations");
  parts.sensors = ObservationModel(3, 2, 2, std::vector<double>(12, 0.5));
  parts.reward = {};
  const Pomdp model(parts);
  SensorCounts counts(3, 2, 2);
  for (std::size_t i = 0; i < 12; ++i) counts.values[i] = 100 + 30 * static_cast<int>(i % 5);
  const Calibration result = calibrate(counts, model);
  EXPECT_FALSE(result.suffices());
  EXPECT_THAT(result.warnings.front(), HasSubstr("2 observations cannot tell 3 states apart"));
}

TEST(Calibration, AnUnseenRowNeedsAPrior) {
  const Pomdp model = calibration_model(Timing::before, 1);
  SensorCounts counts(3, 2, 4);
  for (std::size_t i = 0; i < 20; ++i) counts.values[i] = 10;  // all but action 1 in state 2
  try {
    static_cast<void>(calibrate(counts, model));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("(1, 2)"));
    EXPECT_THAT(error.what(), HasSubstr("prior"));
  }
  CalibrationOptions options;
  options.prior = 1.0;
  const Calibration result = calibrate(counts, model, options);
  EXPECT_DOUBLE_EQ(result.sensors(Action{0}, State{0}, Observation{0}), 0.25);
  EXPECT_DOUBLE_EQ(result.sensors(Action{1}, State{2}, Observation{3}), 0.25);
  EXPECT_EQ(result.lower[20], 0.0);
  EXPECT_EQ(result.upper[20], 1.0);
  EXPECT_THAT(result.warnings.front(), HasSubstr("(1, 2)"));
  options.prior = -1.0;
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.prior = 0.0;
  options.draws = 5;
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.draws = 100;
  options.confidence = 0.0;
  EXPECT_THROW(options.validate(), InvalidArgument);
}

// Sensors that are the same for all actions, a policy that reacts to the observation before or to
// that of the row itself.
SensorCounts selected(const Pomdp& model, bool from_own_row, std::uint64_t seed) {
  Rng rng({seed, 3, Role::test});
  Trajectory rows;
  State state{0};
  Observation last{0};
  for (int t = 0; t < 3000; ++t) {
    const Observation seen{sample_categorical(model.sensors().distribution(Action{0}, state), rng)};
    const Observation known = from_own_row ? seen : last;
    const Action action{rng.uniform() < (known == 0 ? 0.8 : 0.3) ? 1 : 0};
    rows.actions.push_back(action);
    rows.observations.push_back(seen);
    rows.states.push_back(state);
    last = seen;
    state = State{sample_categorical(model.transition().row(action, state), rng)};
  }
  return counted(model, rows);
}

Pomdp same_sensors() {
  PomdpParts parts = calibration_model(Timing::before, 7).parts();
  std::vector<double> values(parts.sensors.values().begin(), parts.sensors.values().end());
  std::copy_n(values.begin(), values.size() / 2, values.begin() + values.size() / 2);
  parts.sensors = ObservationModel(3, 2, 4, values);
  return Pomdp(parts);
}

// P-values are uniform where actions react to earlier rows only: the mean of 200 is 1/2 within five
// standard deviations of 1/√(12 · 200). Where they react to their own row, all are small.
TEST(ActionDependence, IsSelectionByTheOwnRowAndNothingElse) {
  const Pomdp model = same_sensors();
  double sum = 0.0;
  for (std::uint64_t log = 0; log < 200; ++log) {
    const ActionDependence fair = test_action_dependence(selected(model, false, log));
    EXPECT_EQ(fair.degrees, 9.0);
    sum += fair.p_value;
    if (log < 20) {
      EXPECT_LT(test_action_dependence(selected(model, true, log)).p_value, 1e-6);
    }
  }
  EXPECT_NEAR(sum / 200.0, 0.5, 5.0 / std::sqrt(12.0 * 200.0));
}

TEST(ActionDependence, PoolingUndoesTheSelection) {
  const Pomdp model = same_sensors();
  SensorCounts counts = selected(model, true, 0);
  for (std::uint64_t log = 1; log < 40; ++log) counts.add(selected(model, true, log));
  CalibrationOptions options;
  const auto worst = [&](const Calibration& result) {
    double largest = 0.0;
    for (std::size_t i = 0; i < model.sensors().values().size(); ++i) {
      largest =
          std::max(largest, std::abs(result.sensors.values()[i] - model.sensors().values()[i]));
    }
    return largest;
  };
  const Calibration plain = calibrate(counts, model, options);
  EXPECT_GT(worst(plain), 0.1);
  EXPECT_THAT(plain.warnings, ::testing::Contains(HasSubstr("--same-for-all-actions")));
  options.same_for_all_actions = true;
  const Calibration pooled = calibrate(counts, model, options);
  EXPECT_LT(worst(pooled), 0.015);  // 20,000 rows and more per state: five standard deviations
  EXPECT_EQ(pooled.alpha[0].value, pooled.alpha[1].value);
  options.same_for_all_actions = false;
  options.differ_by_action = true;
  EXPECT_THAT(calibrate(counts, model, options).warnings,
              Not(::testing::Contains(HasSubstr("chosen"))));
  options.same_for_all_actions = true;
  EXPECT_THROW(options.validate(), InvalidArgument);
}

TEST(ActionDependence, EmptyAndNarrowTablesHaveNothingToTest) {
  EXPECT_TRUE(std::isnan(test_action_dependence(SensorCounts(2, 3, 4)).p_value));
  for (const auto& [actions, observations] : {std::pair{1, 4}, std::pair{3, 1}}) {
    SensorCounts counts(2, actions, observations);
    std::fill(counts.values.begin(), counts.values.end(), 1000);
    EXPECT_TRUE(std::isnan(test_action_dependence(counts).p_value));
  }
  SensorCounts few(1, 2, 2);
  few.values = {3, 1, 1, 3};
  EXPECT_TRUE(std::isnan(test_action_dependence(few).p_value));
}

TEST(Calibration, WithoutAnyRowThereIsNoSensor) {
  CalibrationOptions options;
  options.prior = 1.0;
  EXPECT_THROW(static_cast<void>(
                   calibrate(SensorCounts(3, 2, 4), calibration_model(Timing::before, 1), options)),
               InvalidArgument);
}

}  // namespace
}  // namespace oas
