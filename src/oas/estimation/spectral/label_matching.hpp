#pragma once

#include <vector>

#include "oas/core/linear_algebra.hpp"

namespace oas {

/// Which column of an estimate is which known column.
struct LabelMatch {
  std::vector<int> column;        ///< [s]: the estimated column that is state s; a permutation
  double largest_distance = 0.0;  ///< L1, of a matched pair
  /// Least advantage, over the estimated columns, of the own known column over any other in L1.
  double margin = 2.0;

  /// Every estimated column is nearest to its own known column: no two of them had to share one.
  [[nodiscard]] bool certain() const { return margin > 0.0; }
};

/// Spectral estimates know states only up to their order. The permutation p that minimises
/// Σ_s ‖estimated(:,p(s)) - known(:,s)‖₁, by the Hungarian method: the known columns are sensors,
/// never the dynamics that are to be learned. O(S³ + S² rows). Throws InvalidArgument when the
/// sizes differ.
[[nodiscard]] LabelMatch match_labels(const Matrix& estimated, const Matrix& known);

/// Rows and columns of `matrix` in the order of a match: out(s,s') = matrix(p(s), p(s')). ONE
/// permutation for both: a transition matrix has the same states on both sides.
[[nodiscard]] Matrix relabelled(const Matrix& matrix, const LabelMatch& match);

}  // namespace oas
