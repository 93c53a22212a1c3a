// Intervals of one probability: against binomial and normal references, at the bounds and with few
// visits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/estimation/error_bars/entry_evidence.hpp"

namespace oas {
namespace {

// x hits among n, all seen.
EntryEvidence counts(int hits, int visits) {
  const double value = static_cast<double>(hits) / visits;
  EntryEvidence evidence =
      EntryEvidence::from_counts(value, value * (1.0 - value) / visits, visits);
  evidence.scale_to_visits(visits);
  return evidence;
}

TEST(EntryEvidence, FallOfCountsIsThatOfTheBinomialLikelihood) {
  const EntryEvidence evidence = EntryEvidence::from_counts(0.3, 0.3 * 0.7 / 50.0, 50.0);
  EXPECT_NEAR(evidence.fall(0.4), -15.0 * std::log(0.4 / 0.3) - 35.0 * std::log(0.6 / 0.7), 1e-12);
  EXPECT_EQ(evidence.fall(0.3), 0.0);
  EXPECT_TRUE(std::isinf(evidence.fall(0.0)));
  EXPECT_NEAR(EntryEvidence::from_counts(0.0, 0.0, 50.0).fall(0.1), -50.0 * std::log(0.9), 1e-12);
}

TEST(EntryEvidence, CurvatureIsThatOfTheVariance) {
  for (const double variance : {0.0042, 0.005, 0.02, 0.3, 40.0}) {
    const EntryEvidence evidence = EntryEvidence::from_counts(0.3, variance, 50.0);
    EXPECT_NEAR(evidence.variance(), variance, 1e-9 * variance);
    const double step = 1e-3;
    const double second = (evidence.fall(0.3 + step) + evidence.fall(0.3 - step)) / (step * step);
    EXPECT_NEAR(second * variance, 1.0, 2e-3) << variance;
  }
  // A variance that even seen states would not give is not believed, unless other rows may tell.
  EXPECT_NEAR(EntryEvidence::from_counts(0.3, 1e-4, 50.0).variance(), 0.21 / 50.0, 1e-12);
  EXPECT_NEAR(EntryEvidence::from_counts(0.3, 1e-4, 50.0, true).variance(), 1e-4, 1e-12);
}

TEST(EntryEvidence, ParabolasGiveNormalIntervals) {
  const EntryEvidence evidence =
      EntryEvidence::from_counts(0.5, 1e-4, std::numeric_limits<double>::infinity());
  const Limits limits = evidence.interval(0.95);
  EXPECT_NEAR(limits.lower, 0.5 - 0.0195996, 1e-4);
  EXPECT_NEAR(limits.upper, 0.5 + 0.0195996, 1e-4);
  EntryEvidence student = evidence;
  student.set_degrees(5.0);
  EXPECT_NEAR(student.interval(0.95).upper, 0.5 + 0.0257058, 1e-4);
}

// No hit among n: the rule of three. No wider than needed, and never nothing.
TEST(EntryEvidence, NoHitsGiveTheRuleOfThree) {
  for (const int visits : {30, 961, 100'000}) {
    const Limits limits = counts(0, visits).interval(0.95);
    EXPECT_EQ(limits.lower, 0.0);
    EXPECT_NEAR(limits.upper * visits, 3.0, 0.15) << visits;
    const Limits ones = counts(visits, visits).interval(0.95);
    EXPECT_NEAR(ones.lower, 1.0 - limits.upper, 1e-9);
    EXPECT_EQ(ones.upper, 1.0);
  }
}

TEST(EntryEvidence, OneVisitSaysNothing) {
  const Limits limits = counts(1, 1).interval(0.95);
  EXPECT_LT(limits.lower, 0.06);
  EXPECT_EQ(limits.upper, 1.0);
}

// Exact coverage for counts: the sum of binomial probabilities of the x whose interval holds t.
TEST(EntryEvidence, CoverageOfCountsHolds) {
  for (const int visits : {5, 10, 20, 50, 200}) {
    std::vector<Limits> intervals;
    for (int x = 0; x <= visits; ++x) intervals.push_back(counts(x, visits).interval(0.95));
    double mean = 0.0;
    for (int k = 0; k <= 400; ++k) {
      const double t = k / 400.0;
      const boost::math::binomial law(visits, t);
      double held = 0.0;
      for (int x = 0; x <= visits; ++x) {
        const Limits& one = intervals[static_cast<std::size_t>(x)];
        if (one.lower <= t && t <= one.upper) held += boost::math::pdf(law, x);
      }
      EXPECT_GT(held, 0.89) << visits << ' ' << t;
      mean += held / 401.0;
    }
    EXPECT_GT(mean, 0.95) << visits;
    EXPECT_LT(mean, 0.985) << visits;
  }
}

// Never wider than Clopper and Pearson's by more than a twentieth from 20 visits on.
TEST(EntryEvidence, IntervalsOfCountsAreShort) {
  using boost::math::binomial;
  for (const int visits : {20, 100, 1000}) {
    for (int x = 0; x <= visits; x += visits / 20) {
      const double lower = binomial::find_lower_bound_on_p(visits, x, 0.025);
      const double upper = binomial::find_upper_bound_on_p(visits, x, 0.025);
      const Limits limits = counts(x, visits).interval(0.95);
      EXPECT_LT(limits.upper - limits.lower, 1.05 * (upper - lower)) << visits << ' ' << x;
    }
  }
}

// A normal error that hides behind the bound: coverage for any true value.
TEST(EntryEvidence, CoverageOfNoisyValuesAtTheBoundHolds) {
  const double error = 0.02;
  for (const double truth : {0.0, 0.005, 0.02, 0.04, 0.06, 0.1}) {
    double held = 0.0;
    double mass = 0.0;
    for (double z = -4.5; z <= 4.5; z += 0.01) {
      const double seen = truth + error * z;
      const double weight = std::exp(-0.5 * z * z);
      // Where the maximum is at 0: D(t) = ((t - seen)² - seen²) / (2 error²).
      const EntryEvidence evidence =
          seen <= 0.0 ? EntryEvidence::at_bound(0.0, -seen / (error * error), 1.0 / (error * error))
                      : EntryEvidence::from_counts(seen, error * error,
                                                   std::numeric_limits<double>::infinity());
      const Limits limits = evidence.interval(0.95);
      EXPECT_TRUE(seen > 0.0 || limits.lower == 0.0);
      mass += weight;
      if (limits.lower <= truth && truth <= limits.upper) held += weight;
    }
    EXPECT_GT(held / mass, 0.94) << truth;
    EXPECT_LT(held / mass, 0.985) << truth;
  }
}

// The truth is 1, and two rivals at 0 have independent normal errors that hide behind the bound.
TEST(EntryEvidence, CoverageAtACornerHolds) {
  const double error = 0.01;
  double held[2] = {0.0, 0.0};  // as if there were one rival, with both
  double mass = 0.0;
  for (double x = -4.5; x <= 4.5; x += 0.05) {
    for (double y = -4.5; y <= 4.5; y += 0.05) {
      const double weight = std::exp(-0.5 * (x * x + y * y));
      const double inside_x = std::max(x, 0.0);
      const double inside_y = std::max(y, 0.0);
      mass += weight;
      const double fall = 0.5 * (inside_x * inside_x + inside_y * inside_y);
      const double value = 1.0 - error * (inside_x + inside_y);
      const double variance = error * error * ((x > 0.0) + (y > 0.0));
      for (const int rivals : {1, 2}) {
        EntryEvidence evidence =
            fall > 0.0 ? EntryEvidence::from_counts(value, variance,
                                                    std::numeric_limits<double>::infinity())
                       : EntryEvidence::at_bound(1.0, 1.0 / error, 1.0 / (error * error));
        evidence.measured(1.0, fall);
        evidence.set_rivals(rivals);
        if (evidence.interval(0.95).upper == 1.0) held[rivals - 1] += weight;
      }
    }
  }
  EXPECT_LT(held[0] / mass, 0.945);
  EXPECT_GT(held[1] / mass, 0.95);
  EXPECT_LT(held[1] / mass, 0.985);
}

TEST(EntryEvidence, MeasuredFallsCorrectTheShape) {
  EntryEvidence evidence = EntryEvidence::at_bound(0.0, 100.0, 0.0);
  EXPECT_NEAR(evidence.reach(2.0, true), 0.02, 1e-9);
  evidence.measured(0.02, 1.0);  // half of what the slope said
  EXPECT_NEAR(evidence.fall(0.02), 1.0, 1e-12);
  EXPECT_NEAR(evidence.reach(2.0, true), 0.04, 1e-9);
  evidence.measured(0.05, 4.0);
  EXPECT_NEAR(evidence.fall(0.05), 4.0, 1e-12);
  EXPECT_GT(evidence.fall(0.03), 1.0);
  EXPECT_LT(evidence.fall(0.03), 4.0);
  EXPECT_TRUE(EntryEvidence::at_bound(1.0, 0.05, 0.0).is_flat());
  EXPECT_FALSE(evidence.is_flat());
}

TEST(EntryEvidence, IntervalsHoldOtherOpinions) {
  EntryEvidence evidence = EntryEvidence::at_bound(1.0, 100.0, 0.0);
  const Limits before = evidence.interval(0.95);
  EXPECT_GT(before.lower, 0.96);
  evidence.add_opinion(0.995, 0.001);  // within
  EXPECT_EQ(evidence.interval(0.95).lower, before.lower);
  evidence.add_opinion(0.6, 0.1);
  EXPECT_TRUE(evidence.has_opinions());
  EXPECT_NEAR(evidence.interval(0.95).lower, 0.6 - 0.196, 1e-3);
  EXPECT_NEAR(evidence.interval(0.99).lower, 0.6 - 0.2576, 1e-3);
  EXPECT_EQ(evidence.interval(0.95).upper, 1.0);
  evidence.add_opinion(0.1, 0.2);
  EXPECT_EQ(evidence.interval(0.95).lower, 0.0);  // not beyond the bound
  EXPECT_THROW(evidence.add_opinion(1.5, 0.1), InvalidArgument);
  EXPECT_THROW(evidence.add_opinion(0.5, 0.1, -1.0), InvalidArgument);
}

// Another maximum, lower by 1.5: at 95 % it is worth ± √(1.96² - 3) errors, at 90 % nothing.
TEST(EntryEvidence, ALowerMaximumIsWorthLess) {
  const double inf = std::numeric_limits<double>::infinity();
  EntryEvidence evidence = EntryEvidence::from_counts(0.8, 0.0004, inf);
  evidence.add_opinion(0.3, 0.02, 1.5);
  EXPECT_NEAR(evidence.interval(0.95).lower, 0.3 - 0.02 * std::sqrt(1.959964 * 1.959964 - 3.0),
              1e-3);
  EXPECT_NEAR(evidence.interval(0.9).lower, 0.8 - 1.644854 * 0.02, 1e-3);
  evidence.scale(0.5);  // D falls half as fast, to the other maximum as well
  EXPECT_NEAR(evidence.interval(0.9).lower, 0.3 - 0.02 * std::sqrt(1.644854 * 1.644854 - 1.5),
              1e-3);
}

// Fieller's limits of a normal ratio whose divisor is independent of what is left over.
TEST(EntryEvidence, NoiseInTheDivisorWidensFarLimitsMore) {
  const double inf = std::numeric_limits<double>::infinity();
  EntryEvidence evidence = EntryEvidence::from_counts(0.5, 0.0004, inf);
  EXPECT_NEAR(evidence.interval(0.95).upper, 0.5 + 1.96 * 0.02, 1e-5);
  evidence.set_divisor_error(0.25);
  for (const auto& [level, z] : {std::pair{0.95, 1.959964}, std::pair{0.99, 2.575829}}) {
    const double half = 0.02 * z / std::sqrt(1.0 - z * z * 0.0625);
    EXPECT_NEAR(evidence.interval(level).upper, 0.5 + half, 1e-4) << level;
    EXPECT_NEAR(evidence.interval(level).lower, 0.5 - half, 1e-4) << level;
  }
  // Four standard deviations away the divisor may be 0.
  EXPECT_EQ(evidence.interval(0.99995).upper, 1.0);
  EXPECT_EQ(evidence.interval(0.99995).lower, 0.0);
  EXPECT_FALSE(evidence.is_flat());
  evidence.set_divisor_error(3.0);
  EXPECT_TRUE(evidence.is_flat());
}

TEST(EntryEvidence, WhatIsCertainHasNoWidth) {
  const Limits limits = EntryEvidence::certain(0.25).interval(0.95);
  EXPECT_EQ(limits.lower, 0.25);
  EXPECT_EQ(limits.upper, 0.25);
  EXPECT_THROW((void)EntryEvidence::certain(0.25).interval(1.0), InvalidArgument);
  EXPECT_THROW((void)EntryEvidence::from_counts(1.5, 0.1, 3.0), InvalidArgument);
}

}  // namespace
}  // namespace oas
