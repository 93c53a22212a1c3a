#include "oas/live/detail/live_history.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kFewestPoints = 16;
constexpr std::size_t kMostPoints = 400;

using Points = std::vector<std::shared_ptr<const LiveHistory::Point>>;

Points every_second(Points points) {
  Points kept;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i % 2 == 0 || i + 1 == points.size()) kept.push_back(std::move(points[i]));
  }
  return kept;
}

}  // namespace

void LiveHistory::add(const LivePlan& plan) {
  const auto values = plan.estimate.values();
  points_.push_back(std::make_shared<const Point>(Point{plan.number,
                                                        plan.rows,
                                                        plan.gain,
                                                        plan.optimistic_gain,
                                                        {values.begin(), values.end()},
                                                        plan.standard_error}));
  const std::size_t bytes = sizeof(Point) + 2 * values.size() * sizeof(double);
  if (points_.size() < std::clamp(max_bytes_ / bytes, kFewestPoints, kMostPoints)) return;
  points_ = every_second(std::move(points_));
}

void LiveHistory::save(ByteWriter& out) const {
  out.put(static_cast<std::uint64_t>(points_.size()));
  for (const auto& point : points_) {
    out.put(point->plan);
    out.put(point->rows);
    out.put(point->gain);
    out.put(point->optimistic_gain);
    out.put_all(point->values);
    out.put_all(point->standard_errors);
  }
}

void LiveHistory::load(ByteReader& in, std::size_t entries) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  points_.clear();
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    Point point;
    point.plan = in.get_integer(1, kMost);
    point.rows = in.get_integer(0, kMost);
    point.gain = in.get<double>();
    point.optimistic_gain = in.get<double>();
    point.values = in.get_all<double>(entries);
    point.standard_errors = in.get_all<double>();
    OAS_REQUIRE(point.standard_errors.empty() || point.standard_errors.size() == entries,
                "saved bytes are damaged: {} standard errors of {} entries",
                point.standard_errors.size(), entries);
    points_.push_back(std::make_shared<const Point>(std::move(point)));
  }
}

}  // namespace oas::detail
