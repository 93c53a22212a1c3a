#pragma once

#include <cmath>

namespace oas::test {

/// The largest deviation met. Once a NaN is met the value stays NaN, which fails every comparison;
/// std::max would lose it.
class Worst {
 public:
  void take(double deviation) {
    if (std::isnan(deviation) || deviation > value_) value_ = deviation;
  }
  [[nodiscard]] double value() const { return value_; }

 private:
  double value_ = 0.0;
};

}  // namespace oas::test
