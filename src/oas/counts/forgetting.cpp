#include "oas/counts/forgetting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr double kFaded = 30.0;  // half-lives; 2^-30 is taken for 0

}  // namespace

double Forgetting::weight(double rows) const {
  if (window > 0 && rows >= static_cast<double>(window)) return 0.0;
  return half_life > 0.0 ? std::exp2(-rows / half_life) : 1.0;
}

double Forgetting::mean_weight(std::int64_t first, std::int64_t count) const {
  if (count <= 0) return 0.0;
  const std::int64_t inside =
      window > 0 ? std::clamp<std::int64_t>(window - first, 0, count) : count;
  const auto rows = static_cast<double>(inside);
  double sum = rows;
  if (half_life > 0.0) {  // a geometric series
    const double exponent = -std::log(2.0) / half_life;
    sum = std::exp(exponent * static_cast<double>(first)) * std::expm1(exponent * rows) /
          std::expm1(exponent);
  }
  return sum / static_cast<double>(count);
}

std::int64_t Forgetting::reach() const {
  std::int64_t reach = std::numeric_limits<std::int64_t>::max();
  if (window > 0) reach = window;
  if (half_life > 0.0 && kFaded * half_life < 9e18) {
    reach = std::min(reach, static_cast<std::int64_t>(std::ceil(kFaded * half_life)));
  }
  return reach;
}

double Forgetting::effective_rows(const RunLengths& runs) const {
  std::int64_t rows = 0;
  for (const auto& [length, count] : runs) rows += length * count;
  double sum = 0.0;
  double squares = 0.0;
  for (const auto& [length, count] : by_run() ? runs : RunLengths{{rows, 1}}) {
    const auto all = static_cast<double>(length * count);
    sum += mean_weight(0, length) * all;
    squares += squared().mean_weight(0, length) * all;
  }
  return squares > 0.0 ? sum * sum / squares : 0.0;
}

std::int64_t Forgetting::stretch(std::int64_t most) const {
  if (half_life <= 0.0) return window > 0 ? std::min<std::int64_t>(most, 16) : most;
  std::int64_t rows = 16;
  while (2 * rows <= most && 2.0 * static_cast<double>(rows) <= half_life / 64.0) rows *= 2;
  return std::min(rows, most);
}

void Forgetting::validate() const {
  OAS_REQUIRE(half_life == 0.0 || (half_life >= 1.0 && std::isfinite(half_life)),
              "half-life is {} rows; it must be at least 1", half_life);
  OAS_REQUIRE(window == 0 || window >= 2, "window is {} rows; it must be at least 2", window);
}

void Forgetting::check_age(std::int64_t runs) const {
  OAS_REQUIRE(!active() || age != Age::unsaid || runs <= 1,
              "the log has {} runs, and a half-life or window must know how old a row is: --age "
              "run counts back from the end of its own run (units watched side by side), --age log "
              "from the end of the log (runs one after the other, in the order of rows and files)",
              runs);
}

}  // namespace oas
