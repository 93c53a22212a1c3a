#pragma once

#include <cstddef>
#include <cstdint>

#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::test {

/// Logs of random models whose sensors are known from labelled rows alone.
struct SensorCase {
  Timing timing = Timing::before;
  int states = 3;
  int actions = 2;
  int observations = 4;
  int labelled = 30;    ///< rows of each distribution of the sensors
  bool shared = false;  ///< one sensor for all actions
  bool exact = false;   ///< take the calibrated sensors as exact
  std::size_t steps = 4'000;
  std::size_t models = 50;
  double min_alpha = 0.2;
  double concentration = 1.0;
};

/// A random model; with one sensor for all actions where that is asked for.
[[nodiscard]] Pomdp truth_of(const SensorCase& one, std::uint64_t seed);
/// The same with sensors as `labelled` rows of each distribution show them, and with the counts.
[[nodiscard]] Pomdp calibrated(const Pomdp& truth, const SensorCase& one, std::uint64_t seed);

/// As `oas estimate` does it: moments, then likelihood. Uniform actions, one run.
[[nodiscard]] TransitionEstimate estimate_calibrated(const SensorCase& one, std::uint64_t seed);

/// Shares over all entries of T that have error bars.
struct SensorCoverage {
  double inside = 0.0;       ///< of the entries in their 95 % intervals
  double error = 0.0;        ///< standard error of `inside`, over models
  double mean_square = 0.0;  ///< of (estimate - truth) / standard error
  double width = 0.0;        ///< mean of upper - lower
  double flagged = 0.0;      ///< of the rows, without error bars
  double rms = 0.0;          ///< of estimate - truth
  double passes = 0.0;
};
[[nodiscard]] SensorCoverage measure_coverage(const SensorCase& one);

}  // namespace oas::test
