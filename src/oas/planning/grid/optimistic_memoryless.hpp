#pragma once

#include <span>
#include <vector>

#include "oas/planning/grid/extended_value_iteration.hpp"
#include "oas/planning/oracles.hpp"

namespace oas {

/// A memoryless policy with the member of a confidence set that makes it look best.
struct OptimisticMemoryless {
  std::vector<int> greedy;  ///< [a][o], as in MemorylessResult
  TransitionModel member;
  double gain = 0.0;         ///< of the policy in the member
  double center_gain = 0.0;  ///< best gain in the set's center
  bool exhaustive = false;   ///< all policies were tried against every member met
};

/// The member of the set in which a given memoryless policy with floor ι has the largest gain:
/// nature picks T̃_a(s,·) in the chain of (action, state), a Markov decision process of A·S states
/// solved by damped value iteration,
///   h(a,s) ← max over T̃ of Σ_s' T̃(s') [r(a,s,s') + Σ_o Z_a(o|e) Σ_a' π(a'|a,o) h(a',s')],
/// e the state that emits (s before, s' after). The maximum over an L1 ball is linear in T̃ and
/// found by sorting. O(A S² + A S O) a sweep, at most 20,000 sweeps to a span of 1e-9.
[[nodiscard]] TransitionModel best_member_for(const ConfidenceSet& set, std::span<const int> greedy,
                                              double iota);

/// Alternates best_memoryless and best_member_for while the gain grows, at most `rounds` times:
/// each step is exact where best_memoryless is exhaustive, the pair is a local optimum. All radii
/// 0: one call of best_memoryless. The gain is attained by a member, so it bounds nothing from
/// above. Throws InvalidArgument on a bad set or floor.
[[nodiscard]] OptimisticMemoryless optimistic_memoryless(const ConfidenceSet& set,
                                                         const MemorylessOptions& options,
                                                         int rounds = 4);

}  // namespace oas
