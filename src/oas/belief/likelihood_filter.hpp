#pragma once

#include <span>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/run_start.hpp"

namespace oas {

/// BeliefFilter for rows that bring likelihoods p(o | s, a) instead of a finite observation:
///   before:  b'(s') ∝ Σ_s b(s) p(o|s) T_a(s,s')      after:  b'(s') ∝ p(o|s') Σ_s b(s) T_a(s,s')
/// O(S²) per row, no allocation.
class LikelihoodFilter {
 public:
  /// Timing, start and dynamics of `chain`; its sensors are not looked at. Throws InvalidArgument
  /// when it has no transition model.
  explicit LikelihoodFilter(const Pomdp& chain);
  /// With other dynamics than those of `chain`: what a policy believes in.
  LikelihoodFilter(const Pomdp& chain, TransitionModel transition);

  /// Back to the start of a run; returns the density of the first reading, 1 where there is none.
  double reset(const RunStart& start = {});
  /// To the given distribution over states.
  void reset(std::span<const double> belief);

  /// Takes in one row, S likelihoods, all 1 where nothing was seen; returns Σ_s P(s) p(o|s) with s
  /// the state that emits, the density of the observation. On 0 (the model says this cannot happen)
  /// the observation is skipped and the filter stays usable.
  double update(Action action, std::span<const double> likelihoods);

  [[nodiscard]] std::span<const double> belief() const { return belief_; }

 private:
  void move(Action action);
  double weigh(std::span<const double> likelihoods);

  Timing timing_;
  std::vector<double> start_;
  TransitionModel transition_;
  std::vector<double> belief_;
  std::vector<double> scratch_;
};

}  // namespace oas
