#pragma once

#include <vector>

#include "oas/core/linear_algebra.hpp"

namespace oas::detail {

/// Variances of which each was estimated with few degrees of freedom.
struct MeasuredVariances {
  int row_length = 0;         ///< entries are [row][column]
  int degrees = 0;            ///< behind each
  Vector squares;             ///< mean squares
  Vector guess;               ///< what they are proportional to, about; above 0 where used
  std::vector<char> is_used;  ///< the others are not measured
};

/// The same, moderated (Smyth 2004): squares = guess · factor · noise, the logarithm of the factor
/// being a mean with an effect of the row and one of the column. What they differ from that beyond
/// the noise of their degrees of freedom says how many degrees of freedom d the smooth ones are
/// worth; variances are the means of both, weighted by degrees.
struct ModeratedVariances {
  Vector factors;        ///< smooth, of all entries
  Vector variances;      ///< of entries that are not used: guess · factor
  double degrees = 0.0;  ///< of the means: d + degrees; d is at most 1000
};
[[nodiscard]] ModeratedVariances moderate(const MeasuredVariances& measured);

}  // namespace oas::detail
