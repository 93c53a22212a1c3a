#pragma once

#include <vector>

#include "oas/core/linear_algebra.hpp"

namespace oas::detail {

/// I - P of some states of a Markov chain as L U, without a single subtraction (Grassmann, Taksar
/// and Heyman 1985; Alfa, Xue and Ye 2002): however rare moves are, each number of a solution with
/// a right side that is not negative has nearly all its digits. O(n³), on a full table.
class RareMoves {
 public:
  /// moves [i][j], i ≠ j: the chance to go from i to j; leaves [i]: to go elsewhere. Throws
  /// InvalidArgument where some state leads nowhere.
  RareMoves(Eigen::MatrixXd moves, Vector leaves);

  /// Solves (I - P) x = right, or the transposed system.
  [[nodiscard]] Eigen::MatrixXd solve(const Eigen::MatrixXd& right, bool transposed) const;

 private:
  Eigen::MatrixXd table_;  // above the diagonal U, below it L, both without their signs
  Vector out_;             // diagonal of U: what leaves a state but for those eliminated before
};

}  // namespace oas::detail
