#pragma once

#include <span>
#include <vector>

#include "oas/belief/filter.hpp"
#include "oas/core/rng.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// The exact posterior over a finite set of candidate transition models, one of which is taken to
/// be true: P(T_i | rows) ∝ prior_i · P(observations | actions, T_i). Plain code, one belief filter
/// and one sum of logarithms a candidate: the reference for ParticlePosterior. O(P S²) a row.
class FinitePosterior {
 public:
  /// `prior` empty: uniform. Throws InvalidArgument on no candidate, wrong sizes, or a prior that
  /// is no distribution.
  FinitePosterior(const Pomdp& sensors, std::span<const TransitionModel> candidates,
                  std::span<const double> prior = {});

  /// Rows to come belong to another run.
  void start_run();

  /// Takes in one row; returns P(observation | all rows so far, action), 1 for kMissing. 0 when no
  /// candidate of positive weight allows it: then the observation is skipped.
  double update(Action action, Observation observation);

  [[nodiscard]] int size() const { return static_cast<int>(candidates_.size()); }
  [[nodiscard]] const TransitionModel& candidate(int i) const { return candidates_[i]; }
  [[nodiscard]] std::span<const double> belief(int i) const { return filters_[i].belief(); }
  /// P(T_i | rows).
  [[nodiscard]] double probability(int i) const { return probabilities_[i]; }
  /// log P(T_i | rows), -infinity where that is 0: still tells candidates apart whose probability
  /// is too small for a double.
  [[nodiscard]] double log_probability(int i) const { return logs_[i]; }
  /// A candidate drawn by its probability.
  [[nodiscard]] int draw(Rng& rng) const;

 private:
  std::vector<TransitionModel> candidates_;
  std::vector<BeliefFilter> filters_;
  std::vector<double> logs_;
  std::vector<double> probabilities_;
};

}  // namespace oas
