#pragma once

#include <cstdint>

#include "oas/model/pomdp.hpp"
#include "oas/planning/plan.hpp"

namespace oas {

struct PointOptions {
  int num_beliefs = 300;         ///< at most; kept spread out among the beliefs reached
  int num_vectors = 150;         ///< at most, after pruning
  int rounds = 3;                ///< collect beliefs, solve, collect with the better policy, …
  int max_sweeps = 2000;         ///< backups per round
  double span_tolerance = 1e-4;  ///< of the increments over the beliefs
  double discount = 1.0;         ///< of the future in backups; below 1 they settle sooner
  std::uint64_t seed = 1;

  template <class Fields>
  void visit(Fields& fields) {
    fields("num_beliefs", num_beliefs, "beliefs at which vectors are backed up, at most");
    fields("num_vectors", num_vectors, "vectors kept after pruning, at most");
    fields("rounds", rounds, "times that beliefs are collected and solved for");
    fields("backups", max_sweeps, "backups per round, at most");
    fields("belief_span", span_tolerance, "span over the beliefs at which backups stop, > 0");
    fields("belief_discount", discount, "of the future in backups, in (0, 1]");
    fields("belief_seed", seed, "of the simulation that collects beliefs");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// Plans where a grid is hopeless: relative value iteration on α-vectors, backed up only at beliefs
/// that are reached in simulation,
///   α_b ← Σ_a π_b(a) [ r_a + Σ_o K_a^o α_(b,a,o) ],   α_(b,a,o) = argmax_α (K_a^oᵀ b)·α
/// with π_b greedy at b with floor ι, damped by ½. Successor vectors are chosen anew every few
/// backups (a choice of vector per belief stays valid as all vectors move), and vectors that are
/// best at no belief are dropped. The policy is the look-ahead on max_α.
///
/// gain_upper is the fast informed bound (Hauskrecht 2000) for average reward: with
///   F(α)_a(s) = r_a(s) + Σ_o [ (1-Aι) max_a' (K_a^o α_a')(s) + ι Σ_a' (K_a^o α_a')(s) ]
/// max_{a,s} (F(α) - α) bounds the gain for any α, by induction over the horizon as on the grid; it
/// is never above the fully observed MDP's gain at convergence, and no refinement of the beliefs
/// makes it tighter. gain_lower is left for certify().
/// Cost per backup A K S² + B A O S, and B A O K S every few, B beliefs, K vectors.
[[nodiscard]] Plan point_based_plan(const Pomdp& model, double iota,
                                    const PointOptions& options = {});

/// The fast informed bound alone.
[[nodiscard]] double fast_informed_bound(const Pomdp& model, double iota, double tolerance = 1e-6,
                                         int max_sweeps = 20'000);

}  // namespace oas
