#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/core/settings.hpp"
#include "oas/model/density_sensors.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/sensors/calibration.hpp"
#include "oas/sensors/density_family.hpp"
#include "oas/sensors/labelled_rows.hpp"

namespace oas {

/// Where a labelled reading stands.
struct ReadingPlace {
  std::size_t file = 0;
  long line = 0;
};

/// Readings under one action in one state, [row][component]; NaN: a component that is missing.
struct ReadingGroup {
  std::vector<double> values;
  std::vector<ReadingPlace> places;  ///< of the rows

  [[nodiscard]] std::size_t size() const { return places.size(); }
};

/// All readings of labelled runs, with what they were read from for messages.
struct LabelledReadings {
  LabelledReadings(int num_states, int num_actions, int dimension);

  [[nodiscard]] ReadingGroup& at(Action action, State state);
  [[nodiscard]] const ReadingGroup& at(Action action, State state) const;
  /// Those of all actions together, in the order of actions, then first ones.
  [[nodiscard]] LabelledReadings pooled() const;
  /// With first readings as those of one more action.
  [[nodiscard]] LabelledReadings with_first_as_action() const;
  /// The rows of `other` follow; its places are of files that come `files` later.
  void add(const LabelledReadings& other, std::size_t files);
  /// Lets states in which nothing is ever read have the readings of all others, so that a reading
  /// would say nothing in particular for or against them. Throws InvalidArgument, with their names
  /// among `states`, where one of them has readings.
  void borrow_for(std::span<const int> unread, const Labels& states);
  /// Rows in which component i was seen; their values and places.
  [[nodiscard]] ReadingGroup component(Action action, State state, int i) const;
  /// Rows in which all components were seen.
  [[nodiscard]] ReadingGroup complete(Action action, State state) const;

  int num_states;
  int num_actions;
  int dimension;
  std::vector<ReadingGroup> groups;  ///< [a][s]
  /// [s] of the first readings of runs, where rows are reading-first and their density is to be
  /// found; else empty.
  std::vector<ReadingGroup> first;
  LabelledTally tally;
  std::vector<std::string> files;    ///< names
  std::vector<std::string> columns;  ///< of the components
  std::vector<long> fields;          ///< numbers of these columns
};

struct DensityCalibrationOptions {
  /// "auto", a family, one for each component joined by "+", or "joint-normal".
  std::string family = "auto";
  /// A density for each action, in place of one for all of them.
  bool by_action = false;
  double confidence = 0.95;  ///< of the interval of α
  int draws = 40;            ///< random densities that are kept
  std::uint64_t seed = 1;    ///< of these

  template <class Fields>
  void visit(Fields& fields) {
    fields.text("family", family,
                "treat readings as numbers (default: if the model or the columns say "
                "so), and fit densities of this family: auto, normal, log-normal, "
                "gamma, poisson, mixture, kernel, one for each component "
                "(normal+gamma), or joint-normal");
    fields("by_action", by_action, "a density for each action; default: one for all of them");
    fields("confidence", confidence, {kAboveZero, kBelowOne}, "confidence level of the intervals");
    fields("draws", draws, {20, 1000},
           "number of random densities to keep, for the error bars of estimates");
    fields("seed", seed, "same seed, same draws");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// How well a family did.
struct FamilyScore {
  std::string family;
  double score = 0.0;   ///< mean log-density of readings that were held out
  double behind = 0.0;  ///< how far behind the best one, with
  double error = 0.0;   ///< the standard error of that difference
  bool chosen = false;
  std::string left_out;  ///< why; then the numbers mean nothing
};

/// Densities from labelled rows.
struct DensityCalibration {
  DensitySensors sensors;
  std::vector<DensitySensors> draws;
  /// Those of first readings, where they were found by themselves; not drawn anew.
  std::optional<DensitySensors> first_density;
  bool by_action = false;
  /// By component; one entry "joint-normal": of all of them together.
  std::vector<std::string> families;
  std::vector<std::vector<FamilyScore>> scores;  ///< by component; then of whole vectors
  LabelledReadings readings;                     ///< behind the densities: pooled, unless by action
  ActionDependence dependence;                   ///< do readings differ by action?
  double confidence = 0.95;
  std::vector<AlphaInterval> alpha;  ///< [a] σ_S of the soft sensors, with limits from the draws
  std::vector<std::string> warnings;

  /// One line for people.
  [[nodiscard]] std::string brief() const;
};

/// Do readings of the same state differ by action? The test of Kruskal and Wallis (1952) in every
/// state, added up, for each component; the p-value is the smallest times the number of components.
/// Actions with fewer than five readings of a state are left out there.
[[nodiscard]] ActionDependence test_action_dependence(const LabelledReadings& readings);

/// Fits a density to the readings of every state, the same for all actions unless options say
/// otherwise.
///
/// When that is right. Readings of a state that were labelled must be a fair sample of all readings
/// of that state: whether a row is labelled may depend on the state and on the action, not on the
/// reading. Added up over actions they then have the density p(o|s), if that does not depend on the
/// action, however actions were chosen: also from the reading itself, as people do who read and
/// then act. In `before` timing a reading from which the action was chosen cannot depend on it, so
/// that densities by action would be wrong, not only superfluous. In `after` timing the reading
/// comes behind the action: densities by action are right under any policy.
///
/// First readings of rows that are reading-first have the density of all actions; where densities
/// are by action they get one of their own, of the same family.
///
/// The family is chosen for each component, the same in all states and actions: a sensor is one
/// device, and tails of different families would decide between states. The score is the mean
/// log-density of held-out readings, in ten folds of every state: it is on the same scale for
/// kernels, whose parameters nobody can count. Of the simple families (normal, log-normal, gamma)
/// the best is taken, and a mixture or kernels in place of it only where these are better by more
/// than a standard error of the difference. A joint normal density takes the place of independent
/// components wherever it scores better: to miss a dependence costs more than a few covariances too
/// many. Up to 2,000 readings of a group are used for the choice. Random densities are of the
/// family that random weights of the held-out readings would have chosen (Bayesian bootstrap).
///
/// Throws ParseError naming file, line, column and value where a family that was asked for cannot
/// be fitted, or under "auto" none.
[[nodiscard]] DensityCalibration calibrate_densities(const LabelledReadings& readings,
                                                     const Pomdp& model,
                                                     const DensityCalibrationOptions& options = {},
                                                     Parallelism parallelism = {});

}  // namespace oas
