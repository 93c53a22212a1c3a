#pragma once

#include <string>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/model/transition_model.hpp"

/// How fast a chain forgets where it was (paper: appendix "Geometric ergodicity and Dobrushin
/// coefficient for Markov Chains").
namespace oas {

/// ε = min over a, s, s' of T_a(s,s') (paper: Assumption ass:minElem asks for ε > 0).
[[nodiscard]] double smallest_transition(const TransitionModel& transition);

/// Dobrushin's coefficient of an m×n matrix K whose rows are distributions,
///   ρ(K) = 1 - min_{i,j} Σ_l min{K(i,l), K(j,l)} = ½ max_{i,j} ‖K(i,·) - K(j,·)‖₁  in [0, 1],
/// the best factor with ‖Kᵀν - Kᵀν'‖₁ <= ρ ‖ν - ν'‖₁ for all distributions ν, ν' (paper:
/// eq:dobrushinContraction). For a square K it bounds the second largest eigenvalue modulus, and
/// ρ <= 1 - nε when no entry is below ε. O(m² n), less when it is 1. Throws InvalidArgument unless
/// the rows are distributions.
[[nodiscard]] double dobrushin_coefficient(const Eigen::Ref<const Matrix>& stochastic);

/// The modulus of the second largest eigenvalue of a square row-stochastic matrix, 0 for 1×1; not a
/// number when the eigenvalue iteration fails. O(n³). Throws InvalidArgument on one that is not
/// square or not finite.
[[nodiscard]] double second_eigenvalue_modulus(const Eigen::Ref<const Matrix>& stochastic);

/// The chain of states under the uniform policy, (1/A) Σ_a T_a. O(A S²).
[[nodiscard]] Matrix uniform_policy_chain(const TransitionModel& transition);

/// λ_max = 1 - S A ε ι, the paper's bound on the coefficient of the chain over (state, action)
/// under any policy with floor ι (eq. elp:lambdaMaxDef). Throws InvalidArgument unless 0 <= ε <=
/// 1/S and 0 <= ι <= 1/A.
[[nodiscard]] double contraction_bound(int num_states, int num_actions, double min_transition,
                                       double min_action_probability);

/// Mixing of a transition model. "Uniform" means under the policy that plays every action with
/// probability 1/A.
struct ErgodicityReport {
  double min_transition = 0.0;              ///< ε
  std::vector<double> action_coefficients;  ///< ρ(T_a) by action
  double coefficient = 1.0;                 ///< max over a of ρ(T_a)
  /// ρ of the chain over (state, action), M((s,a),(s',a')) = T_a(s,s')/A, uniform: half the largest
  /// L1 distance between any two rows of any T_a.
  double state_action_coefficient = 1.0;
  /// Second eigenvalue modulus, uniform; the chains over states and over (state, action) share it,
  /// since their non-zero eigenvalues are the same.
  double second_eigenvalue = 1.0;
  std::vector<double> stationary;  ///< uniform; empty when there is more than one closed class
  double min_stationary = 0.0;     ///< d_min, uniform; 0 when there are transient states

  /// False for models that are too large for the second eigenvalue and the stationary distribution.
  bool complete = true;

  /// One line for people.
  [[nodiscard]] std::string brief() const;
};

/// All of the above, as far as about 10 s allow: what takes longer is NaN, and `stationary` empty.
/// Of more than 1000 states, or of a listed model, there is neither the second eigenvalue nor the
/// stationary distribution, O(S³). Coefficients, O((A S)² S) at worst, are left out when comparing
/// rows would read more than 5e9 numbers, and of a listed model, unless they are 1: two rows
/// without a common next state show it. Throws InvalidArgument on a model without states.
[[nodiscard]] ErgodicityReport analyse_ergodicity(const TransitionModel& transition);

}  // namespace oas
