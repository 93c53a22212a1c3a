#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "oas/planning/grid/extended_value_iteration.hpp"

namespace oas::detail {

using SmallPoint = std::array<double, kMaxVertexStates>;

/// The bound as a mixture of two points: (1 - share)·v(from) + share·v(to).
struct OptimisticShift {
  SmallPoint from;
  SmallPoint to;
  double share = 0.0;
  double value = 0.0;
};

/// Bounds what a convex function below `value` can reach within total variation t of p, as
/// described in extended_value_iteration.hpp. `value` maps a point to a double.
template <class Value>
class ShiftSearch {
 public:
  ShiftSearch(int num_states, const Value& value) : n_(num_states), value_(value) {}

  OptimisticShift operator()(const SmallPoint& p, double t) {
    p_ = p;
    t_ = t;
    const Running start{p, value_(p)};
    best_ = {p, p, 0.0, start.value};
    if (!(t > 0.0)) return best_;
    for (target_ = 0; target_ < n_; ++target_) drain(start, p, 0.0, 1U << target_);
    return best_;
  }

 private:
  // The best break point so far on a path.
  struct Running {
    SmallPoint point;
    double value;
  };

  // Break points on every path, beside those where a state is empty.
  static constexpr std::array<double, 11> kLadder = {
      0.00390625, 0.0078125, 0.015625, 0.03125, 0.0625, 0.125, 0.1875, 0.25, 0.375, 0.5, 1.0};

  static double next_on_ladder(double moved) {
    const auto* next = std::upper_bound(kLadder.begin(), kLadder.end(), moved + 1e-12);
    return next == kLadder.end() ? 2.0 : *next;
  }

  // Continues a path that has moved `moved` to the target and stands at q; `used` states are empty.
  void drain(const Running& running, const SmallPoint& q, double moved, unsigned used) {
    bool more = false;
    for (int source = 0; source < n_; ++source) {
      if ((used >> source & 1U) != 0 || !(p_[source] > 1e-12)) continue;
      more = true;
      drain_one(running, q, moved, used | 1U << source, source);
    }
    if (!more) offer(running, running, 0.0);  // all mass is at the target
  }

  void drain_one(Running running, SmallPoint q, double moved, unsigned used, int source) {
    const double end = moved + p_[source];
    while (moved < end) {
      const double stop = std::min(next_on_ladder(moved), end);
      q[target_] += stop - moved;
      q[source] = stop == end ? 0.0 : q[source] - (stop - moved);
      const double value = value_(q);
      const Running next = value > running.value ? Running{q, value} : running;
      if (stop >= t_) {
        offer(running, next, (t_ - moved) / (stop - moved));
        return;
      }
      running = next;
      moved = stop;
    }
    drain(running, q, moved, used);
  }

  void offer(const Running& from, const Running& to, double share) {
    const double value = from.value + share * (to.value - from.value);
    if (value > best_.value) best_ = {from.point, to.point, share, value};
  }

  int n_;
  const Value& value_;
  SmallPoint p_{};
  double t_ = 0.0;
  int target_ = 0;
  OptimisticShift best_;
};

}  // namespace oas::detail
