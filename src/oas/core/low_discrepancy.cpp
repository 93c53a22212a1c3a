#include "oas/core/low_discrepancy.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"

namespace oas {

LowDiscrepancy::LowDiscrepancy(int dimension, int count) : count_(count) {
  OAS_REQUIRE(dimension >= 1 && dimension <= 64, "{} dimensions; 1 to 64 are possible", dimension);
  OAS_REQUIRE(count >= 1, "{} points; at least 1 is needed", count);
  double root = 1.5;
  for (int i = 0; i < 100; ++i) root = std::pow(1.0 + root, 1.0 / dimension);
  double power = 1.0;
  for (int i = 1; i < dimension; ++i) step_.push_back(power /= root);
}

void LowDiscrepancy::point(int k, std::span<double> out) const {
  constexpr double kEnd = 0x1.0p-54;
  out[0] = (k + 0.5) / count_;
  for (std::size_t i = 0; i < step_.size(); ++i) {
    const double x = (k + 0.5) * step_[i];
    out[i + 1] = std::clamp(x - std::floor(x), kEnd, 1.0 - 2.0 * kEnd);
  }
}

}  // namespace oas
