#include <gmock/gmock.h>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/estimation/diagnosis/row_timing.hpp"

/// Rows of a file as `before`, `after` and reading-first: what becomes of them, and which of the
/// three the log fits.
namespace oas {
namespace {

const std::vector<double> kOneSensor = {0.7, 0.2, 0.1, 0.1, 0.3, 0.6};
const std::vector<double> kOtherSensor = {0.1, 0.6, 0.3, 0.5, 0.1, 0.4};
const TransitionModel kMoves(2, 2, {0.9, 0.1, 0.2, 0.8, 0.6, 0.4, 0.5, 0.5});

Pomdp model_of(RowOrder order, bool same_sensors) {
  PomdpParts parts;
  parts.timing = order == RowOrder::before ? Timing::before : Timing::after;
  parts.states = Labels(2, "state");
  parts.actions = Labels(2, "action");
  parts.observations = Labels(3, "observation");
  parts.start = {0.7, 0.3};
  std::vector<double> sensors = kOneSensor;
  const auto& second = same_sensors ? kOneSensor : kOtherSensor;
  sensors.insert(sensors.end(), second.begin(), second.end());
  parts.sensors = ObservationModel(2, 2, 3, sensors);
  if (order == RowOrder::reading_first) {
    parts.rows = Rows::reading_first;
    parts.first_observation = ObservationModel(2, 1, 3, kOneSensor);
  }
  return Pomdp(parts);
}

// Rows as they stand in a file, of an operator who acts on the last reading that is known.
DiagnosedRows file_rows(RowOrder order, bool same_sensors, int units, int steps, int seed) {
  const Pomdp model = model_of(order, same_sensors);
  Rng rng({static_cast<std::uint64_t>(seed), 0, Role::test});
  DiagnosedRows rows;
  for (int unit = 0; unit < units; ++unit) {
    rows.run_starts.push_back(rows.size());
    rows.starts.emplace_back();
    rows.unit_of_run.push_back(unit);
    rows.units.push_back(std::to_string(unit));
    State state{rng.uniform() < 0.7 ? 0 : 1};
    int known = 0;
    Action last{0};
    for (int t = 0; t < steps; ++t) {
      const auto read = [&](Action by) {
        return sample_categorical(model.sensors().distribution(by, state), rng);
      };
      const auto choose = [&] { return Action{rng.uniform() < (known == 2 ? 0.8 : 0.2) ? 1 : 0}; };
      if (order == RowOrder::reading_first) known = read(last);
      const Action action = choose();
      if (order == RowOrder::before) known = read(action);
      state = State{rng.uniform() < kMoves(action, state, State{0}) ? 0 : 1};
      if (order == RowOrder::after) known = read(action);
      rows.actions.push_back(action);
      rows.observations.emplace_back(known);
      rows.place.push_back(t + 1);
      last = action;
    }
  }
  return rows;
}

// The same rows as the reader of a model of that order gives them.
DiagnosedRows rows_read_as(RowOrder order, bool same_sensors, const DiagnosedRows& file) {
  if (order != RowOrder::reading_first) return file;
  PomdpParts parts = model_of(order, same_sensors).parts();
  parts.rows = Rows::action_first;
  return rows_in_order(Pomdp(parts), file, order).rows;
}

TEST(RowOrder, ReadingsMoveByOneRowAndBack) {
  DiagnosedRows file = file_rows(RowOrder::reading_first, false, 3, 20, 1);
  file.observations[0] = file.observations[7] = file.observations[59] = kMissing;
  const DiagnosedRows first = rows_read_as(RowOrder::reading_first, false, file);
  ASSERT_EQ(first.size(), 57U);
  EXPECT_EQ(first.starts[0].first()->observation, kMissing);
  EXPECT_EQ(first.starts[1].first()->observation, file.observations[20]);
  EXPECT_EQ(first.observations[0], file.observations[1]);
  const OrderedRows back =
      rows_in_order(model_of(RowOrder::reading_first, false), first, RowOrder::before);
  EXPECT_EQ(chain_of(back.model).timing(), Timing::before);
  EXPECT_EQ(back.rows.run_starts, (std::vector<std::size_t>{0, 19, 38}));
  for (std::size_t t = 0; t < back.rows.size(); ++t) {
    const std::size_t in_file = t + t / 19;
    EXPECT_EQ(back.rows.actions[t], file.actions[in_file]);
    EXPECT_EQ(back.rows.observations[t], file.observations[in_file]);
    EXPECT_EQ(back.rows.place[t], file.place[in_file]);
  }
}

// Readings of densities bring likelihoods, which follow the action that they now belong to.
TEST(RowOrder, LikelihoodsAreThoseOfTheActionBefore) {
  std::vector<VectorDensity> densities;
  for (const double mean : {0.0, 2.0, -1.0, 5.0}) {
    densities.emplace_back(VectorDensity({Density::gaussian(mean, 1.0)}));
  }
  const DensitySensors sensors(2, 2, densities);
  const ContinuousPomdp model(model_of(RowOrder::before, true), sensors);
  DiagnosedRows file = file_rows(RowOrder::before, true, 1, 6, 2);
  for (std::size_t t = 0; t < file.size(); ++t) {
    file.observations[t] = Observation{0};
    file.readings.push_back(0.5 * static_cast<double>(t));
    file.likelihoods.resize(file.likelihoods.size() + 2);
    sensors.likelihood(file.actions[t], std::span(file.readings).last(1),
                       std::span(file.likelihoods).last(2));
  }
  const OrderedRows moved = rows_in_order(model, file, RowOrder::reading_first);
  EXPECT_TRUE(moved.rows.starts[0].first()->likelihood.empty());  // nobody says of which sensor
  for (std::size_t t = 0; t < moved.rows.size(); ++t) {
    std::vector<double> expected(2);
    sensors.likelihood(file.actions[t], std::span(file.readings).subspan(t + 1, 1), expected);
    EXPECT_EQ(moved.rows.readings[t], file.readings[t + 1]);
    EXPECT_EQ(moved.rows.likelihoods[2 * t], expected[0]);
    EXPECT_EQ(moved.rows.likelihoods[2 * t + 1], expected[1]);
  }
}

constexpr RowOrder kOrders[] = {RowOrder::before, RowOrder::after, RowOrder::reading_first};

// Sensors that depend on the action tell all three apart.
TEST(RowOrder, EveryOrderIsToldFromEveryOther) {
  for (const RowOrder truth : kOrders) {
    const DiagnosedRows file = file_rows(truth, false, 4, 1500, 3);
    for (const RowOrder said : kOrders) {
      SCOPED_TRACE(fmt::format("{} said to be {}", to_string(truth), to_string(said)));
      const AnyModel model = model_of(said, false);
      const DiagnosedRows rows = rows_read_as(said, false, file);
      const TimingTest test = test_timing(model, rows, fit_rows(model, rows, {}, {1}), {1});
      ASSERT_EQ(test.rivals.size(), 2U);
      EXPECT_EQ(test.p_value <= 0.01, said != truth);
      if (said == truth) {
        for (const OrderRival& rival : test.rivals) EXPECT_LE(rival.p_value_of_rival(), 0.01);
      } else {
        EXPECT_EQ(to_string(test.best().order), to_string(truth));
      }
    }
  }
}

// Sensors that do not depend on the action tell `after` from the two others, which have the same
// likelihood.
TEST(RowOrder, OnlyAfterIsToldWhereSensorsIgnoreActions) {
  for (const RowOrder truth : kOrders) {
    const DiagnosedRows file = file_rows(truth, true, 4, 1500, 5);
    for (const RowOrder said : kOrders) {
      SCOPED_TRACE(fmt::format("{} said to be {}", to_string(truth), to_string(said)));
      const AnyModel model = model_of(said, true);
      const DiagnosedRows rows = rows_read_as(said, true, file);
      const TimingTest test = test_timing(model, rows, fit_rows(model, rows, {}, {1}), {1});
      ASSERT_EQ(test.rivals.size(), 1U);
      const bool wrong = (said == RowOrder::after) != (truth == RowOrder::after);
      EXPECT_EQ(test.p_value <= 0.01, wrong);
      EXPECT_EQ(test.best().difference > 0.0, wrong);
    }
  }
}

TEST(RowOrder, KnownStatesAndSingleRowsAreNotTested) {
  const AnyModel model = model_of(RowOrder::reading_first, false);
  DiagnosedRows rows = rows_read_as(RowOrder::reading_first, false,
                                    file_rows(RowOrder::reading_first, false, 5, 2, 1));
  const FittedDynamics fitted{kMoves, {1, 1, 1, 1}, 0.0};
  EXPECT_NE(test_timing(model, rows, fitted, {1}).why_not, "");
  rows.notes.assign(rows.size(), DiagnosedRows::kNobodyLooked);
  EXPECT_NE(test_timing(model, rows, fitted, {1}).why_not, "");
  EXPECT_THROW(static_cast<void>(rows_in_order(model, rows, RowOrder::before)), InvalidArgument);
}

}  // namespace
}  // namespace oas
