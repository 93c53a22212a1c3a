#include "oas/figures/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace oas {

namespace {

// Seconds since 1970 as "2026-03-01" or "03-01 06:00".
std::string date_label(double seconds, bool to_the_day) {
  using namespace std::chrono;
  const sys_seconds time{std::chrono::seconds(std::llround(seconds))};
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const auto month = static_cast<unsigned>(date.month());
  const auto of_month = static_cast<unsigned>(date.day());
  if (to_the_day) {
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), month, of_month);
  }
  const hh_mm_ss<std::chrono::seconds> clock(time - day);
  return fmt::format("{:02}-{:02} {:02}:{:02}", month, of_month, clock.hours().count(),
                     clock.minutes().count());
}

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

// "0.02", "500", "2·10⁴".
std::string number_label(int digit, int exponent) {
  if (exponent >= -3 && exponent <= 3) return fmt::format("{:g}", digit * std::pow(10.0, exponent));
  return fmt::format("{}·{}", digit, power_of_ten(exponent));
}

}  // namespace

std::vector<double> round_ticks(double low, double high) {
  const double rough = (high - low) / 5.0;
  const double magnitude = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * magnitude;
  for (const double nice : {1.0, 2.0, 5.0}) {
    if (nice * magnitude >= rough) {
      step = nice * magnitude;
      break;
    }
  }
  std::vector<double> ticks;
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; (first + i) * step <= high + 1e-9 * step && i < 20; ++i) {
    ticks.push_back(first + i == 0.0 ? 0.0 : (first + i) * step);
  }
  return ticks;
}

std::vector<Tick> date_ticks(double low, double high) {
  constexpr double kHour = 3600.0;
  constexpr double kDay = 24.0 * kHour;
  constexpr std::array kSteps = {60.0,        300.0,        900.0,        kHour,
                                 3.0 * kHour, 6.0 * kHour,  12.0 * kHour, kDay,
                                 2.0 * kDay,  7.0 * kDay,   14.0 * kDay,  28.0 * kDay,
                                 91.0 * kDay, 182.0 * kDay, 364.0 * kDay};
  constexpr double kMost = 8.0;
  if (!(high >= low) || !std::isfinite(high - low) || std::abs(low) > 1e11 ||
      std::abs(high) > 1e11) {
    return {};
  }
  double step = kSteps.back();
  for (const double one : kSteps) {
    if ((high - low) / one > kMost) continue;
    step = one;
    break;
  }
  while ((high - low) / step > kMost) step *= 2.0;
  std::vector<Tick> ticks;
  for (double at = std::ceil(low / step) * step; at <= high; at += step) {
    ticks.push_back({at, date_label(at, step >= kDay)});
  }
  return ticks;
}

bool showable(double value, bool logarithmic) {
  return std::isfinite(value) && (!logarithmic || value > 0.0);
}

Axis::Axis(double low, double high, bool logarithmic) : log_(logarithmic) {
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

double Axis::at(double value) const {
  const double v = log_ ? std::log10(value) : value;
  return std::clamp(v / (high_ - low_) - low_ / (high_ - low_), -2.0, 3.0);
}

double Axis::value(double share) const {
  const double v = low_ + share * (high_ - low_);
  return log_ ? std::pow(10.0, v) : v;
}

std::vector<Tick> Axis::ticks(double room) const { return log_ ? log_ticks(room) : linear_ticks(); }

std::vector<Tick> Axis::log_ticks(double room) const {
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

std::vector<Tick> Axis::linear_ticks() const {
  std::vector<Tick> ticks;
  for (const double v : round_ticks(low_, high_)) ticks.push_back({v, fmt::format("{:.6g}", v)});
  return ticks;
}

}  // namespace oas
