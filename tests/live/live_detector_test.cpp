#include "oas/live/detail/live_detector.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "oas/estimation/likelihood/maximum_likelihood.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/environment.hpp"
#include "oas/simulation/policies.hpp"

namespace oas::detail {
namespace {

// Rows of a uniform policy in `model`, watched by a detector that holds `held` to be true.
void watch(const Pomdp& model, std::uint64_t seed, std::int64_t first, std::int64_t rows,
           LiveDetector& detector, LiveDetector::Watch& unit) {
  Environment environment(model, Rng({seed, 0, Role::environment}));
  Rng rng({seed, 0, Role::test});
  for (std::int64_t t = first; t < first + rows; ++t) {
    const Action action{rng.below(static_cast<std::uint32_t>(model.num_actions()))};
    detector.see(unit, {action, environment.step(action).observation, {}}, t);
  }
}

LiveDetector::Watch at_start(const Pomdp& model) { return {model.start(), kMissing}; }

// The mean number of rows between false alarms is at least what was asked for: Markov's inequality
// for the sum over runs, P(alarm within n rows) <= n / N.
TEST(LiveDetectorTest, FalseAlarmsAreAsRareAsStated) {
  constexpr double kStepsPerAlarm = 1000.0;
  constexpr int kRuns = 400;
  constexpr int kRows = 200;
  for (const char* problem : {"machine-maintenance", "network-link", "robot-corridor"}) {
    const Pomdp model = make_problem(problem);
    int alarms = 0;
    for (int run = 0; run < kRuns; ++run) {
      LiveDetector detector(model, kStepsPerAlarm);
      detector.hold_true(model.transition());
      LiveDetector::Watch unit = at_start(model);
      watch(model, static_cast<std::uint64_t>(run), 0, kRows, detector, unit);
      alarms += static_cast<int>(detector.alarms());
    }
    // At most 0.2 a run in the mean: 80 of 400, and 5 standard deviations of 8.
    EXPECT_LE(alarms, 120) << problem;
  }
}

TEST(LiveDetectorTest, TheMeanOfTheStatisticIsTheNumberOfRows) {
  const Pomdp model = make_problem("network-link");
  constexpr int kRuns = 4000;
  constexpr int kRows = 30;
  double sum = 0.0;
  double squares = 0.0;
  for (int run = 0; run < kRuns; ++run) {
    LiveDetector detector(model, 1e12);
    detector.hold_true(model.transition());
    LiveDetector::Watch unit = at_start(model);
    watch(model, static_cast<std::uint64_t>(run), 0, kRows, detector, unit);
    sum += detector.evidence();
    squares += detector.evidence() * detector.evidence();
  }
  const double mean = sum / kRuns;
  const double error = std::sqrt((squares / kRuns - mean * mean) / kRuns);
  EXPECT_NEAR(mean, kRows, 5.0 * error);
  EXPECT_LT(error, 1.5);
}

// The dynamics become more random.
TEST(LiveDetectorTest, AChangeIsFound) {
  const Pomdp model = make_problem("machine-maintenance");
  const Pomdp other = model.with_transition(mixed_with_uniform(model.transition(), 0.3));
  LiveDetector detector(model, 1e6);
  detector.hold_true(model.transition());
  LiveDetector::Watch unit = at_start(model);
  watch(model, 1, 0, 5000, detector, unit);
  EXPECT_EQ(detector.alarms(), 0);
  watch(other, 2, 5000, 5000, detector, unit);
  EXPECT_EQ(detector.alarms(), 1);
  EXPECT_GT(detector.last_alarm(), 5000);
}

}  // namespace
}  // namespace oas::detail
