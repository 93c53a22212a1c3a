#pragma once

#include <span>
#include <vector>

namespace oas {

/// N points spread evenly over the unit cube of d dimensions: coordinate 0 of point k is (k + ½)/N,
/// the others are the fractional parts of (k + ½) · (g^-1, …, g^-(d-1)), g the positive root of
/// g^d = g + 1 (Kronecker's sequence; with one of them the golden ratio's). Averages over the
/// points are off by about (log N)^(d-1) / N for functions of bounded variation; in one dimension
/// they are the midpoint rule. Every coordinate lies in (0, 1). Deterministic.
class LowDiscrepancy {
 public:
  /// Throws InvalidArgument unless 1 <= dimension <= 64 and count >= 1.
  LowDiscrepancy(int dimension, int count);

  [[nodiscard]] int dimension() const { return static_cast<int>(step_.size()) + 1; }
  [[nodiscard]] int count() const { return count_; }
  /// Fills `out` (dimension numbers) with point k, 0 <= k < count.
  void point(int k, std::span<double> out) const;

 private:
  int count_;
  std::vector<double> step_;  // of the coordinates from 1 on
};

}  // namespace oas
