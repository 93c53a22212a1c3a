#pragma once

#include <span>
#include <vector>

#include "oas/model/density_sensors.hpp"

namespace oas::detail {

/// P(cell) of one distribution for all cells of a grid at once: box by box each would be computed
/// anew from the same few values of distribution functions. Independent components: O(d m) of
/// these for m intervals each. Two dependent ones: m² of the bivariate normal one, which is exact
/// up to rounding (Owen 1956); where one split point has moved since the last call, m. More
/// dependent ones: VectorDensity::box(), or, where many grids are to be compared and 1e-3 is good
/// enough, shares of points that are drawn once.
class CellProbabilities {
 public:
  /// Keeps a reference to the density. `rough`: with points where box() would be needed.
  CellProbabilities(const VectorDensity& density, bool rough);

  /// `splits` ascend per component; `out` has one number per cell, the last component varying
  /// fastest, and is not negative; sums to 1 up to rounding.
  void operator()(const std::vector<std::vector<double>>& splits, std::span<double> out);

 private:
  void independent(const std::vector<std::vector<double>>& splits, std::span<double> out) const;
  void plane(const std::vector<std::vector<double>>& splits, std::span<double> out);
  void boxes(const std::vector<std::vector<double>>& splits, std::span<double> out) const;
  void shares(const std::vector<std::vector<double>>& splits, std::span<double> out) const;

  const VectorDensity* density_;
  std::vector<double> points_;  // [point][component]; empty: exact
  // Of the last call in the plane: the bounds of intervals, and the distribution function there.
  std::vector<double> rows_;
  std::vector<double> columns_;
  std::vector<double> corners_;  // [row][column]
};

}  // namespace oas::detail
