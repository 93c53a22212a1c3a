#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sensors_support.hpp"

/// Intervals of T when sensors are calibrated on few rows; prints the table of
/// docs/results/coverage.md.
namespace oas::test {
namespace {

constexpr double kDeviations = 4.9;  // failure probability 1e-6

TEST(SensorsCoverage, IntervalsHoldFromThirtyLabelledRowsOn) {
  for (const bool shared : {false, true}) {
    for (const Timing timing : {Timing::before, Timing::after}) {
      for (const int labelled : {5, 30, 100, 1000}) {
        for (const std::size_t steps : {2'000U, 10'000U}) {
          if (shared && labelled != 30) continue;
          SensorCase one;
          one.timing = timing;
          one.shared = shared;
          one.labelled = labelled;
          one.steps = steps;
          one.models = 50;
          const SensorCoverage found = measure_coverage(one);
          one.exact = true;
          const SensorCoverage exact = measure_coverage(one);
          fmt::print(
              "| {} | {} | {} | {} | {:.1f} ± {:.1f} | {:.2f} | {:.1f} | {:.3f} | {:.3f} | {:.0f} "
              "| {:.1f} | {:.3f} | {:.3f} | {:.0f} |\n",
              timing == Timing::before ? "before" : "after", shared ? "one" : "per action",
              labelled, steps, 100.0 * found.inside, 100.0 * found.error, found.mean_square,
              100.0 * found.flagged, found.width, found.rms, found.passes, 100.0 * exact.inside,
              exact.width, exact.rms, exact.passes);
          std::fflush(stdout);
          EXPECT_GT(found.inside, 0.93 - kDeviations * found.error);
        }
      }
    }
  }
}

}  // namespace
}  // namespace oas::test
