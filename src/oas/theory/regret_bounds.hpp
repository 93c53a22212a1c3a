#pragma once

#include <optional>
#include <string>

/// The regret bound of OAS-UCRL with all its constants (paper: Theorem theorem:algorithmBound and
/// the appendix with its proof). Read the numbers as what the proof gives, not as a forecast: for
/// every model of interest they exceed T by many orders of magnitude.
namespace oas {

/// D(ε), the bound on the span of the bias of the belief MDP when no transition probability is
/// below ε: with γ = (1 - 2ε)/(1 - ε),
///   D(ε) = 8 (2/(1-γ)² + (1+γ) log_γ((1-γ)/8)) / (1-γ),
/// decreasing in ε, 16 at ε = 1/2 (γ = 0). Throws InvalidArgument unless 0 < ε <= 1/2; every model
/// with two states or more has ε <= 1/2. Paper: prop:uniformBoundBias, where γ is called α and the
/// logarithm's base a.
[[nodiscard]] double bias_span_bound(double min_transition);

/// L(S,ε) = 4S(1-ε)²/ε³ + √S: beliefs filtered with T̂ and with T differ by at most
/// L · max_a ‖T̂_a - T_a‖_F in L1 norm, whatever was done and seen. Throws InvalidArgument unless
/// S >= 1 and 0 < ε <= 1. Paper: prop:beliefErrorPOMDP.
[[nodiscard]] double belief_error_constant(int num_states, double min_transition);

/// The number of episodes K + 1, episode 0 included, that a run of `steps` >= 1 steps begins when
/// episode k lasts `first_episode`·2^k steps, first_episode >= 1: ⌈log₂(T/T_0 + 1)⌉, without
/// rounding. Paper: tp:lmaxDef.
[[nodiscard]] int num_episodes(double steps, double first_episode);

/// What the regret bound takes.
struct RegretBoundInputs {
  int num_states = 0;
  double alpha = 0.0;                   ///< min over a of σ_S(Z_a), > 0
  double min_transition = 0.0;          ///< ε, in (0, 1/S]
  double min_action_probability = 0.0;  ///< ι, in (0, 1]
  /// C_max, at least 1: the largest start ratio of an episode. Unset: 1/(ει).
  std::optional<double> start_ratio;
  double delta = 0.1;             ///< in (0, 2/5): the bound fails with at most 5δ/2
  double steps = 0.0;             ///< T, at least 3
  double first_episode = 3200.0;  ///< T_0, in [1, T]

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// The terms of the bound (paper: tp:finalExtendedBound), with D = D(ε/2), as the proof needs it
/// for the optimistic models too.
struct RegretBound {
  double span_bound = 0.0;       ///< D(ε/2)
  double belief_constant = 0.0;  ///< L(S,ε)
  int episodes = 0;              ///< K + 1
  double switching = 0.0;        ///< log₂(T) · D
  double martingales = 0.0;      ///< 4D √(2T log(4/δ))
  double first_episode = 0.0;    ///< T_0
  /// 6L(2+D)/(α²(ει)^{3/2}) · √((2C + 5 log(C/δ) + 15 log log T) T)
  double estimation = 0.0;
  double confidence = 0.0;  ///< 1 - 5δ/2

  [[nodiscard]] double total() const {
    return switching + martingales + first_episode + estimation;
  }
  /// One line for people.
  [[nodiscard]] std::string brief() const;
};

/// With probability at least 1 - 5δ/2 the regret of OAS-UCRL after T steps is at most total(), for
/// rewards in [0, 1]. Throws InvalidArgument on inputs out of range. Paper: theorem:algorithmBound.
///
/// On the proof: log log T stands for log K, and K <= log T needs T_0 large enough that
/// log₂(T/T_0 + 1) <= log T, which the default of T_0 meets for every T up to 10^9;
/// otherwise log K is used here, so that the bound is never below what the proof gives.
[[nodiscard]] RegretBound regret_bound(const RegretBoundInputs& inputs);

}  // namespace oas
