#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/live/detail/live_plan.hpp"

namespace oas::detail {

/// How the estimate came about: T, its errors and the gain at every plan. Where there are many
/// plans every second one is dropped, again and again, but for the last. A value, cheap to
/// copy.
class LiveHistory {
 public:
  /// What was learned by one plan.
  struct Point {
    std::int64_t plan = 0;
    std::int64_t rows = 0;
    double gain = 0.0;
    double optimistic_gain = 0.0;
    std::vector<double> values;           ///< [a][s][s']: T̂
    std::vector<double> standard_errors;  ///< the same of its errors; empty: not made
  };

  explicit LiveHistory(std::size_t max_bytes = std::size_t{8} << 20) : max_bytes_(max_bytes) {}

  void add(const LivePlan& plan);
  /// Shared with copies.
  [[nodiscard]] const std::vector<std::shared_ptr<const Point>>& points() const { return points_; }

  void save(ByteWriter& out) const;
  /// Throws InvalidArgument on points of another number of entries.
  void load(ByteReader& in, std::size_t entries);

 private:
  std::size_t max_bytes_;
  std::vector<std::shared_ptr<const Point>> points_;
};

}  // namespace oas::detail
