// Simultaneous regions and bootstraps: exact cases, agreement of all kinds of error bars, coverage.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "coverage_support.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/error_bars/bootstrap.hpp"
#include "oas/estimation/error_bars/confidence_region.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/jobs/log_bootstrap.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;

// Four rows of four entries with the given errors, around 1/4.
TransitionEstimate with_regions(const JointErrors& errors) {
  TransitionEstimate estimate;
  estimate.transition = TransitionModel::uniform(4, 1);
  estimate.visits.assign(4, 1.0);
  set_error_bars(errors, estimate.transition.values(), estimate);
  add_regions(errors, estimate.transition.values(), estimate);
  return estimate;
}

JointErrors errors_of(Matrix factor) { return {std::move(factor), std::vector<char>(4, 1), {}}; }

// The critical value of m independent entries: (2Φ(c) - 1)^m = 0.95.
double independent(double entries) {
  return boost::math::quantile(boost::math::normal(), 0.5 + 0.5 * std::pow(0.95, 1.0 / entries));
}

TEST(Regions, OfIndependentEntriesAreKnown) {
  const TransitionEstimate estimate = with_regions(errors_of(0.01 * Matrix::Identity(16, 16)));
  for (std::size_t row = 0; row < 4; ++row) {
    // 10,000 draws know the critical value to 0.02, five standard deviations are allowed.
    EXPECT_NEAR(estimate.row_region.factor[row], independent(4.0), 0.1);
    EXPECT_NEAR(estimate.joint_region.factor[row], independent(16.0), 0.1);
    EXPECT_GT(estimate.joint_region.l1[row], estimate.row_region.l1[row]);
  }
  EXPECT_NEAR(estimate.row_region.upper[0], 0.25 + 0.01 * independent(4.0), 0.001);
  EXPECT_NEAR(estimate.joint_region.lower[5], 0.25 - 0.01 * independent(16.0), 0.001);
  EXPECT_NEAR(estimate.lower[5], 0.25 - 0.0196, 1e-4);
}

TEST(Regions, OfOneErrorAreThoseOfOneEntry) {
  // All entries move together: up, down, up, down.
  Matrix factor(16, 1);
  for (Eigen::Index i = 0; i < 16; ++i) factor(i, 0) = i % 2 == 0 ? 0.01 : -0.01;
  JointErrors errors = errors_of(factor);
  const TransitionEstimate estimate = with_regions(errors);
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_NEAR(estimate.row_region.factor[row], 1.96, 0.1);
    EXPECT_NEAR(estimate.joint_region.factor[row], 1.96, 0.1);
    EXPECT_NEAR(estimate.row_region.l1[row], 4 * 0.0196, 0.004);
    EXPECT_DOUBLE_EQ(estimate.joint_region.l1[row], estimate.row_region.l1[row]);
  }
  // Fewer degrees of freedom, wider regions: t with 5 is 2.571.
  errors.degrees = 5.0;
  EXPECT_NEAR(with_regions(errors).row_region.factor[0], 2.571, 0.2);
}

TEST(Regions, LeaveOutRowsThatAreNotDetermined) {
  JointErrors errors = errors_of(0.01 * Matrix::Identity(16, 16));
  errors.determined = {1, 0, 0, 1};
  const TransitionEstimate estimate = with_regions(errors);
  EXPECT_NEAR(estimate.joint_region.factor[0], independent(8.0), 0.1);
  EXPECT_TRUE(std::isnan(estimate.joint_region.factor[1]));
  EXPECT_EQ(estimate.row_region.l1[2], 2.0);
  EXPECT_EQ(estimate.row_region.lower[4], 0.0);
  EXPECT_EQ(estimate.joint_region.upper[11], 1.0);
}

// Rows (1,0), or (1,0,0): what the 1 loses the zeros gain, so it has no error beside theirs.
TEST(Regions, ARowAtACornerHasNoMoreErrorsThanZeros) {
  for (const int n : {2, 3}) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> values(size, 0.0);
    values[0] = 1.0;
    JointErrors errors{Matrix::Zero(n, 1), {1}, {EntryEvidence::at_bound(1.0, 100.0, 0.0)}};
    for (int i = 1; i < n; ++i) {
      errors.evidence.push_back(EntryEvidence::at_bound(0.0, 100.0, 0.0));
    }
    TransitionEstimate estimate;
    set_error_bars(errors, values, estimate);
    add_regions(errors, values, estimate);
    // Of two independent errors and their sum c is 2.33, of three independent ones 2.39.
    EXPECT_NEAR(estimate.row_region.factor[0], n == 2 ? 1.96 : 2.33, 0.045) << n;
  }
}

// What reaches farther than normal errors do makes the radius larger, too.
TEST(Regions, RadiiReachAsFarAsIntervals) {
  JointErrors errors = errors_of(0.01 * Matrix::Identity(16, 16));
  const TransitionEstimate before = with_regions(errors);
  for (std::size_t i = 0; i < 16; ++i) {
    errors.evidence.push_back(
        EntryEvidence::from_counts(0.25, 1e-4, std::numeric_limits<double>::infinity()));
    if (i < 4) errors.evidence.back().add_opinion(0.25, 0.03);
  }
  const TransitionEstimate estimate = with_regions(errors);
  EXPECT_NEAR(estimate.row_region.l1[0], 3.0 * before.row_region.l1[0], 0.01);
  EXPECT_NEAR(estimate.row_region.l1[1], before.row_region.l1[1], 1e-3);
  EXPECT_NEAR(estimate.standard_error[0], 0.03, 1e-4);
  EXPECT_NEAR(estimate.standard_error[5], 0.01, 1e-4);
}

TEST(Regions, OfBonferroniAreWider) {
  TransitionEstimate estimate = with_regions(errors_of(0.01 * Matrix::Identity(16, 16)));
  const ConfidenceRegion exact = estimate.joint_region;
  add_bonferroni_regions(estimate.transition.values(), estimate);
  EXPECT_GT(estimate.joint_region.factor[0], independent(16.0));
  EXPECT_LT(estimate.joint_region.factor[0], independent(16.0) + 0.01);
  EXPECT_GT(estimate.joint_region.l1[0], exact.l1[0]);
  EXPECT_THROW(add_regions(errors_of(Matrix::Zero(15, 2)), estimate.transition.values(), estimate),
               InvalidArgument);
}

LogBlock simulated(const Pomdp& model, const char* policy, std::size_t steps) {
  LogBlock log;
  log.run_starts = {0};
  ClosedLoop loop(model, {.name = policy}, 11);
  loop.advance(steps, log.rows);
  return log;
}

// Root mean square of log(se / other se).
double disagreement(const std::vector<double>& errors, const std::vector<double>& others) {
  double sum = 0.0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    sum += std::pow(std::log(errors[i] / others[i]), 2);
  }
  return std::sqrt(sum / static_cast<double>(errors.size()));
}

// On a large log all kinds agree: 100 batches and 200 resamples know a standard error to 7 and 5 %,
// so that 15 % is the mean of twelve entries at five standard deviations, and more.
TEST(Bootstrap, AgreesWithTheAsymptoticErrors) {
  const Pomdp model = network_link();
  const LogBlock log = simulated(model, "uniform", 100'000);
  const LeftInverses inverses(model);
  const auto series_of = [&](const RowBlock& rows) {
    PairFolder folder(inverses, model.timing(), {});
    folder.add(rows);
    return folder.finish();
  };
  const MomentSeries series = series_of(log.view());
  const TransitionEstimate moments = estimate_oas(series, inverses, model);
  const std::vector<double> ratios = moment_ratios(series.total());
  TransitionEstimate again = moments;
  set_bootstrap_errors(resample_batches(series, {}), ErrorBars::block_bootstrap, again);
  EXPECT_LT(disagreement(again.standard_error, moments.standard_error), 0.15);
  again = moments;
  set_bootstrap_errors(
      resample_parametric(
          model.with_transition(moments.transition), log.view(),
          [&](const RowBlock& rows) { return moment_ratios(series_of(rows).total(), ratios); }, {}),
      ErrorBars::parametric_bootstrap, again);
  EXPECT_LT(disagreement(again.standard_error, moments.standard_error), 0.2);

  TransitionLikelihood rows(model);
  rows.append(log.rows.actions, log.rows.observations);
  const TransitionEstimate best =
      estimate_likelihood(likelihood_rows(rows), {moments.transition}, model);
  again = best;
  set_bootstrap_errors(resample_blocks(model, rows, best.transition, {}, {100, 1}),
                       ErrorBars::block_bootstrap, again);
  EXPECT_LT(disagreement(again.standard_error, best.standard_error), 0.2);
  EXPECT_EQ(again.error_bars, "block-bootstrap");
  EXPECT_EQ(again.resamples, 100);
  again = best;
  set_bootstrap_errors(resample_parametric(model.with_transition(best.transition), log.view(),
                                           [&](const RowBlock& more) {
                                             TransitionLikelihood drawn(model);
                                             drawn.append(more.actions, more.observations);
                                             return climb_again(
                                                 likelihood_rows(drawn, {1}).likelihood,
                                                 best.transition, {});
                                           },
                                           {100, 1}),
                       ErrorBars::parametric_bootstrap, again);
  EXPECT_LT(disagreement(again.standard_error, best.standard_error), 0.2);
}

TEST(Bootstrap, IsTheSameForAnyNumberOfThreads) {
  const Pomdp model = pest_control();
  const LogBlock log = simulated(model, "belief", 5000);
  TransitionLikelihood rows(model);
  rows.append(log.rows.actions, log.rows.observations);
  const BootstrapOptions options{20, 3};
  EXPECT_EQ(resample_blocks(model, rows, model.transition(), {}, options, {1}),
            resample_blocks(model, rows, model.transition(), {}, options, {3}));
  const auto seen = [](const RowBlock& more) {
    return std::vector<double>(more.observations.begin(), more.observations.end());
  };
  const Resampled one = resample_parametric(model, log.view(), seen, options, {1});
  EXPECT_EQ(one, resample_parametric(model, log.view(), seen, options, {3}));
  EXPECT_NE(one.estimates[0], one.estimates[1]);
}

// Blocks of whole runs where there are many, with missing observations.
TEST(Bootstrap, TakesManyRuns) {
  const Pomdp model = pest_control();
  const LogBlock log = simulated(model, "uniform", 6000);
  TransitionLikelihood rows(model);
  for (std::size_t t = 0; t < log.rows.size(); ++t) {
    if (t % 7 == 0) rows.start_run();
    rows.append(log.rows.actions[t], t % 5 == 0 ? kMissing : log.rows.observations[t]);
  }
  const TransitionEstimate best =
      estimate_likelihood(likelihood_rows(rows), {TransitionModel::uniform(2, 2)}, model);
  const Resampled resampled = resample_blocks(model, rows, best.transition, {}, {100, 3});
  for (std::size_t i = 0; i < best.standard_error.size(); ++i) {
    double mean = 0.0;
    for (const std::vector<double>& values : resampled.estimates) mean += values[i] / 100.0;
    EXPECT_NEAR(mean, best.transition.values()[i], best.standard_error[i]);
  }
}

// One long run and many short ones: the long one is cut, so that there is much to draw from.
TEST(Bootstrap, CutsARunThatIsLongerThanABlock) {
  const Pomdp model = pest_control();
  const LogBlock log = simulated(model, "uniform", 20'000);
  TransitionLikelihood rows(model);
  for (std::size_t t = 0; t < log.rows.size(); ++t) {
    if (t >= 19'400 && t % 4 == 0) rows.start_run();
    rows.append(log.rows.actions[t], log.rows.observations[t]);
  }
  const TransitionEstimate best =
      estimate_likelihood(likelihood_rows(rows), {TransitionModel::uniform(2, 2)}, model);
  const Resampled resampled = resample_blocks(model, rows, best.transition, {}, {100, 3});
  EXPECT_EQ(resampled.pieces, 128U);
  TransitionEstimate again = best;
  set_bootstrap_errors(resampled, ErrorBars::block_bootstrap, again);
  EXPECT_LT(disagreement(again.standard_error, best.standard_error), 0.3);
}

TEST(Bootstrap, WrongOptionsAreNamed) {
  const auto chosen = [](const char* name) {
    return options_from<BootstrapOptions>(std::vector<Setting>{{"error_bars", name}}, "this");
  };
  EXPECT_EQ(chosen("block-bootstrap").error_bars, ErrorBars::block_bootstrap);
  EXPECT_EQ(to_string(ErrorBars::block_bootstrap), "block-bootstrap");
  try {
    static_cast<void>(chosen("magic"));
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("'magic'"));
    EXPECT_THAT(error.what(), HasSubstr("parametric-bootstrap"));
  }
  EXPECT_THROW((BootstrapOptions{3, 1}.validate()), InvalidArgument);
  const Pomdp model = pest_control();
  EXPECT_THROW(static_cast<void>(
                   resample_blocks(model, TransitionLikelihood(model), model.transition(), {}, {})),
               InvalidArgument);
}

// 120 logs each: fails with probability below 1e-6 where coverage is 95 %, and when standard errors
// are wrong by a quarter (a mean square of 1.78 or 0.64, bands of all rows that hold in 63 %).
class CheapCoverage : public ::testing::TestWithParam<test::CoverageCase> {};
TEST_P(CheapCoverage, IsNear95Percent) {
  const test::Coverage found = test::measure_coverage(GetParam());
  EXPECT_GT(found.mean_square, 0.75);
  EXPECT_LT(found.mean_square, 1.32);
  for (const double share : {found.entry, found.row, found.row_l1}) {
    EXPECT_GT(share, 0.91);
    EXPECT_LT(share, 0.985);
  }
  // At least 100 of 120: Binomial(120, 0.95) is below with probability 1e-6.
  EXPECT_GE(found.all, 100.0 / 120.0);
  EXPECT_GE(found.all_l1, 100.0 / 120.0);
}
INSTANTIATE_TEST_SUITE_P(
    All, CheapCoverage,
    ::testing::Values(
        test::CoverageCase{Timing::before, "uniform", false, ErrorBars::asymptotic, 120, 30'000},
        test::CoverageCase{Timing::after, "belief", false, ErrorBars::asymptotic, 120, 30'000},
        test::CoverageCase{Timing::before, "belief", false, ErrorBars::block_bootstrap, 120,
                           30'000},
        test::CoverageCase{Timing::before, "belief", true, ErrorBars::asymptotic, 120, 10'000},
        test::CoverageCase{Timing::after, "uniform", true, ErrorBars::asymptotic, 120, 10'000}));

// Entries of T near 0 and short logs: intervals may then hold more than 95 %, but not less, and
// none is empty. 60 logs: the standard deviation of a share of entries is below 0.01.
class CoverageAtTheBound : public ::testing::TestWithParam<test::CoverageCase> {};
TEST_P(CoverageAtTheBound, IsNotBelow95Percent) {
  const test::Coverage found = test::measure_coverage(GetParam());
  EXPECT_GT(found.entry, 0.92);
  EXPECT_GT(found.row, 0.90);
  EXPECT_EQ(found.empty, 0.0);
  // At least 46 of 60: Binomial(60, 0.95) is below with probability 1e-6.
  EXPECT_GE(found.all, 46.0 / 60.0);
  EXPECT_GE(found.all_l1, 46.0 / 60.0);
}
INSTANTIATE_TEST_SUITE_P(All, CoverageAtTheBound,
                         ::testing::Values(test::CoverageCase{.policy = "belief",
                                                              .likelihood = true,
                                                              .runs = 60,
                                                              .steps = 8000,
                                                              .problem = "machine-maintenance"},
                                           test::CoverageCase{.policy = "belief",
                                                              .runs = 60,
                                                              .steps = 8000,
                                                              .problem = "machine-maintenance"},
                                           test::CoverageCase{.policy = "belief",
                                                              .likelihood = true,
                                                              .runs = 60,
                                                              .steps = 8000,
                                                              .problem = "patient-treatment"}));

// Rows of 20 states of which 19 were left for once in 50 visits or so: shares with laws Beta(1,
// 49), whose tails are exponential. Bands of all of them must reach as far as Bonferroni's
// quantiles do.
TEST(PosteriorRegions, HoldTheTailsOfSkewedShares) {
  constexpr int kStates = 20;
  constexpr int kRows = kStates;
  TransitionEstimate estimate;
  estimate.confidence = 0.95;
  std::vector<double> means;
  for (int row = 0; row < kRows; ++row) {
    estimate.visits.push_back(50.0);
    for (int next = 0; next < kStates; ++next) {
      const double mean = next == row ? 1.0 - 0.02 * (kStates - 1) : 0.02;
      means.push_back(mean);
      estimate.standard_error.push_back(std::sqrt(mean * (1.0 - mean) / 51.0));
      estimate.lower.push_back(next == row ? 0.4 : 0.0);
      estimate.upper.push_back(next == row ? 0.8 : 0.0753);
    }
  }
  estimate.transition = TransitionModel(kStates, 1, means);
  const auto quantile = [](double above) { return 1.0 - std::pow(above, 1.0 / 49.0); };
  add_posterior_regions(means, estimate);
  EXPECT_EQ(estimate.row_region.lower[1], 0.0);
  EXPECT_GE(estimate.row_region.upper[1], quantile(0.025 / kStates));
  EXPECT_GE(estimate.joint_region.upper[1], quantile(0.025 / kStates / kRows));
  EXPECT_LE(estimate.joint_region.upper[1], 1.5 * quantile(0.025 / kStates / kRows));
  EXPECT_LE(estimate.joint_region.lower[0], estimate.lower[0]);
  EXPECT_GE(estimate.joint_region.l1[0], estimate.row_region.l1[0]);
  estimate.standard_error.pop_back();
  EXPECT_THROW(add_posterior_regions(means, estimate), InvalidArgument);
}

}  // namespace
}  // namespace oas
