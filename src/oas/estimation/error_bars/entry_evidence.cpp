#include "oas/estimation/error_bars/entry_evidence.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numbers>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFarthest = 40.0;  // fall beyond which there is no mass
constexpr int kCells = 256;         // on each side of the maximum
constexpr double kLeastRatio = 1e-3;
constexpr double kMostRatio = 1e3;
constexpr double kFlat = 0.1;  // fall over all of [0,1] that says nothing
constexpr double kRounding = 1e-6;
constexpr double kLeastScale = 0.02;
constexpr double kParabola = 1e3;  // κ from which the shape is one to 1e-3

// count · log(at/best), with 0 log 0 = 0.
double gain(double count, double at, double best) {
  if (count <= 0.0) return 0.0;
  return at > 0.0 ? count * std::log(at / best) : -kInfinity;
}

// t = sin²(angle): even steps of the angle resolve both ends of [0,1].
double angle_of(double t) { return std::asin(std::sqrt(std::clamp(t, 0.0, 1.0))); }
double at_angle(double angle) {
  const double sine = std::sin(angle);
  return sine * sine;
}

struct Cell {
  double mass;
  double outer_fall;  // at the end away from the maximum
  double outer;       // that end
};

}  // namespace

EntryEvidence EntryEvidence::from_counts(double value, double variance, double visits, bool more) {
  // Rows of a transition model sum to 1 up to rounding.
  if (std::abs(value - 0.5) < 0.5 + kRounding) value = std::clamp(value, 0.0, 1.0);
  OAS_REQUIRE(value >= 0.0 && value <= 1.0 && variance >= 0.0 && visits >= 0.0,
              "evidence for {} with variance {} and {} visits", value, variance, visits);
  EntryEvidence evidence;
  evidence.value_ = value;
  const double spread = value * (1.0 - value);
  evidence.visits_ = visits;
  evidence.curvature_ = variance > 0.0 ? 1.0 / variance : kInfinity;
  const double excess = visits * variance;  // spread + what noise adds
  if (excess > spread) {
    // κ² + κ (1 - 2 n var) + v(1-v) - n var = 0
    const double half = 0.5 - excess;
    const double root = std::sqrt(half * half + excess - spread);
    evidence.shift_ = half > 0.0 ? (excess - spread) / (half + root) : root - half;
    if (std::isinf(visits)) evidence.shift_ = kInfinity;
  } else if (more && variance > 0.0) {
    evidence.visits_ = spread / variance;
  }
  return evidence;
}

EntryEvidence EntryEvidence::at_bound(double value, double slope, double curvature) {
  EntryEvidence evidence;
  evidence.value_ = value > 0.5 ? 1.0 : 0.0;
  evidence.bounded_ = true;
  evidence.slope_ = std::max(slope, 0.0);
  evidence.curvature_ = std::max(curvature, 0.0);
  return evidence;
}

EntryEvidence EntryEvidence::certain(double value) {
  EntryEvidence evidence;
  evidence.value_ = value;
  evidence.certain_ = true;
  return evidence;
}

void EntryEvidence::add_opinion(double value, double error, double fall) {
  OAS_REQUIRE(value >= 0.0 && value <= 1.0 && error >= 0.0 && std::isfinite(error) && fall >= 0.0,
              "another opinion of {} with error {}, by {} lower", value, error, fall);
  if (error > 0.0) opinions_.push_back({value, error, fall});
}

void EntryEvidence::scale_to_visits(double visits) {
  scale_ *= std::max((visits - 1.0) / std::max(visits, 1.0), kLeastScale);
}

double EntryEvidence::shape(double t) const {
  if (bounded_) {
    const double distance = std::abs(t - value_);
    return distance * (slope_ + 0.5 * curvature_ * distance);
  }
  if (shift_ > kParabola) return 0.5 * curvature_ * (t - value_) * (t - value_);
  const double hits = visits_ * (value_ + shift_);
  const double misses = visits_ * (1.0 - value_ + shift_);
  return -gain(hits, t + shift_, value_ + shift_) -
         gain(misses, 1.0 - t + shift_, 1.0 - value_ + shift_);
}

double EntryEvidence::fall(double t) const {
  const double fall = std::max(shape(t), 0.0);
  const std::vector<Knot>& knots = t < value_ ? below_ : above_;
  if (knots.empty() || fall == 0.0 || std::isinf(fall)) return fall;
  const double root = std::sqrt(fall);
  double before = 0.0;
  double ratio = knots.front().ratio;  // at the maximum
  if (!bounded_) ratio = 1.0;          // where the curvature is that of the variance
  for (const Knot& knot : knots) {
    if (root < knot.root) {
      return fall * std::lerp(ratio, knot.ratio, (root - before) / (knot.root - before));
    }
    before = knot.root;
    ratio = knot.ratio;
  }
  return fall * ratio;
}

void EntryEvidence::measured(double t, double fall) {
  const double expected = shape(t);
  if (t == value_ || !(expected > 0.0) || !std::isfinite(expected) || std::isnan(fall)) return;
  std::vector<Knot>& knots = t < value_ ? below_ : above_;
  const Knot knot{std::sqrt(expected), std::clamp(fall / expected, kLeastRatio, kMostRatio)};
  const auto place = std::lower_bound(knots.begin(), knots.end(), knot,
                                      [](const Knot& a, const Knot& b) { return a.root < b.root; });
  knots.insert(place, knot);
}

double EntryEvidence::variance() const {
  if (certain_) return 0.0;
  const double noisy = (value_ + shift_) * (1.0 - value_ + shift_);
  const double variance =
      shift_ > kParabola ? 1.0 / curvature_ : noisy / (visits_ * (1.0 + 2.0 * shift_));
  return variance / scale_;
}

double EntryEvidence::reach(double target, bool upwards) const {
  double inside = angle_of(value_);
  double outside = upwards ? 0.5 * std::numbers::pi : 0.0;
  if (fall(upwards ? 1.0 : 0.0) <= target) return upwards ? 1.0 : 0.0;
  for (int step = 0; step < 100 && inside != outside; ++step) {
    const double middle = 0.5 * (inside + outside);
    (fall(at_angle(middle)) <= target ? inside : outside) = middle;
  }
  return at_angle(inside);
}

double EntryEvidence::scaled_fall(double t) const {
  const double scaled = scale_ * fall(t);
  if (divisor_variance_ == 0.0) return scaled;
  return std::isinf(scaled) ? 0.5 / divisor_variance_
                            : scaled / (1.0 + 2.0 * divisor_variance_ * scaled);
}

double EntryEvidence::weighted_fall(double t) const {
  // Noise in the divisor is in the cut of interval(): a density with its heavy tails has no
  // densest part that means anything.
  const double scaled = scale_ * fall(t);
  if (std::isinf(degrees_)) return scaled;
  return 0.5 * (degrees_ + 1.0) * std::log1p(2.0 * scaled / degrees_);
}

double EntryEvidence::reach_weighted(double target, bool upwards) const {
  double inside = angle_of(value_);
  double outside = upwards ? 0.5 * std::numbers::pi : 0.0;
  if (weighted_fall(at_angle(outside)) <= target) return outside;
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (inside + outside);
    (weighted_fall(at_angle(middle)) <= target ? inside : outside) = middle;
  }
  return inside;
}

// The shortest interval of so much mass: cells of both sides from the maximum outwards, the higher
// ones first.
Limits EntryEvidence::densest(double level) const {
  const double peak = angle_of(value_);
  std::vector<Cell> sides[2];
  double total = 0.0;
  for (int side = 0; side < 2; ++side) {
    const double end = reach_weighted(kFarthest, side == 1);
    double inner = value_;
    double inner_fall = 0.0;
    for (int i = 1; i <= kCells && end != peak; ++i) {
      const double outer = at_angle(std::lerp(peak, end, static_cast<double>(i) / kCells));
      const double outer_fall = std::max(inner_fall, weighted_fall(outer));
      const double mass =
          0.5 * std::abs(outer - inner) * (std::exp(-inner_fall) + std::exp(-outer_fall));
      sides[side].push_back({mass, outer_fall, outer});
      total += mass;
      inner = outer;
      inner_fall = outer_fall;
    }
  }
  double missing = level * total;
  std::size_t taken[2] = {0, 0};
  double ends[2] = {value_, value_};
  while (missing > 0.0) {
    const bool left = taken[0] < sides[0].size();
    const bool right = taken[1] < sides[1].size();
    if (!left && !right) break;
    const bool up =
        !left || (right && sides[1][taken[1]].outer_fall < sides[0][taken[0]].outer_fall);
    const auto side = static_cast<std::size_t>(up);
    const Cell& cell = sides[side][taken[side]++];
    const double share = cell.mass > missing ? missing / cell.mass : 1.0;
    ends[side] = std::lerp(ends[side], cell.outer, share);
    missing -= cell.mass;
  }
  return {std::min(ends[0], value_), std::max(ends[1], value_)};
}

Limits EntryEvidence::interval(double level) const {
  OAS_REQUIRE(level > 0.0 && level < 1.0, "level is {}; it must lie strictly between 0 and 1",
              level);
  if (certain_) return {value_, value_};
  const double p = 0.5 + 0.5 * level;
  const double critical = std::isinf(degrees_)
                              ? boost::math::quantile(boost::math::normal(), p)
                              : boost::math::quantile(boost::math::students_t(degrees_), p);
  const double left = std::max(1.0 - critical * critical * divisor_variance_, 0.0);
  const double cut = left > 0.0 ? 0.5 * critical * critical / (scale_ * left) : kInfinity;
  const Limits dense = densest(level);
  const bool at_corner = rivals_ > 1 && weighted_fall(1.0) <= -std::log1p(-level);  // χ²(2) / 2
  Limits limits{std::min(dense.lower, reach(cut, false)),
                at_corner ? 1.0 : std::max(dense.upper, reach(cut, true))};
  for (const Opinion& other : opinions_) {
    const double square = critical * critical - 2.0 * scale_ * other.fall;
    if (square < 0.0) continue;
    const double reached = std::sqrt(square) * other.error;
    limits.lower = std::min(limits.lower, std::max(other.value - reached, 0.0));
    limits.upper = std::max(limits.upper, std::min(other.value + reached, 1.0));
  }
  return limits;
}

bool EntryEvidence::is_flat() const {
  return !certain_ && std::max(scaled_fall(0.0), scaled_fall(1.0)) < kFlat;
}

}  // namespace oas
