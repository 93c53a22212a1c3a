#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/settings.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/sensors/labelled_rows.hpp"

namespace oas {

/// How often each state, under each action, gave each observation: integers, which merge in any
/// order.
struct SensorCounts {
  SensorCounts() = default;
  /// Throws InvalidArgument on sizes below 1.
  SensorCounts(int num_states, int num_actions, int num_observations);

  /// Throws InvalidArgument when sizes differ.
  void add(const SensorCounts& other);
  /// These throw InvalidArgument on an index that does not exist.
  [[nodiscard]] std::int64_t& at(Action action, State state, Observation observation);
  /// Observations under (action, state).
  [[nodiscard]] std::int64_t total(Action action, State state) const;
  /// Throws InvalidArgument unless there are as many values as the sizes say, none negative.
  void validate() const;

  int num_states = 0;
  int num_actions = 0;
  int num_observations = 0;
  std::vector<std::int64_t> values;  ///< [a][s][o]
  /// [s][o] of the first readings of runs, where rows are reading-first and their sensor is to be
  /// found; else empty.
  std::vector<std::int64_t> first;
  LabelledTally tally;
};

/// Whether, in the same state, observations differ by action: Pearson's test of independence in the
/// A×O table of every state, added up. Rows and columns of a table are left out, the rarest first,
/// until five are expected everywhere.
struct ActionDependence {
  double statistic = 0.0;
  double degrees = 0.0;                                       ///< of freedom
  double p_value = std::numeric_limits<double>::quiet_NaN();  ///< NaN: nothing to be tested
};
[[nodiscard]] ActionDependence test_action_dependence(const SensorCounts& counts);

/// Counts the rows of labelled runs, block by block; which state emits, LabelledRows says. First
/// readings of runs that are reading-first come from the sensor of all actions, or from one of
/// their own where actions have different ones. Where the model states one that is not that of all
/// actions they are not counted: their sensor is known.
///
/// When that is right. Among the rows of (a,s) observation o has the share
///
///     Z_a(o|s) q(a|s,o) / Σ_o' Z_a(o'|s) q(a|s,o'),    q(a|s,o) = P(a_t = a | s_t = s, o_t = o),
///
/// which is Z_a(o|s) for all o just when, in that state, the choice of a does not depend on the
/// observation of its own row. Any policy that acts before it sees that observation will do. In
/// `after` timing the observation is an effect of the action, so that this cannot fail. In `before`
/// timing it fails for logs that note a reading and then the action chosen from it. A reading that
/// is there before the action cannot depend on it, so that Z is the same for all actions then, and
/// Σ_a q = 1: counted over all actions together (CalibrationOptions::same_for_all_actions) the
/// share of o is Z(o|s) again.
class SensorCounter {
 public:
  /// Sizes, timing and rows of `model`.
  explicit SensorCounter(const Pomdp& model);

  void start_run() { rows_.start_run(); }
  /// Rows first … first+count-1 of a trajectory with states; -1 is an unknown one, and where rows
  /// are reading-first an action that is not told. Throws InvalidArgument on rows or indices that
  /// do not exist, and has changed nothing then.
  void add(const Trajectory& rows, std::size_t first, std::size_t count);
  [[nodiscard]] SensorCounts finish();

 private:
  void check_rows(const Trajectory& rows, std::size_t first, std::size_t count) const;
  void count_one(Action action, State state, Observation observation);

  LabelledRows<Observation> rows_;
  SensorCounts counts_;
  std::int64_t known_first_ = 0;  // first readings whose sensor is known
};

struct CalibrationOptions {
  double confidence = 0.95;  ///< level of each row of intervals and of each interval of α
  /// Imaginary observations added to every entry: a Dirichlet prior with parameter 1 + prior. 0:
  /// plain frequencies; then every (action, state) must have been seen.
  double prior = 0.0;
  /// Sensors do not depend on the action: counts are added up over actions.
  bool same_for_all_actions = false;
  /// The user's word that they do, and that in `before` timing actions were not chosen from the
  /// observation of their own row: no warning of that.
  bool differ_by_action = false;
  int draws = 400;         ///< random sensors behind the intervals of α, at least 100
  std::uint64_t seed = 1;  ///< of these

  template <class Fields>
  void visit(Fields& fields) {
    fields("confidence", confidence, {kAboveZero, kBelowOne}, "confidence level of the intervals");
    fields("prior", prior, {0.0}, "imaginary observations added to every entry");
    fields("same_for_all_actions", same_for_all_actions,
           "estimate one sensor for all actions, from the rows of all of them");
    fields("differ_by_action", differ_by_action,
           "Confirms that sensors differ by action, and that no action was chosen "
           "from its row's reading");
    fields("draws", draws, {100}, "random sensors behind the intervals of alpha");
    fields("seed", seed, "same seed, same intervals of alpha");
  }

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
  /// That of first readings, where it was found by itself.
  std::optional<ObservationModel> first_observation;
  SensorCounts
      counts;  ///< behind the sensors: where these are the same for all actions, so are counts
  bool same_for_all_actions = false;
  ActionDependence dependence;  ///< of the rows as they were counted
  /// (a,s) without any observation, known from the prior alone.
  std::vector<std::pair<Action, State>> unseen;
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
/// First readings of rows that are reading-first count for the one sensor of all actions, or else
/// (several actions, not the same for all) make a sensor of their own.
/// O(draws A S² O). Throws InvalidArgument on counts of other sizes than the model's, when there is
/// no row to count, and naming them when some (a,s), or states of first readings, were never seen
/// and the prior is 0. In `before` timing warns of observations that differ by action (p < 1e-4),
/// which may be the sensors or how actions were chosen (see SensorCounter), unless options say
/// which. `model` gives names and timing.
[[nodiscard]] Calibration calibrate(const SensorCounts& counts, const Pomdp& model,
                                    const CalibrationOptions& options = {});

}  // namespace oas
