#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// What became of an estimate.
enum class EstimateStatus {
  not_run,
  ok,
  flagged,  ///< some rows could not be determined
};

/// A row T_a(s,·) that the data could not determine. Moment estimators set it to uniform where no
/// positive mass is left, likelihood estimators where it was never visited; else it is what they
/// ended with, and means nothing.
struct FlaggedRow {
  Action action;
  State state;
  std::string reason;
  bool settled = true;  ///< false: the estimator has not come to an end; the log may well tell
};

/// Intervals and radii that hold for many entries at once, with the probability of the estimate's
/// confidence. Empty: not made.
struct ConfidenceRegion {
  std::vector<double> factor;  ///< [a][s]: half width of the band in standard errors; NaN: unknown
  std::vector<double> lower;   ///< [a][s][s'], inside [0,1]
  std::vector<double> upper;
  std::vector<double> l1;  ///< [a][s]: ‖T̂_a(s,·) - T_a(s,·)‖₁ is at most this; 2 says nothing
};

/// A transition model with its error bars, and what else helps to judge it. Tables are
/// [action][state][next] unless said otherwise.
struct TransitionEstimate {
  std::string estimator;  ///< name of the estimator
  EstimateStatus status = EstimateStatus::not_run;
  TransitionModel transition;

  double confidence = 0.95;               ///< level of each single interval
  std::vector<double> standard_error;     ///< NaN where unknown; empty: too few data for error bars
  std::vector<double> lower;              ///< lower confidence limits, inside [0,1]
  std::vector<double> upper;              ///< upper confidence limits, inside [0,1]
  ConfidenceRegion row_region;            ///< limits that hold for all entries of any one row
  ConfidenceRegion joint_region;          ///< limits that hold for all determined rows at once
  std::string error_bars = "asymptotic";  ///< asymptotic, block- or parametric-bootstrap
  int resamples = 0;                      ///< of a bootstrap
  int num_batches = 0;  ///< batches (or particles) behind the error bars; 0: from the likelihood

  /// [draw][a][s][s']: transition models drawn from the posterior, so that what is computed from T
  /// can have error bars, too. Empty: the estimator has none.
  std::vector<double> draws;

  std::vector<std::int64_t> pairs;  ///< [a]: pairs of rows that showed a transition of a
  std::vector<double> alpha;        ///< [a]: σ_S(Z_a), how well the sensor tells the states apart
  std::vector<double> visits;       ///< [a][s]: estimated number of pairs that started in (a,s)
  std::vector<double> clipped;      ///< [a][s]: negative mass set to 0, as a share of |mass|
  std::vector<FlaggedRow> flagged;
  std::vector<std::string> warnings;  ///< warnings about the estimate

  std::int64_t rows = 0;     ///< rows of the log that were read
  std::int64_t runs = 0;     ///< runs of the log
  std::int64_t missing = 0;  ///< rows without observation

  std::optional<double> log_likelihood;  ///< log-likelihood of all rows; likelihood estimators only
  std::optional<double> fit_p_value;     ///< p-value of the test whether the log fits the sensors
  std::optional<double> effective_rows;  ///< rows of equal weight that the weights by age amount to
  /// [s]: the law of the first state of runs that started in an unknown one, learned with T; empty:
  /// there were none, or the estimator does not look at starts.
  std::vector<double> unknown_start;
  /// Where the sensors were uncertain: their joint maximum with T, and the labelled rows.
  std::optional<ObservationModel> sensors;
  std::optional<double> labelled_rows;  ///< labelled rows behind uncertain sensors
  /// [a][s]: mean rewards, where the model had none and the log brought some, with standard errors
  /// (NaN: the log does not tell). Empty: not estimated.
  std::vector<double> reward;
  std::vector<double> reward_standard_error;  ///< [a][s]
  /// [draw][a][s]: mean rewards drawn with each of `draws`. Empty: there are none of either.
  std::vector<double> reward_draws;
  /// [block][a][s][o]: where a finite model was made of uncertain densities, the sensors under
  /// which each of so many equal blocks of `draws` was drawn. Empty: all under the model's.
  std::vector<double> sensor_draws;
  std::string structure;  ///< what was known about T beforehand; empty: nothing
  int passes = 0;         ///< passes over the rows, those for error bars included

  /// Throws InvalidArgument naming the table unless each is empty, or has as many numbers as so
  /// many states and actions need, and flagged rows exist. Whoever takes an estimate with a model
  /// asks.
  void check_fits(int num_states, int num_actions) const;
  /// One line: estimator, pairs, status.
  [[nodiscard]] std::string brief() const;

  /// Adds a row to `flagged`, unless it is there already. O(flagged).
  void flag(Action action, State state, std::string reason);
};

/// `model` with the transition of an estimate, and with its sensors and rewards where it has some.
/// Counts of labelled rows stay what they are: the log's rows are not among them.
[[nodiscard]] Pomdp estimated_model(const Pomdp& model, const TransitionEstimate& estimate);

/// The transition models drawn from the posterior; none where the estimator draws none.
[[nodiscard]] std::vector<TransitionModel> drawn_transitions(const TransitionEstimate& estimate);

/// `model` with each of these in turn and, where rewards were learned with them or sensors were
/// uncertain, with the rewards and sensors that were drawn with it: what the log leaves possible.
[[nodiscard]] std::vector<Pomdp> drawn_models(const Pomdp& model,
                                              const TransitionEstimate& estimate);

/// The estimate without the transitions that were seen less than once and whose interval reaches to
/// 0. Draws from a posterior never lie on a bound, as dynamics with a structure do; this model
/// does. Rows of which nothing would be left stay as they are.
[[nodiscard]] TransitionModel without_unseen(const TransitionEstimate& estimate);

/// Warnings about rows whose entries are known to ± 0.1 only, or worse, and are not flagged.
void warn_of_poor_rows(const Pomdp& model, TransitionEstimate& estimate);

/// Warnings as told to people: rows of which the same is said, but for numbers, stand in one line.
[[nodiscard]] std::vector<std::string> for_people(const std::vector<std::string>& warnings);

}  // namespace oas
