#pragma once

#include <functional>
#include <vector>

#include "oas/figures/svg.hpp"

namespace oas {

/// One connected piece of a region in coordinates (x, h) of the unit square: h is the height of a
/// horizontal line, x the position along it.
struct RegionPiece {
  int label = 0;
  std::vector<Point> outline;
};

/// Cuts the unit square into regions of equal label(x, h). Along `rows` + 1 horizontal lines
/// borders are found by bisection; lines with the same sequence of labels are joined to smooth
/// outlines.
[[nodiscard]] std::vector<RegionPiece> trace_regions(
    int rows, const std::function<int(double x, double h)>& label);

}  // namespace oas
