#include "oas/study/coverage_tally.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "oas/core/sampling.hpp"
#include "oas/problems/named.hpp"
#include "oas/study/statistics.hpp"

/// The instrument itself, on estimates that are made up and on truths that are known.
namespace oas {
namespace {

using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TransitionModel two_states() { return {2, 1, {0.7, 0.3, 0.4, 0.6}}; }

// Both rows are determined once they are visited often.
CoverageReference easy_reference() {
  return {{0.01, 0.01, 0.01, 0.01}, {100.0, 100.0}, {0.01, 0.01}, {100.0, 100.0}};
}

LogFacts often_visited() { return {{100.0, 100.0}, {70.0, 30.0, 40.0, 60.0}}; }

ConfidenceRegion region(double half) {
  ConfidenceRegion made;
  const TransitionModel truth = two_states();
  for (const double value : truth.values()) {
    made.lower.push_back(value - half);
    made.upper.push_back(value + half);
  }
  made.l1 = {2.0 * half, 2.0 * half};
  return made;
}

// Around the truth, so that everything holds.
TransitionEstimate good_estimate(double half = 0.1) {
  TransitionEstimate estimate;
  estimate.transition = two_states();
  const ConfidenceRegion limits = region(half);
  estimate.lower = limits.lower;
  estimate.upper = limits.upper;
  estimate.standard_error.assign(4, half / 2.0);
  estimate.row_region = region(half);
  estimate.joint_region = region(half);
  return estimate;
}

TEST(CoverageTally, CountsWhatHoldsAndWhatDoesNot) {
  CoverageTally tally(two_states(), easy_reference());
  tally.add(good_estimate(), often_visited());
  TransitionEstimate missed = good_estimate();
  missed.upper[1] = 0.29;                                           // entry (0,0,1)
  missed.row_region.lower[2] = 0.41;                                // row (0,1)
  missed.joint_region.lower[0] = 0.71;                              // all rows
  missed.transition = TransitionModel(2, 1, {0.7, 0.3, 0.6, 0.4});  // 0.4 away, radius 0.2
  tally.add(missed, often_visited());
  EXPECT_EQ(tally.logs(), 2);
  const std::vector<std::int64_t> hits = {2, 1, 2, 2};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(tally.entries()[i].interval.trials, 2);
    EXPECT_EQ(tally.entries()[i].interval.hits, hits[i]);
  }
  EXPECT_EQ(tally.rows()[0].band.hits, 2);
  EXPECT_EQ(tally.rows()[1].band.hits, 1);
  EXPECT_EQ(tally.rows()[0].ball.hits, 2);
  EXPECT_EQ(tally.rows()[1].ball.hits, 1);
  EXPECT_EQ(tally.joint_band().trials, 2);
  EXPECT_EQ(tally.joint_band().hits, 1);
  EXPECT_EQ(tally.joint_ball().hits, 1);
  EXPECT_DOUBLE_EQ(tally.entry_share().sum, 1.0 + 0.75);
  EXPECT_DOUBLE_EQ(tally.entry_share().squares, 1.0 + 0.5625);
  EXPECT_DOUBLE_EQ(tally.row_share().sum, 1.0 + 0.5);
}

TEST(CoverageTally, LimitsBelongToTheInterval) {
  CoverageTally tally(two_states(), easy_reference());
  TransitionEstimate exact = good_estimate();
  exact.lower = exact.upper = {0.7, 0.3, 0.4, 0.6};
  tally.add(exact, often_visited());
  EXPECT_DOUBLE_EQ(tally.entry_share().sum, 1.0);
}

TEST(CoverageTally, FlaggedRowsAreLeftOutOfIntervalsAndRegions) {
  CoverageTally tally(two_states(), easy_reference());
  TransitionEstimate flagged = good_estimate();
  flagged.flagged.push_back({Action{0}, State{1}, "no reason"});
  // Whatever stands in the flagged row does not matter.
  flagged.lower[2] = flagged.row_region.lower[2] = flagged.joint_region.lower[2] = kNaN;
  flagged.row_region.l1[1] = flagged.joint_region.l1[1] = kNaN;
  tally.add(flagged, often_visited());
  EXPECT_EQ(tally.failures(), 0);
  EXPECT_EQ(tally.entries()[0].interval.trials, 1);
  EXPECT_EQ(tally.entries()[2].interval.trials, 0);
  EXPECT_EQ(tally.rows()[1].band.trials, 0);
  EXPECT_EQ(tally.joint_band().hits, 1);
  EXPECT_EQ(tally.rows()[1].flagged, 1);
  EXPECT_EQ(tally.rows()[1].wrongly_flagged, 1);
}

TEST(CoverageTally, FlagsAreJudgedInClearCasesOnly) {
  CoverageTally tally(two_states(), easy_reference());
  TransitionEstimate estimate = good_estimate();
  tally.add(estimate, {{100.0, 0.0}, {70.0, 30.0, 0.0, 0.0}});  // never visited, not flagged
  tally.add(estimate, {{100.0, 5.0}, {70.0, 30.0, 2.0, 3.0}});  // hardly ever: no matter
  estimate.flagged.push_back({Action{0}, State{1}, ""});
  tally.add(estimate, {{100.0, 0.0}, {70.0, 30.0, 0.0, 0.0}});
  tally.add(estimate, {{100.0, 5.0}, {70.0, 30.0, 2.0, 3.0}});
  const CoverageTally::Row& row = tally.rows()[1];
  EXPECT_EQ(row.determined, 0);
  EXPECT_EQ(row.undetermined, 2);
  EXPECT_EQ(row.wrongly_unflagged, 1);
  EXPECT_EQ(row.wrongly_flagged, 0);
  EXPECT_EQ(tally.rows()[0].determined, 4);
}

// Numbers that are none, limits the wrong way round or outside [0,1], tables of a wrong size.
TEST(CoverageTally, UnsoundEstimatesAreFailures) {
  const auto expect_failure = [](const auto& spoil, const char* message) {
    CoverageTally tally(two_states(), easy_reference());
    TransitionEstimate estimate = good_estimate();
    spoil(estimate);
    tally.add(estimate, often_visited());
    EXPECT_EQ(tally.failures(), 1) << message;
    EXPECT_EQ(tally.logs(), 1) << message;
    EXPECT_EQ(tally.entry_share().logs, 0) << message;
    EXPECT_THAT(tally.first_failure(), HasSubstr(message));
  };
  expect_failure([](auto& e) { e.lower[3] = kNaN; }, "entry 3");
  expect_failure([](auto& e) { e.upper[0] = kNaN; }, "entry 0");
  expect_failure([](auto& e) { e.upper[1] = 0.0; }, "entry 1");
  expect_failure([](auto& e) { e.upper[2] = 1.5; }, "entry 2");
  expect_failure([](auto& e) { e.lower[2] = -0.5; }, "entry 2");
  expect_failure([](auto& e) { e.upper.pop_back(); }, "3 upper limits");
  expect_failure([](auto& e) { e.row_region.lower[0] = kNaN; }, "region: entry 0");
  expect_failure([](auto& e) { e.joint_region.upper[0] = kNaN; }, "region: entry 0");
  expect_failure([](auto& e) { e.joint_region.l1[1] = kNaN; }, "region: row 1");
}

TEST(CoverageTally, WithoutErrorBarsOnlyFlagsCount) {
  CoverageTally tally(two_states(), easy_reference());
  TransitionEstimate bare;
  bare.transition = two_states();
  tally.add(bare, often_visited());
  tally.add_failure("it broke");
  tally.add_failure("again");
  EXPECT_EQ(tally.logs(), 3);
  EXPECT_EQ(tally.without_bars(), 1);
  EXPECT_EQ(tally.failures(), 2);
  EXPECT_EQ(tally.first_failure(), "it broke");
  EXPECT_EQ(tally.rows()[0].determined, 1);
  EXPECT_EQ(tally.entry_share().logs, 0);
  EXPECT_EQ(tally.joint_band().trials, 0);
}

// A fake estimator with normal errors and honest intervals is measured at 95 %, one whose intervals
// are half as wide at 67.3 %. Of 5,000 logs, within 5 standard errors (failure below 1e-6).
TEST(CoverageTally, MeasuresTheCoverageThatIsThere) {
  constexpr int kLogs = 5'000;
  constexpr double kError = 0.01;
  Rng rng({5, 0, Role::test});
  CoverageTally honest(two_states(), easy_reference());
  CoverageTally narrow(two_states(), easy_reference());
  for (int i = 0; i < kLogs; ++i) {
    const double error = kError * sample_normal(rng);
    const auto estimate = [&](double factor) {
      TransitionEstimate made = good_estimate();
      made.transition = TransitionModel(2, 1, {0.7 + error, 0.3 - error, 0.4, 0.6});
      for (std::size_t e = 0; e < 2; ++e) {
        made.lower[e] = made.transition.values()[e] - factor * 1.959964 * kError;
        made.upper[e] = made.transition.values()[e] + factor * 1.959964 * kError;
      }
      return made;
    };
    honest.add(estimate(1.0), often_visited());
    narrow.add(estimate(0.5), often_visited());
  }
  const auto coverage = [](const CoverageTally& tally) {
    return static_cast<double>(tally.entries()[0].interval.hits) / kLogs;
  };
  EXPECT_NEAR(coverage(honest), 0.95, 5.0 * std::sqrt(0.95 * 0.05 / kLogs));
  EXPECT_NEAR(coverage(narrow), 0.6729, 5.0 * std::sqrt(0.67 * 0.33 / kLogs));
}

LogShape shape_of(std::size_t rows, std::size_t run_length = 0) {
  LogShape shape;
  shape.policy.name = "uniform";
  shape.rows = rows;
  shape.run_length = run_length;
  shape.seed = 3;
  return shape;
}

TEST(CoverageLogs, RunsAddUpAndStartAnew) {
  const Pomdp model = make_problem("corner/left-to-right");
  const auto runs = simulate_runs(model, shape_of(250, 20), 0);
  ASSERT_EQ(runs.size(), 13U);
  std::size_t rows = 0;
  for (const Trajectory& run : runs) {
    rows += run.size();
    EXPECT_EQ(run.states.front(), State{0});
  }
  EXPECT_EQ(rows, 250U);
  EXPECT_EQ(runs.back().size(), 10U);
  // Other runs, other luck, in this log and the next.
  EXPECT_FALSE(runs[0] == runs[1]);
  EXPECT_FALSE(simulate_runs(model, shape_of(250, 20), 1)[0] == runs[0]);
  EXPECT_TRUE(simulate_runs(model, shape_of(250, 20), 0)[3] == runs[3]);
}

TEST(CoverageLogs, FactsDoNotCrossRuns) {
  Pomdp model = make_problem("corner/minimal");
  Trajectory first;
  first.actions.assign(3, Action{0});
  first.states = {State{0}, State{1}, State{1}};
  Trajectory second;
  second.actions.assign(2, Action{0});
  second.states = {State{0}, State{0}};
  EXPECT_EQ(log_facts(model, {first, second}).visits, (std::vector<double>{2, 1}));
  EXPECT_EQ(log_facts(model, {first, second}).transitions, (std::vector<double>{1, 1, 0, 1}));
  PomdpParts parts = model.parts();
  parts.timing = Timing::after;
  model = Pomdp(parts);
  EXPECT_EQ(log_facts(model, {first, second}).visits, (std::vector<double>{3, 2}));
}

// Where states are seen the limit is that of a multinomial row: √(p (1-p) / visits).
TEST(CoverageReference, IsTheMultinomialErrorWhereStatesAreSeen) {
  for (const char* name : {"corner/perfect-dense", "corner/perfect-sparse"}) {
    const Pomdp model = make_problem(name);
    const CoverageReference found = coverage_reference(model, shape_of(20'000));
    EXPECT_NEAR(std::accumulate(found.visits.begin(), found.visits.end(), 0.0), 19'999.0, 1e-6);
    for (std::size_t i = 0; i < found.limit.size(); ++i) {
      const double p = model.transition().values()[i];
      const double expected = std::sqrt(p * (1.0 - p) / found.visits[i / 3]);
      EXPECT_NEAR(found.limit[i], expected, 0.05 * expected) << name << " " << i;
    }
    for (std::size_t row = 0; row < found.visits.size(); ++row) {
      EXPECT_EQ(found.classify(row, found.visits[row]), RowClass::determined) << name << row;
    }
  }
}

TEST(CoverageReference, FallsWithTheLengthOfLogs) {
  const Pomdp model = make_problem("corner/dense-3");
  const CoverageReference some = coverage_reference(model, shape_of(20'000));
  const CoverageReference many = coverage_reference(model, shape_of(2'000'000));
  for (std::size_t i = 0; i < some.limit.size(); ++i) {
    EXPECT_NEAR(some.limit[i] / many.limit[i], 10.0, 1e-6);
  }
  EXPECT_EQ(some.classify(0, 0.0), RowClass::undetermined);
  EXPECT_EQ(some.classify(0, 10.0), RowClass::between);
}

// Deterministic rows are determined as soon as they are visited; where sensors tell nothing, or two
// states are alike, rows are not, and zeros in the truth do not hide it.
TEST(CoverageReference, KnowsWhatCannotBeLearned) {
  const auto classes = [](const char* name) {
    const Pomdp model = make_problem(name);
    const CoverageReference found = coverage_reference(model, shape_of(3000));
    std::vector<RowClass> all;
    for (std::size_t row = 0; row < found.visits.size(); ++row) {
      all.push_back(found.classify(row, 400.0));
    }
    return all;
  };
  using testing::Each;
  EXPECT_THAT(classes("corner/cycle-3"), Each(RowClass::determined));
  EXPECT_THAT(classes("corner/ring-4"), Each(RowClass::determined));
  EXPECT_THAT(classes("corner/blind"), Each(RowClass::undetermined));
  EXPECT_THAT(classes("corner/twins"), Each(RowClass::undetermined));
}

// With perfect sensors one visit is a visit, however seldom logs have it: what is not known of such
// a row comes from its rareness, and in a log that happens to visit it four times it is not so.
TEST(CoverageReference, RareRowsLackVisitsAndNotInformation) {
  const Pomdp model = make_problem("corner/perfect-sparse");
  LogShape shape = shape_of(3000);
  shape.policy = {.name = "belief", .min_action_probability = 0.05};
  const CoverageReference found = coverage_reference(model, shape);
  for (std::size_t row = 0; row < found.visits.size(); ++row) {
    EXPECT_EQ(found.classify(row, 0.0), RowClass::undetermined);
    EXPECT_NE(found.classify(row, 4.0), RowClass::undetermined) << row;
  }
}

TEST(Statistics, ClopperPearsonAgreesWithTables) {
  const ShareInterval none = clopper_pearson(0, 20);
  EXPECT_EQ(none.lower, 0.0);
  EXPECT_NEAR(none.upper, 1.0 - std::pow(0.025, 1.0 / 20.0), 1e-12);
  const ShareInterval all = clopper_pearson(20, 20);
  EXPECT_NEAR(all.lower, std::pow(0.025, 1.0 / 20.0), 1e-12);
  EXPECT_EQ(all.upper, 1.0);
  const ShareInterval some = clopper_pearson(4, 20);  // 0.0573, 0.4366
  EXPECT_NEAR(some.lower, 0.0573, 1e-4);
  EXPECT_NEAR(some.upper, 0.4366, 1e-4);
  EXPECT_EQ(clopper_pearson(0, 0).upper, 1.0);
  EXPECT_THROW(static_cast<void>(clopper_pearson(3, 2)), std::exception);
}

TEST(Statistics, BinomialTailIsOfAtMostSoMany) {
  EXPECT_NEAR(binomial_tail(0, 3, 0.9), 0.001, 1e-12);
  EXPECT_NEAR(binomial_tail(1, 3, 0.9), 0.028, 1e-12);
  EXPECT_EQ(binomial_tail(3, 3, 0.9), 1.0);
  EXPECT_EQ(binomial_tail(0, 0, 0.9), 1.0);
}

}  // namespace
}  // namespace oas
