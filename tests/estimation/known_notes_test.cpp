// Rows that say which state was seen, as they are diagnosed: the note is a part of the reading.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "oas/core/sampling.hpp"
#include "oas/estimation/diagnosis/score_walk.hpp"

namespace oas {
namespace {

constexpr int kStates = 3;

// Good, worn, failed for ever; every state gives all of some observations.
Pomdp wearing(int observations) {
  std::vector<double> sensors;
  for (int a = 0; a < 2; ++a) {
    for (int s = 0; s < kStates; ++s) {
      const auto first = sensors.size();
      for (int o = 0; o < observations; ++o) sensors.push_back(1.0 + (o + 2 * s + a) % 4);
      const double sum =
          std::accumulate(sensors.begin() + static_cast<std::ptrdiff_t>(first), sensors.end(), 0.0);
      for (auto i = first; i < sensors.size(); ++i) sensors[i] /= sum;
    }
  }
  PomdpParts parts;
  parts.states = Labels(kStates, "state");
  parts.actions = Labels(2, "action");
  parts.observations = Labels(observations, "observation");
  parts.sensors = ObservationModel(kStates, 2, observations, std::move(sensors));
  parts.transition = TransitionModel(
      kStates, 2, {0.95, 0.04, 0.01, 0, 0.9, 0.1, 0, 0, 1, 0.9, 0.1, 0, 0.5, 0.5, 0, 0, 0, 1});
  parts.start = {0.8, 0.2, 0};
  return Pomdp(std::move(parts));
}

// Units that stop once they fail, which is noticed; some rows are inspected.
DiagnosedRows noted_rows(const Pomdp& model, int units, std::uint64_t seed) {
  DiagnosedRows rows;
  rows.finite = std::make_shared<const Pomdp>(model);
  rows.noticed = {0, 0, 1};
  Rng rng({seed, 0, Role::test});
  for (int u = 0; u < units; ++u) {
    rows.run_starts.push_back(rows.size());
    rows.starts.emplace_back();
    rows.unit_of_run.push_back(u);
    rows.units.push_back(fmt::format("{}", u));
    State state{sample_categorical(model.start(), rng)};
    for (int t = 0; t < 60; ++t) {
      const Action action{static_cast<int>(rng.below(8) == 0)};
      const bool missing = rng.below(10) == 0;
      const bool inspected = rng.below(6) == 0;
      const Vector law = model.sensors().matrix(action).col(state.value());
      const Observation seen = missing
                                   ? kMissing
                                   : Observation{sample_categorical(
                                         {law.data(), static_cast<std::size_t>(law.size())}, rng)};
      const bool failed = state == 2;
      rows.notes.push_back(failed || inspected ? state : DiagnosedRows::kNoneNoticed);
      rows.actions.push_back(action);
      rows.observations.push_back(seen);
      rows.place.push_back(t);
      for (State s{0}; s < kStates; ++s) {
        const bool allowed = rows.notes.back() >= 0 ? s == rows.notes.back() : s != 2;
        rows.likelihoods.push_back(!allowed  ? 0.0
                                   : missing ? 1.0
                                             : model.sensors()(action, s, seen));
      }
      if (failed) break;
      const auto next = model.transition().matrix(action).row(state.value());
      const std::vector<double> to(next.begin(), next.end());
      state = State{sample_categorical(to, rng)};
    }
  }
  return rows;
}

// The first row with such a note, read or not.
std::size_t row_with(const DiagnosedRows& rows, State note, bool missing) {
  for (std::size_t t = 0; t < rows.size(); ++t) {
    if (rows.notes[t] == note && (rows.observations[t] == kMissing) == missing) return t;
  }
  ADD_FAILURE() << "no such row";
  return 0;
}

// In every state exactly one of all readings with their notes is seen.
TEST(KnownNotes, OthersAreAllReadingsWithAllNotes) {
  const Pomdp model = wearing(4);
  const DiagnosedRows rows = noted_rows(model, 200, 1);
  const AnyModel any = ContinuousPomdp(model);
  const SensorDirections sensors(any, rows);
  ASSERT_GT(sensors.size(), 0);
  const Eigen::RowVectorXd emitter = (Eigen::RowVectorXd(3) << 0.7, 0.29, 0.01).finished();
  Rng rng({2, 0, Role::test});
  for (const bool missing : {false, true}) {
    for (const State note : {DiagnosedRows::kNoneNoticed, State{0}, State{2}}) {
      OtherReadings others;
      sensors.others(row_with(rows, note, missing), emitter, rng, others);
      const int groups = note == 0 ? 3 : 2;
      ASSERT_TRUE(others.all);
      EXPECT_EQ(others.count, groups * (missing ? 1 : 4));
      EXPECT_NEAR(others.weights.sum(), 1.0, 1e-12);
      EXPECT_TRUE(others.likelihoods.colwise().sum().isApproxToConstant(1.0, 1e-12));
      EXPECT_NEAR((others.likelihoods * emitter.transpose() - others.weights).norm(), 0.0, 1e-12);
      EXPECT_NEAR(others.sensor_slopes.colwise().sum().norm(), 0.0, 1e-12);
    }
  }
}

// However rare a note is, it takes part, and with its own weight.
TEST(KnownNotes, DrawnReadingsHoldRareNotes) {
  const Pomdp model = wearing(30);
  const DiagnosedRows rows = noted_rows(model, 200, 3);
  const AnyModel any = ContinuousPomdp(model);
  const SensorDirections sensors(any, rows);
  const Eigen::RowVectorXd emitter = (Eigen::RowVectorXd(3) << 0.7, 0.2999, 0.0001).finished();
  Rng rng({4, 0, Role::test});
  OtherReadings others;
  sensors.others(row_with(rows, DiagnosedRows::kNoneNoticed, false), emitter, rng, others);
  EXPECT_FALSE(others.all);
  double failed = 0.0;
  for (Eigen::Index j = 0; j < others.count; ++j) {
    const bool of_failed = others.likelihoods(j, 2) > 0.0;
    EXPECT_NE(of_failed, others.likelihoods(j, 0) + others.likelihoods(j, 1) > 0.0);
    if (of_failed) failed += others.weights(j);
  }
  EXPECT_NEAR(failed, 0.0001, 1e-15);
  EXPECT_NEAR(others.weights.sum(), 1.0, 1e-12);
}

// At the true dynamics scores are martingale differences of the information that is said of them.
TEST(KnownNotes, ScoresHaveTheInformationThatOthersSay) {
  const Pomdp model = wearing(4);
  const DiagnosedRows rows = noted_rows(model, 1500, 5);
  const AnyModel any = ContinuousPomdp(model);
  const SensorDirections sensors(any, rows);
  const StratifiedFit truth{
      {FittedDynamics{model.transition(), std::vector<double>(6, 1e4), 0.0, {}}}, {}};
  ScoreWalk walk(any, rows, truth, sensors);
  Vector sum = Vector::Zero(walk.size());
  Vector squares = Vector::Zero(walk.size());
  Vector information = Vector::Zero(walk.size());
  walk.run(1, [&](const ScoredRow& row) {
    sum += row.score;
    squares += row.score.cwiseAbs2();
    information += (row.weights.asDiagonal() * row.others.cwiseAbs2()).colwise().sum().transpose();
    EXPECT_NEAR((row.weights.transpose() * row.others).norm(), 0.0, 1e-9);
  });
  for (Eigen::Index i = 0; i < walk.size(); ++i) {
    if (information(i) < 1.0) continue;
    EXPECT_LT(std::abs(sum(i)) / std::sqrt(information(i)), 5.5) << i;
    EXPECT_NEAR(squares(i) / information(i), 1.0, 0.25) << i;
  }
}

}  // namespace
}  // namespace oas
