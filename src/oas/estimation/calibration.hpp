#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"

namespace oas {

/// How often each state, under each action, gave each observation: integers, which merge in any
/// order.
struct SensorCounts {
  SensorCounts() = default;
  SensorCounts(int num_states, int num_actions, int num_observations);

  void add(const SensorCounts& other);
  [[nodiscard]] std::int64_t& at(Action action, State state, Observation observation);
  /// Observations under (action, state).
  [[nodiscard]] std::int64_t total(Action action, State state) const;

  int num_states = 0;
  int num_actions = 0;
  int num_observations = 0;
  std::vector<std::int64_t> values;  ///< [a][s][o]
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  std::int64_t unused = 0;  ///< rows without observation, or without the state that emitted it
};

/// Counts the rows of labelled runs, block by block. Which state emits: in `before` timing that of
/// the row, in `after` that of the next row of the run, so that the last row of a run tells
/// nothing. Given state and action an observation depends on nothing else, so any policy will do.
class SensorCounter {
 public:
  /// Sizes and timing of `model`.
  explicit SensorCounter(const Pomdp& model);

  void start_run();
  /// Rows first … first+count-1 of a trajectory with states. Indices are trusted.
  void add(const Trajectory& rows, std::size_t first, std::size_t count);
  [[nodiscard]] SensorCounts finish();

 private:
  void end_run();

  Timing timing_;
  SensorCounts counts_;
  bool waiting_ = false;  // `after`: a row whose emitting state is the next row's
  Action action_;
  Observation observation_;
};

struct CalibrationOptions {
  double confidence = 0.95;  ///< level of each row of intervals and of each interval of α
  /// Imaginary observations added to every entry: a Dirichlet prior with parameter 1 + prior. 0:
  /// plain frequencies; then every (action, state) must have been seen.
  double prior = 0.0;
  int draws = 400;         ///< random sensors behind the intervals of α, at least 100
  std::uint64_t seed = 1;  ///< of these

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// σ_S(Z_a) of a calibrated sensor; `lower` may be 0: the rows do not show that the sensor tells
/// all states apart.
struct AlphaInterval {
  double value = 0.0;
  double lower = 0.0;
  double upper = 0.0;
};

/// Sensors from labelled rows. Tables are [action][state][observation].
struct Calibration {
  ObservationModel sensors;
  SensorCounts counts;
  double confidence = 0.95;
  std::vector<double> lower;  ///< limits that hold for all entries of a row at once
  std::vector<double> upper;
  std::vector<AlphaInterval> alpha;  ///< [a]
  std::vector<std::string> warnings;

  /// Whether every action's sensor is shown to tell all states apart.
  [[nodiscard]] bool suffices() const;
  /// One line: rows, α, verdict.
  [[nodiscard]] std::string brief() const;
};

/// Z_a(o|s) = (n(a,s,o) + prior) / (n(a,s) + O prior), with
///  - simultaneous intervals for the O probabilities of each (a,s): Wilson's with Bonferroni's
///    quantile (Goodman 1965), from the counts alone;
///  - an interval for α_a = σ_S(Z_a). With D = diag of the rows seen per state, q a quantile of
///    ‖(Ẑ - Z)√D‖ (of Dirichlet(n + 1/2) draws less their means) and τ = σ_S(Ẑ√D), every v has
///    ‖Zv‖ >= ‖Ẑv‖ - q ‖D^-½ v‖ >= ‖Ẑv‖ (1 - q/τ), so that α >= α̂ (1 - q/τ), or nothing is shown
///    when q >= τ; and α <= α̂ + q ‖D^-½ v̂‖ at the least singular vector v̂. Conservative, and
///    valid for blind sensors too, whose α̂ is never 0 and would look significant by a standard
///    error.
/// O(draws A S² O). Throws InvalidArgument naming them when some (a,s) were never seen and the
/// prior is 0. `model` gives names.
[[nodiscard]] Calibration calibrate(const SensorCounts& counts, const Pomdp& model,
                                    const CalibrationOptions& options = {});

}  // namespace oas
