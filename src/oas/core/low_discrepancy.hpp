#pragma once

#include <span>
#include <vector>

namespace oas {

/// Points spread evenly over the unit cube: point k is the fractional part of (k + ½) · (g^-1, …,
/// g^-d), g the positive root of g^(d+1) = g + 1 (a Kronecker sequence; in one dimension the golden
/// ratio's). Averages over N points are off by about (log N)^d / N for smooth functions. Every
/// coordinate lies in (0, 1). Deterministic.
class LowDiscrepancy {
 public:
  /// Throws InvalidArgument unless 1 <= dimension <= 64.
  explicit LowDiscrepancy(int dimension);

  [[nodiscard]] int dimension() const { return static_cast<int>(step_.size()); }
  /// Fills `out` (dimension numbers) with point k >= 0.
  void point(int k, std::span<double> out) const;

 private:
  std::vector<double> step_;
};

}  // namespace oas
