#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oas/core/rng.hpp"
#include "oas/core/settings.hpp"
#include "oas/model/pomdp.hpp"

/// The paper's random instances (appendix "Simulation Details"), with a floor on the transition
/// probabilities that holds exactly and a say in how the sensors' peaks are spread.
namespace oas {

/// Which (state, action) gets which likely observation.
enum class PeakRule {
  /// Under one action the S states peak at distinct observations (a random injection, S <= O), so
  /// that every Z_a is well conditioned. Our default.
  distinct_per_action,
  /// The authors' rule: the O observations are dealt out evenly over the SA pairs, each pair one;
  /// the SA mod O pairs left over have no peak, and where SA < O each pair has ⌊O/SA⌋ peaks. States
  /// may share their peak under one action, so α is often below 0.03.
  spread_over_pairs,
};

[[nodiscard]] constexpr std::string_view to_string(PeakRule rule) {
  return rule == PeakRule::distinct_per_action ? "distinct-per-action" : "spread-over-pairs";
}

/// What a random instance must look like.
struct RandomPomdpOptions {
  int num_states = 3;
  int num_actions = 3;
  int num_observations = 3;
  /// ε, the least entry of every T_a, in [0, 1/S]; unset: 1/(5S), the paper's.
  std::optional<double> min_transition;
  /// Added to the likely observation before a row is normalised, the other weights being uniform on
  /// (0,1]; at least 0. 10 in the authors' code.
  double peak = 10.0;
  /// Sensors with α = min_a σ_S(Z_a) below this are drawn again; in [0, 1]. 0.001 in the paper.
  double min_alpha = 0.001;
  PeakRule peaks = PeakRule::distinct_per_action;
  Timing timing = Timing::before;
  /// Sensors are drawn at most this often; at least 1.
  int max_draws = 1000;

  template <class Fields>
  void visit(Fields& fields) {
    fields("num_states", num_states, {1, 10'000}, "number of states");
    fields("num_actions", num_actions, {1, 10'000}, "number of actions");
    fields("num_observations", num_observations, {1, 10'000}, "number of observations");
    fields("min_transition", min_transition, {0.0, 1.0},
           "smallest transition probability (default: 1/(5 S))");
    fields("peak", peak, {0.0}, "weight added to the likely observation");
    fields("min_alpha", min_alpha, {0.0, 1.0},
           "draw the sensors again if their alpha is below this");
    fields.choice("peaks", peaks, {"distinct-per-action", "spread-over-pairs"},
                  "which (state, action) gets which likely observation");
    fields.choice("timing", timing, {"before", "after"}, "which state a row's observation is of");
    fields("max_draws", max_draws, {1}, "how often sensors are drawn at most");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// A random instance and how it was found.
struct RandomPomdp {
  Pomdp model;
  int draws = 0;       ///< how often the sensors were drawn; 1: the first were good enough
  double alpha = 0.0;  ///< min over a of σ_S(Z_a)

  /// One line for people; says so when sensors had to be drawn again.
  [[nodiscard]] std::string brief() const;
};

/// Draws a random instance as in the paper. Use the stream (seed, 0, Role::problem).
///   T_a(s,·) = ε + (1 - Sε) u/Σu,  u uniform on (0,1]^S: every entry is at least ε exactly. (The
///     authors lift small entries and normalise again, which only nearly keeps the floor.)
///   Z_a(·|s) ∝ u + peak · [likely observation of (s,a)],  u uniform on (0,1]^O
///   r(o): a random permutation of 0, 1/(O-1), …, 1; with one observation 0.
/// The start is uniform. O(A S² + draws · A O S²). Throws InvalidArgument on bad options, and with
/// the best α found when max_draws were not enough.
[[nodiscard]] RandomPomdp random_pomdp(const RandomPomdpOptions& options, Rng& rng);

/// Random dynamics as above, alone: for a logging policy that believes in a wrong model, as in the
/// paper's estimation experiment. Throws InvalidArgument unless 0 <= min_entry <= 1/S. O(A S²).
[[nodiscard]] TransitionModel random_transition(int num_states, int num_actions, double min_entry,
                                                Rng& rng);

}  // namespace oas
