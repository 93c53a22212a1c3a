#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/counts/pair_counts.hpp"
#include "oas/model/timing.hpp"
#include "oas/sensors/left_inverse.hpp"

namespace oas {

/// What the moment estimators are made of: D_a = Σ over pairs of w · L(:,o) L(:,o')ᵀ, A·S² numbers
/// whatever O is. In expectation D_a(s,s') is proportional, row by row, to T_a(s,s'). The action a
/// whose transition a pair shows is the first row's in `before` timing, the second row's in
/// `after`. Sums of doubles: add() in a fixed order to get the same bits.
struct PairMoments {
  PairMoments(int num_states, int num_actions);

  void add(const PairMoments& other);
  void clear();
  void multiply(double weight);  ///< every pair's weight
  void save(ByteWriter& out) const;
  /// Of the same sizes.
  void load(ByteReader& in);

  [[nodiscard]] MatrixView matrix(int action) const {
    return {sums.data() + static_cast<std::size_t>(action) * num_states * num_states, num_states,
            num_states};
  }
  [[nodiscard]] std::int64_t total_pairs() const;
  /// Σ over s' of D_a(s,s'): in expectation the visits of the row, times their weights.
  [[nodiscard]] double row_mass(std::size_t row) const;
  /// (Σw)²/Σw² over the visits of row a·S + s (Kish 1965): how many of equal weight they are worth,
  /// at most as many as the action has pairs. 0 where there is no mass.
  [[nodiscard]] double effective_visits(std::size_t row) const;

  int num_states;
  int num_actions;
  std::vector<double> sums;         ///< [a][s][s']
  std::vector<double> squares;      ///< [a][s]: the row masses, were all weights squared
  std::vector<std::int64_t> pairs;  ///< [a]: pairs that showed a transition of a

  friend bool operator==(const PairMoments&, const PairMoments&) = default;
};

/// What one row shows.
struct PairRow {
  Action action;
  Observation observation;
};

/// Adds one pair of rows: D_a += w · L(:,o) L(:,o')ᵀ. O(S²), no allocation.
void add_pair(PairRow first, PairRow second, double weight, const LeftInverses& inverses,
              Timing timing, PairMoments& moments);

/// Counts to moments: D_a = Σ_{a'} L_a N_{a,a'} L_{a'}ᵀ (before) or Σ_{a'} L_{a'} N_{a',a} L_aᵀ
/// (after), all pairs of weight 1. This is the paper's 𝔹⁺ applied blockwise, since the
/// pseudo-inverse of a Kronecker product is the Kronecker product of pseudo-inverses, and summed
/// over a' before anything non-linear happens: for one fixed a' the block is biased when the policy
/// reacts to o_t, the sum is not. Where there are first readings, counts have one more symbol for
/// the action in front of them. O(A² (S O² + S² O)).
[[nodiscard]] PairMoments project(const PairCounts& counts, const LeftInverses& inverses,
                                  Timing timing);

}  // namespace oas
