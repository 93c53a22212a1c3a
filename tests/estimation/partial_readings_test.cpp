// Readings that lack a component, as they are diagnosed.
#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "oas/core/sampling.hpp"
#include "oas/estimation/diagnosis/reading_ranks.hpp"
#include "oas/estimation/diagnosis/score_walk.hpp"

namespace oas {
namespace {

// Rows of readings with two components, of two states, of which some lack one.
DiagnosedRows partial_rows(const ContinuousPomdp& model, int count, double shift) {
  DiagnosedRows rows;
  rows.run_starts = {0};
  rows.starts = {RunStart()};
  rows.unit_of_run = {0};
  rows.units = {"0"};
  Rng rng({11, 0, Role::test});
  for (int t = 0; t < count; ++t) {
    const State state{static_cast<int>(rng.below(2))};
    std::vector<double> reading(2);
    model.sensors()(Action{0}, state).sample(reading, rng);
    reading[1] += shift;
    if (t % 3 != 0) reading[static_cast<std::size_t>(t % 3 - 1)] = std::nan("");
    rows.actions.emplace_back(0);
    rows.observations.emplace_back(0);
    rows.readings.insert(rows.readings.end(), reading.begin(), reading.end());
    rows.likelihoods.resize(rows.likelihoods.size() + 2);
    model.sensors().likelihood(Action{0}, reading, std::span(rows.likelihoods).last(2));
    rows.place.push_back(t);
  }
  return rows;
}

ContinuousPomdp two_sensors(double mean) {
  PomdpParts parts;
  parts.states = Labels(2, "state");
  parts.actions = Labels(1, "action");
  parts.observations = Labels(1, "observation");
  parts.sensors = ObservationModel(2, 1, 1, {1.0, 1.0});
  const auto of = [&](double at) {
    return VectorDensity({Density::gaussian(at + mean, 1.0), Density::gaussian(-at, 2.0)});
  };
  return ContinuousPomdp(Pomdp(parts), DensitySensors(2, 1, {of(0.0), of(2.0)}));
}

TEST(PartialReadings, WhatLacksAComponentIsScoredByTheOther) {
  const AnyModel model = two_sensors(0.0);
  const DiagnosedRows rows = partial_rows(std::get<ContinuousPomdp>(model), 9, 0.0);
  const SensorDirections sensors(model, rows);
  ASSERT_EQ(sensors.size(), 4);
  constexpr double kStep = 1e-6;  // moments are those of 1024 points, right to a thousandth
  const DensitySensors moved = two_sensors(kStep * sensors.scale(0)).sensors();
  const Eigen::RowVectorXd emitter = Eigen::RowVectorXd::Constant(2, 0.5);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    Eigen::RowVectorXd likelihood(2);
    Matrix slopes(4, 2);
    ASSERT_TRUE(sensors.seen(t, likelihood, slopes));
    const auto reading = std::span(rows.readings).subspan(2 * t, 2);
    std::vector<double> there(2);
    moved.likelihood(Action{0}, reading, there);
    for (int s = 0; s < 2; ++s) {
      const double slope = (there[static_cast<std::size_t>(s)] - likelihood(s)) / kStep;
      EXPECT_NEAR(slopes(0, s), slope, 2e-3 * std::abs(slope) + 1e-6);
    }
    OtherReadings others;
    Rng rng({3, 0, Role::test});
    sensors.others(t, emitter, rng, others);
    for (Eigen::Index i = 0; i < 2; ++i) {
      const bool missing = std::isnan(reading[static_cast<std::size_t>(i)]);
      EXPECT_EQ(slopes.middleRows(2 * i, 2).isZero(), missing);
      EXPECT_EQ(others.sensor_slopes.middleCols(2 * i, 2).isZero(), missing);
      EXPECT_EQ(others.readings.col(i).array().isNaN().all(), missing);
      EXPECT_EQ(others.readings.col(i).array().isNaN().any(), missing);
    }
    std::vector<double> own(2);
    const std::vector<double> first = {others.readings(0, 0), others.readings(0, 1)};
    std::get<ContinuousPomdp>(model).sensors().likelihood(Action{0}, first, own);
    EXPECT_EQ(others.likelihoods(0, 0), own[0]);
  }
}

TEST(PartialReadings, RanksUseTheComponentsThatAreThere) {
  const AnyModel model = two_sensors(0.0);
  const FittedDynamics fresh{TransitionModel(2, 1, {0.5, 0.5, 0.5, 0.5}), {1e3, 1e3}, 0.0};
  const StratifiedFit fit{{fresh}, {}};
  for (const double shift : {0.0, 0.6}) {
    const DiagnosedRows rows = partial_rows(std::get<ContinuousPomdp>(model), 3000, shift);
    const SensorDirections sensors(model, rows);
    ScoreWalk walk(model, rows, fit, sensors);
    ReadingRanks ranks(*sensors.reading_likelihood(), 1);
    walk.run(1, [&](const ScoredRow& row) {
      ranks.add(row, Action{0}, std::span(rows.readings).subspan(2 * row.row, 2), row.row == 0);
    });
    const ReadingFit result = ranks.finish();
    ASSERT_EQ(result.parts.size(), 3U);
    EXPECT_EQ(result.parts[0].rows, 2000.0);
    EXPECT_EQ(result.parts[1].rows, 2000.0);
    EXPECT_EQ(result.parts[2].rows, 3000.0);
    EXPECT_GT(result.parts[0].p_value, 1e-3);
    EXPECT_EQ(result.parts[1].p_value<1e-6, shift> 0.0);
    EXPECT_EQ(result.worst().name, shift > 0.0 ? "reading 2" : result.worst().name);
    EXPECT_EQ(result.p_value > 1e-3, shift == 0.0);
  }
}

// A component that is there in every second row has no neighbours, however slowly it moves.
TEST(PartialReadings, RanksOfRowsThatAreNoNeighboursAreNotCompared) {
  const AnyModel model = two_sensors(0.0);
  const FittedDynamics fresh{TransitionModel(2, 1, {0.5, 0.5, 0.5, 0.5}), {1e3, 1e3}, 0.0};
  const StratifiedFit fit{{fresh}, {}};
  DiagnosedRows rows = partial_rows(std::get<ContinuousPomdp>(model), 400, 0.0);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    rows.readings[2 * t] = t % 2 == 0 ? std::sin(0.05 * static_cast<double>(t)) : std::nan("");
    rows.readings[2 * t + 1] = 0.0;
  }
  const SensorDirections sensors(model, rows);
  ScoreWalk walk(model, rows, fit, sensors);
  ReadingRanks ranks(*sensors.reading_likelihood(), 1);
  walk.run(1, [&](const ScoredRow& row) {
    ranks.add(row, Action{0}, std::span(rows.readings).subspan(2 * row.row, 2), row.row == 0);
  });
  EXPECT_EQ(ranks.finish().parts[0].rows, 200.0);
  EXPECT_EQ(ranks.finish().parts[0].dependence, 0.0);
}

}  // namespace
}  // namespace oas
