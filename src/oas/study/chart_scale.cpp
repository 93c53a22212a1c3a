#include "oas/study/detail/chart_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace oas::detail {

namespace {

std::string power_of_ten(int exponent) {
  static constexpr std::array<const char*, 10> kDigits = {"⁰", "¹", "²", "³", "⁴",
                                                          "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (exponent >= -2 && exponent <= 3) return fmt::format("{:g}", std::pow(10.0, exponent));
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char c : fmt::format("{}", std::abs(exponent))) {
    text += kDigits[static_cast<std::size_t>(c - '0')];
  }
  return text;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// "0.02", "500", "2·10⁴".
std::string number_label(int digit, int exponent) {
  if (exponent >= -3 && exponent <= 3) return fmt::format("{:g}", digit * std::pow(10.0, exponent));
  return fmt::format("{}·{}", digit, power_of_ten(exponent));
}

}  // namespace

bool showable(double value, bool logarithmic) {
  return std::isfinite(value) && (!logarithmic || value > 0.0);
}

Scale::Scale(double low, double high, bool logarithmic) : log_(logarithmic) {
  // Half of the largest numbers, so that their difference is one too.
  constexpr double kMost = 4e307;
  low_ = log_ ? std::log10(low) : std::clamp(low, -kMost, kMost);
  high_ = log_ ? std::log10(high) : std::clamp(high, -kMost, kMost);
  // An axis of no length, as far as doubles can tell, is given one.
  const double size = std::max({1.0, std::abs(low_), std::abs(high_)});
  if (!(high_ - low_ > 1e-12 * size)) {
    low_ -= 0.5 * size;
    high_ += 0.5 * size;
  }
  const double margin = 0.04 * (high_ - low_);
  low_ -= margin;
  high_ += margin;
}

double Scale::at(double value) const {
  const double v = log_ ? std::log10(value) : value;
  return std::clamp(v / (high_ - low_) - low_ / (high_ - low_), -2.0, 3.0);
}

double Scale::value(double share) const {
  const double v = low_ + share * (high_ - low_);
  return log_ ? std::pow(10.0, v) : v;
}

std::vector<Tick> Scale::ticks(double room) const {
  return log_ ? log_ticks(room) : linear_ticks();
}

std::vector<Tick> Scale::log_ticks(double room) const {
  std::vector<Tick> ticks;
  const double decades = high_ - low_;
  const int stride = decades > 7.0 ? static_cast<int>(std::ceil(decades / 7.0)) : 1;
  for (int k = static_cast<int>(std::floor(low_)); k <= high_; ++k) {
    for (int digit = 1; digit < 10; ++digit) {
      const double v = digit * std::pow(10.0, k);
      if (!showable(v, true) || std::log10(v) < low_ || std::log10(v) > high_) continue;
      std::string label;
      if (digit == 1 && k % stride == 0) label = power_of_ten(k);
      const bool named = decades < 0.2 * room || (decades < room && (digit == 2 || digit == 5));
      if (digit > 1 && named) label = number_label(digit, k);
      if (digit == 1 || stride == 1) ticks.push_back({v, label});
    }
  }
  return ticks;
}

std::vector<Tick> Scale::linear_ticks() const {
  const double raw = (high_ - low_) / 5.0;
  const double magnitude = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10.0 * magnitude;
  for (const double nice : {1.0, 2.0, 5.0}) {
    if (nice * magnitude >= raw) {
      step = nice * magnitude;
      break;
    }
  }
  std::vector<Tick> ticks;
  const double first = std::ceil(low_ / step);
  for (int i = 0; first * step + i * step <= high_ && i < 20; ++i) {
    const double v = (first + i) * step;
    ticks.push_back({v, fmt::format("{:.6g}", std::abs(v) < 1e-9 * step ? 0.0 : v)});
  }
  return ticks;
}

std::pair<Scale, Scale> scales_of(const FigureData& figure) {
  const FigureSpec& spec = figure.spec;
  Range x;
  Range y;
  Range band;
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      for (const SeriesPoint& point : series.points) {
        if (!showable(point.x, spec.log_x)) continue;
        x.add(point.x);
        if (showable(point.y.mean, spec.log_y)) y.add(point.y.mean);
        if (showable(point.y.lower, spec.log_y)) band.add(point.y.lower);
        if (showable(point.y.upper, spec.log_y)) band.add(point.y.upper);
      }
    }
  }
  if (!(x.low <= x.high)) x = {1.0, 10.0};
  if (!(y.low <= y.high)) y = {1.0, 10.0};
  if (spec.log_y) {
    band.low = std::max(band.low, y.low / 3.0);
    band.high = std::min(band.high, y.high * 3.0);
  }
  y.add(std::min(band.low, y.low));
  y.add(std::max(band.high, y.high));
  return {Scale(x.low, x.high, spec.log_x), Scale(y.low, y.high, spec.log_y)};
}

}  // namespace oas::detail
