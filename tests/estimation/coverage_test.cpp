// Coverage of intervals and regions, every kind of error bars, over many simulated logs; prints the
// table of docs/results/coverage.md.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "coverage_support.hpp"

namespace oas::test {
namespace {

Coverage print_coverage(const CoverageCase& one) {
  const Coverage found = measure_coverage(one);
  fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", one.name(), one.runs,
             100.0 * found.entry, 100.0 * found.row, 100.0 * found.all, 100.0 * found.row_l1,
             100.0 * found.all_l1);
  return found;
}

void expect_coverage(const CoverageCase& one) {
  const Coverage found = print_coverage(one);
  for (const double share : {found.entry, found.row, found.row_l1}) {
    EXPECT_NEAR(share, 0.95, 0.02) << one.name();
  }
  // Of runs, five standard deviations are allowed where they are more.
  const double slack = std::max(0.02, 5.0 * std::sqrt(0.0475 / static_cast<double>(one.runs)));
  EXPECT_NEAR(found.all, 0.95, slack) << one.name();
  EXPECT_NEAR(found.all_l1, 0.95, slack) << one.name();
}

TEST(CoverageOfErrorBars, IsAsPromised) {
  for (const bool likelihood : {false, true}) {
    const std::size_t steps = likelihood ? 12'000 : 40'000;
    for (const Timing timing : {Timing::before, Timing::after}) {
      for (const char* policy : {"uniform", "belief"}) {
        expect_coverage({timing, policy, likelihood, ErrorBars::asymptotic, 2000, steps});
      }
    }
  }
}

// Entries near 0 and logs of moderate length: more than 95 % are held, never much less.
TEST(CoverageOfErrorBars, IsNotLessAtTheBound) {
  for (const char* problem : {"machine-maintenance", "patient-treatment", "network-link"}) {
    for (const bool likelihood : {false, true}) {
      for (const std::size_t steps : {8000, 40'000}) {
        CoverageCase one{.policy = "belief", .likelihood = likelihood, .runs = 400};
        one.steps = steps;
        one.problem = problem;
        const Coverage found = print_coverage(one);
        EXPECT_GT(found.entry, 0.93) << one.name();
        EXPECT_GT(found.row, 0.92) << one.name();
        EXPECT_GT(found.all, 0.85) << one.name();
        EXPECT_EQ(found.empty, 0.0) << one.name();
      }
    }
  }
}

// Actions of a uniform policy do not react, so that both kinds of bootstrap are right.
TEST(CoverageOfErrorBars, OfBootstrapsToo) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const char* policy : {"uniform", "belief"}) {
      expect_coverage({timing, policy, false, ErrorBars::block_bootstrap, 1000, 40'000, 200});
      expect_coverage({timing, policy, true, ErrorBars::block_bootstrap, 150, 12'000, 100});
    }
    expect_coverage({timing, "uniform", false, ErrorBars::parametric_bootstrap, 300, 12'000, 100});
    expect_coverage({timing, "uniform", true, ErrorBars::parametric_bootstrap, 150, 12'000, 100});
  }
}

}  // namespace
}  // namespace oas::test
