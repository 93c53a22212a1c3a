#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "oas/core/sampling.hpp"
#include "oas/estimation/diagnosis/change_point.hpp"
#include "oas/estimation/diagnosis/drift_correction.hpp"
#include "oas/estimation/diagnosis/reading_ranks.hpp"
#include "oas/estimation/diagnosis/row_timing.hpp"
#include "oas/estimation/diagnosis/score_tests.hpp"

namespace oas {
namespace {

// Two states, two actions, three observations; sensors do not depend on the action.
Pomdp small_model(Timing timing) {
  PomdpParts parts;
  parts.timing = timing;
  parts.states = Labels(2, "state");
  parts.actions = Labels(2, "action");
  parts.observations = Labels(3, "observation");
  parts.start = {0.7, 0.3};
  const std::vector<double> table = {0.7, 0.2, 0.1, 0.1, 0.3, 0.6};
  std::vector<double> both = table;
  both.insert(both.end(), table.begin(), table.end());
  parts.sensors = ObservationModel(2, 2, 3, both);
  return Pomdp(parts);
}

const TransitionModel kSteady(2, 2, {0.9, 0.1, 0.2, 0.8, 0.6, 0.4, 0.5, 0.5});
const TransitionModel kOther(2, 2, {0.7, 0.3, 0.2, 0.8, 0.6, 0.4, 0.5, 0.5});

struct Story {
  Timing timing = Timing::before;
  bool acts_on_own_reading = false;
  std::size_t change = 1 << 30;   // rows of a unit from here on move by kOther
  bool odd_units_differ = false;  // and those of every second unit
  std::size_t drift = 1 << 30;    // readings of state 0 from here on are those of state 1
  double drifted = 0.0;           // with this probability
  double lost = 0.0;              // and reading 2 is given as 1 with this one
};

DiagnosedRows tell(const Story& story, int units, std::size_t steps, std::uint64_t seed) {
  const Pomdp model = small_model(story.timing);
  Rng rng({seed, 0, Role::test});
  DiagnosedRows rows;
  for (int u = 0; u < units; ++u) {
    rows.run_starts.push_back(rows.size());
    rows.starts.emplace_back();
    rows.unit_of_run.push_back(u);
    rows.units.push_back(std::to_string(u));
    int state = rng.uniform() < 0.7 ? 0 : 1;
    int last = 0;
    for (std::size_t t = 0; t < steps; ++t) {
      const auto read = [&] {
        const bool off = t >= story.drift && state == 0 && rng.uniform() < story.drifted;
        const int got = sample_categorical(
            model.sensors().distribution(Action{0}, State{off ? 1 : state}), rng);
        return got == 2 && t >= story.drift && rng.uniform() < story.lost ? 1 : got;
      };
      const bool different = t >= story.change || (story.odd_units_differ && u % 2 == 1);
      const TransitionModel& moves = different ? kOther : kSteady;
      const auto move = [&](int action) {
        state = rng.uniform() < moves(Action{action}, State{state}, State{0}) ? 0 : 1;
      };
      int seen = 0;
      int action = 0;
      if (story.timing == Timing::before) {
        seen = read();
        const int knows = story.acts_on_own_reading ? seen : last;
        action = rng.uniform() < (knows == 2 ? 0.7 : 0.2) ? 1 : 0;
        move(action);
      } else {
        action = rng.uniform() < (last == 2 ? 0.7 : 0.2) ? 1 : 0;
        move(action);
        seen = read();
      }
      rows.actions.emplace_back(action);
      rows.observations.emplace_back(seen);
      rows.place.push_back(static_cast<double>(t + 1));
      last = seen;
    }
  }
  return rows;
}

FittedDynamics exactly(const TransitionModel& transition) {
  return {transition, {1e3, 1e3, 1e3, 1e3}, 0.0};
}

double total_log(const AnyModel& model, const DiagnosedRows& rows,
                 const TransitionModel& transition) {
  const std::vector<double> logs = log_predictions(model, rows, transition);
  return std::accumulate(logs.begin(), logs.end(), 0.0);
}

// Scores are derivatives of the log-likelihood, which the Bayes filter gives.
TEST(Diagnosis, ScoresAreDerivativesOfTheLogLikelihood) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const AnyModel model = small_model(timing);
    const Pomdp& finite = std::get<Pomdp>(model);
    DiagnosedRows rows = tell({timing}, 3, 40, 1);
    rows.observations[5] = kMissing;
    const SensorDirections sensors(model, rows);
    const StratifiedFit fit{{exactly(kSteady)}, {}};
    ScoreWalk walk(model, rows, fit, sensors);
    ASSERT_EQ(walk.dynamics().size(), 4U);
    ASSERT_EQ(sensors.size(), 4);
    Vector sum = Vector::Zero(walk.size());
    walk.run(1, [&](const ScoredRow& row) {
      sum += row.score;
      EXPECT_NEAR((row.weights.transpose() * row.others).norm(), 0.0, 1e-10);
      EXPECT_NEAR(row.weights.sum(), 1.0, 1e-12);
      const auto own = static_cast<Eigen::Index>(rows.observations[row.row].value());
      EXPECT_NEAR((row.others.row(own).transpose() - row.score).norm(), 0.0, 1e-10);
    });
    constexpr double kStep = 1e-6;
    for (std::size_t i = 0; i < walk.dynamics().size(); ++i) {
      const std::size_t entry = walk.dynamics()[i].entry;
      const auto moved = [&](double by) {
        std::vector<double> values(kSteady.values().begin(), kSteady.values().end());
        values[entry] += by;
        values[entry ^ 1U] -= by;
        return total_log(model, rows, TransitionModel(2, 2, values));
      };
      EXPECT_NEAR(sum(static_cast<Eigen::Index>(i)), (moved(kStep) - moved(-kStep)) / (2 * kStep),
                  1e-4);
    }
    // P(1 | 0) against the likeliest, 0: the first sensor direction, of both actions.
    const auto bent = [&](double by) {
      PomdpParts parts = finite.parts();
      const std::span<const double> given = finite.sensors().values();
      std::vector<double> values(given.begin(), given.end());
      for (const std::size_t first : {std::size_t{0}, std::size_t{6}}) {
        values[first] -= by;
        values[first + 1] += by;
      }
      parts.sensors = ObservationModel(2, 2, 3, values);
      return total_log(Pomdp(parts), rows, kSteady);
    };
    EXPECT_NEAR(sum(4), (bent(kStep) - bent(-kStep)) / (2 * kStep), 1e-4);
  }
}

struct Tests {
  ScoreTest change;
  ScoreTest units;
  ScoreTest drift;
};

Tests run_tests(const AnyModel& model, const DiagnosedRows& rows, std::uint64_t seed,
                int threads = 1) {
  const SensorDirections sensors(model, rows);
  const StratifiedFit fit{{fit_rows(model, rows, {}, {threads})}, {}};
  ScoreWalk walk(model, rows, fit, sensors);
  RowCells stretches{std::vector<int>(rows.size()), 20};
  const double steps = *std::max_element(rows.place.begin(), rows.place.end());
  for (std::size_t t = 0; t < rows.size(); ++t) {
    stretches.of_row[t] = static_cast<int>((rows.place[t] - 1.0) * 20.0 / steps);
  }
  const RowCells units{rows.unit_of_row(), static_cast<int>(rows.units.size())};
  ScoreTally tally({stretches, units}, walk.size(), 199, seed, {threads});
  walk.run(seed, [&](const ScoredRow& row) { tally.add(row); });
  tally.finish();
  const ScoreLayout layout{static_cast<Eigen::Index>(walk.dynamics().size()),
                           walk.rows_of_dynamics()};
  return {test_change(tally, 0, ScorePart::dynamics, layout),
          test_cells(tally, 1, ScorePart::dynamics, layout),
          test_change(tally, 0, ScorePart::sensors, layout)};
}

Tests run_tests(const DiagnosedRows& rows, Timing timing, std::uint64_t seed, int threads = 1) {
  return run_tests(small_model(timing), rows, seed, threads);
}

// Two states with readings about 0 and 3, of which a share is anything.
constexpr double kOutliers = 0.02;
const AnyModel kReadings = ContinuousPomdp(
    small_model(Timing::before),
    DensitySensors(
        2, 2,
        {VectorDensity({Density::gaussian(0, 1)}), VectorDensity({Density::gaussian(3, 2)}),
         VectorDensity({Density::gaussian(0, 1)}), VectorDensity({Density::gaussian(3, 2)})}));

DiagnosedRows tell_readings(std::size_t steps, std::uint64_t seed) {
  const DensitySensors& sensors = std::get<ContinuousPomdp>(kReadings).sensors();
  const ReadingLikelihood likelihood(sensors, kOutliers);
  Rng rng({seed, 1, Role::test});
  DiagnosedRows rows = tell({}, 1, steps, seed);
  rows.outlier_share = kOutliers;
  int state = 0;
  for (std::size_t t = 0; t < steps; ++t) {
    double reading = 0.0;
    sensors(rows.actions[t], State{state}).sample({&reading, 1}, rng);
    if (rng.uniform() < kOutliers) reading = 30.0 * sample_normal(rng);
    rows.observations[t] = Observation{0};
    rows.readings.push_back(reading);
    rows.likelihoods.resize(rows.likelihoods.size() + 2);
    likelihood(rows.actions[t], {&reading, 1}, std::span(rows.likelihoods).last(2));
    state = rng.uniform() < kSteady(rows.actions[t], State{state}, State{0}) ? 0 : 1;
  }
  return rows;
}

// Outliers do not move when the sensors do: a derivative is that of the density beside them.
TEST(Diagnosis, ScoresOfSensorsLeaveOutliersWhereTheyAre) {
  const DiagnosedRows rows = tell_readings(200, 1);
  const SensorDirections sensors(kReadings, rows);
  const StratifiedFit fit{{exactly(kSteady)}, {}};
  ScoreWalk walk(kReadings, rows, fit, sensors);
  Vector sum = Vector::Zero(walk.size());
  walk.run(1, [&](const ScoredRow& row) { sum += row.score; });
  // Means move by `by` mean standard deviations, 1.5, and deviations grow by a factor.
  const auto moved = [&](double by, double growth) {
    DiagnosedRows other = rows;
    for (std::size_t i = 0; i < other.likelihoods.size(); ++i) {
      const double mean = i % 2 == 0 ? 0.0 : 3.0;
      const double sd = i % 2 == 0 ? 1.0 : 2.0;
      const auto usual = [&](double shift, double factor) {
        return (1.0 - kOutliers) *
               Density::gaussian(mean + shift, sd * factor)(rows.readings[i / 2]);
      };
      other.likelihoods[i] += usual(1.5 * by, std::exp(growth)) - usual(0.0, 1.0);
    }
    return total_log(kReadings, other, kSteady);
  };
  constexpr double kStep = 1e-5;
  const auto own = sum.tail(2);
  EXPECT_NEAR(own(0), (moved(kStep, 0) - moved(-kStep, 0)) / (2 * kStep), 1e-2);
  // Standard deviations are those of many points, a thousandth too small, and 200 rows are added
  // up.
  EXPECT_NEAR(own(1), (moved(0, kStep) - moved(0, -kStep)) / (2 * kStep), 0.5);
}

// Of 12 logs with the outliers that the rows allow for, more than 6 have a p-value below 0.05 with
// probability 5e-7, for each question.
TEST(Diagnosis, OutliersThatAreAllowedForAreNoDrift) {
  int drift = 0;
  int change = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Tests tests = run_tests(kReadings, tell_readings(600, seed), seed);
    drift += tests.drift.p_value <= 0.05;
    change += tests.change.p_value <= 0.05;
  }
  EXPECT_LE(drift, 6);
  EXPECT_LE(change, 6);
}

// P-values of a true model are spread evenly: of 120 logs at most so many are below 0.1 and 0.5,
// but for a failure probability of 1e-6 (binomial tails).
TEST(Diagnosis, LevelsHoldForAReactingPolicy) {
  int below_tenth[3] = {};
  int below_half[3] = {};
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Timing timing = seed % 2 == 0 ? Timing::before : Timing::after;
    const Tests tests = run_tests(tell({timing}, 4, 150, 1000 + seed), timing, seed);
    const double p[] = {tests.change.p_value, tests.units.p_value, tests.drift.p_value};
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(p[i] > 0.0 && p[i] <= 1.0);
      below_tenth[i] += p[i] <= 0.1;
      below_half[i] += p[i] <= 0.5;
    }
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_LE(below_tenth[i], 29) << i;  // P(binomial(120, 0.1) > 29) < 1e-6
    EXPECT_LE(below_half[i], 86) << i;   // P(binomial(120, 0.5) > 86) < 1e-6
    EXPECT_GE(below_half[i], 34) << i;
  }
}

TEST(Diagnosis, FindsWhatIsThereAndNothingElse) {
  Story change;
  change.change = 300;
  const DiagnosedRows changed = tell(change, 10, 600, 1);
  const Tests of_change = run_tests(changed, Timing::before, 1);
  EXPECT_LE(of_change.change.p_value, 0.01);
  EXPECT_GT(of_change.units.p_value, 0.05);
  const AnyModel model = small_model(Timing::before);
  const FittedDynamics pooled = fit_rows(model, changed, {}, {1});
  const ChangePoint point = locate_change(model, changed, 2000, pooled, {1});
  EXPECT_NEAR(static_cast<double>(point.rows_before), 3000.0, 300.0);
  EXPECT_LE(point.lower, 3000U);
  EXPECT_GE(point.upper, 3000U);
  EXPECT_NEAR(point.before.transition(Action{0}, State{0}, State{1}), 0.1, 0.06);
  EXPECT_NEAR(point.after.transition(Action{0}, State{0}, State{1}), 0.3, 0.08);
  EXPECT_GT(point.log_likelihood_gain, 10.0);

  Story kinds;
  kinds.odd_units_differ = true;
  const Tests of_kinds = run_tests(tell(kinds, 10, 600, 2), Timing::before, 1);
  EXPECT_LE(of_kinds.units.p_value, 0.01);
  EXPECT_GT(of_kinds.change.p_value, 0.05);

  Story drifting;
  drifting.drift = 300;
  drifting.lost = 0.3;
  EXPECT_LE(run_tests(tell(drifting, 10, 600, 3), Timing::before, 1).drift.p_value, 0.01);
}

TEST(Diagnosis, SameBitsForAnyNumberOfThreads) {
  const DiagnosedRows rows = tell({}, 5, 300, 9);
  const Tests one = run_tests(rows, Timing::before, 4, 1);
  const Tests three = run_tests(rows, Timing::before, 4, 3);
  EXPECT_EQ(one.change.null, three.change.null);
  EXPECT_EQ(one.units.path, three.units.path);
  EXPECT_EQ(one.drift.statistic, three.drift.statistic);
}

TEST(Diagnosis, GroupsAreFound) {
  Story kinds;
  kinds.odd_units_differ = true;
  const DiagnosedRows rows = tell(kinds, 8, 2000, 5);
  const AnyModel model = small_model(Timing::before);
  const FittedDynamics pooled = fit_rows(model, rows, {}, {1});
  const SensorDirections sensors(model, rows);
  const StratifiedFit fit{{pooled}, {}};
  ScoreWalk walk(model, rows, fit, sensors);
  ScoreTally tally({{rows.unit_of_row(), 8}}, walk.size(), 199, 1, {1});
  walk.run(1, [&](const ScoredRow& row) { tally.add(row); });
  tally.finish();
  const ScoreLayout layout{4, walk.rows_of_dynamics()};
  const UnitGroups groups = find_groups(
      model, rows, standardised_cells(tally, 0, ScorePart::dynamics, layout), pooled, {1});
  EXPECT_TRUE(groups.clear);
  EXPECT_EQ(groups.of_unit, (std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1}));
}

TEST(Diagnosis, TimingIsToldByTheRows) {
  for (const Timing truth : {Timing::before, Timing::after}) {
    const DiagnosedRows rows = tell({truth}, 4, 2000, 3);
    for (const Timing said : {Timing::before, Timing::after}) {
      const AnyModel model = small_model(said);
      const TimingTest test = test_timing(model, rows, fit_rows(model, rows, {}, {1}), {1});
      EXPECT_EQ(test.p_value <= 0.01, said != truth);
      ASSERT_EQ(test.rivals.size(), 1U);
      EXPECT_EQ(test.best().difference > 0.0, said != truth);
    }
  }
}

// An action that follows the row's own reading looks like an effect of the action on it.
TEST(Diagnosis, ReadingFirstIsToldFromAfterAndFromBefore) {
  const AnyModel before = small_model(Timing::before);
  const AnyModel after = small_model(Timing::after);
  for (const bool own : {false, true}) {
    Story story;
    story.acts_on_own_reading = own;
    const DiagnosedRows rows = tell(story, 4, 1500, 8);
    const FittedDynamics fitted = fit_rows(before, rows, {}, {1});
    EXPECT_GT(test_timing(before, rows, fitted, {1}).p_value, 0.5);
    EXPECT_LE(test_timing(after, rows, fit_rows(after, rows, {}, {1}), {1}).p_value, 0.01);
    const ReactionTest reaction = test_reaction(before, rows, fitted, 199, 1, {1});
    ASSERT_TRUE(reaction.test.tested()) << reaction.why_not;
    EXPECT_EQ(reaction.test.p_value <= 0.01, own);
    EXPECT_LT(reaction.smallest(0.05, 0.9), 0.2);
  }
  const DiagnosedRows rows = tell({Timing::after}, 1, 100, 1);
  EXPECT_NE(test_reaction(after, rows, exactly(kSteady), 199, 1, {1}).why_not, "");
}

TEST(Diagnosis, RanksTellReadingsThatAreOff) {
  PomdpParts parts;
  parts.states = Labels(1, "state");
  parts.actions = Labels(1, "action");
  parts.observations = Labels(1, "observation");
  parts.start = {1.0};
  parts.sensors = ObservationModel(1, 1, 1, {1.0});
  const DensitySensors densities(1, 1, {VectorDensity({Density::gaussian(2.0, 0.5)})});
  const AnyModel model = ContinuousPomdp(Pomdp(parts), densities);
  const FittedDynamics still{TransitionModel(1, 1, {1.0}), {1e3}, 0.0};
  for (const double shift : {0.0, 0.1}) {
    DiagnosedRows rows;
    rows.run_starts = {0};
    rows.starts = {RunStart()};
    rows.unit_of_run = {0};
    rows.units = {"0"};
    Rng rng({7, 0, Role::test});
    for (int t = 0; t < 4000; ++t) {
      rows.actions.emplace_back(0);
      rows.observations.emplace_back(0);
      rows.readings.push_back(2.0 + 0.5 * (sample_normal(rng) + shift));
      rows.likelihoods.push_back(1.0);
      rows.place.push_back(t);
    }
    const SensorDirections sensors(model, rows);
    const StratifiedFit fit{{still}, {}};
    ScoreWalk walk(model, rows, fit, sensors);
    ReadingRanks ranks(*sensors.reading_likelihood(), 1);
    walk.run(1, [&](const ScoredRow& row) {
      ranks.add(row, Action{0}, std::span(rows.readings).subspan(row.row, 1), row.row == 0);
    });
    const ReadingFit result = ranks.finish();
    ASSERT_EQ(result.parts.size(), 1U);
    EXPECT_NEAR(result.parts[0].shift, shift, 0.08);
    EXPECT_EQ(result.p_value<1e-3, shift> 0.0);
    EXPECT_NEAR(result.smallest_shift(0.05, 0.9), std::sqrt(16.47 * 3.14159 / 3.0 / 4000.0), 1e-3);
  }
}

TEST(Diagnosis, ADriftCanBeTakenOut) {
  Story drifting;
  drifting.drift = 300;
  drifting.drifted = 0.5;
  const DiagnosedRows rows = tell(drifting, 20, 600, 3);
  const AnyModel model = small_model(Timing::before);
  const auto corrected = correct_drift(model, rows, 6000, {1});
  ASSERT_TRUE(corrected.has_value());
  const FittedDynamics raw =
      fit_rows(model, rows, [&](std::size_t t) { return rows.place[t] > 300.0; }, {1});
  const FittedDynamics clean = fit_rows(corrected->model, corrected->rows,
                                        [&](std::size_t t) { return rows.place[t] > 300.0; }, {1});
  const double truth = 0.1;
  EXPECT_NEAR(clean.transition(Action{0}, State{0}, State{1}), truth, 0.05);
  EXPECT_GT(std::abs(raw.transition(Action{0}, State{0}, State{1}) - truth), 0.05);
}

// A smaller level or a larger power asks for a larger departure.
TEST(Diagnosis, PowerAsksForLargerDepartures) {
  const DiagnosedRows steady = tell({}, 6, 400, 77);
  const Tests tests = run_tests(steady, Timing::before, 1);
  const double needed = tests.change.noncentrality_of(0, 0.05, 0.9);
  EXPECT_GT(needed, 10.0);
  EXPECT_LT(needed, 40.0);
  EXPECT_GT(tests.change.noncentrality_of(0, 0.01, 0.9), needed);
  EXPECT_GT(needed, tests.change.noncentrality_of(0, 0.05, 0.5));
}

}  // namespace
}  // namespace oas
