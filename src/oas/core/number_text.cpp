#include "oas/core/number_text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace oas::detail {

namespace {

constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

double slow_value(const char* begin, const char* end, bool small) {
  double value = 0.0;
  const auto result = std::from_chars(begin, end, value);
  if (result.ec == std::errc::result_out_of_range) {
    return small ? 0.0 : std::numeric_limits<double>::infinity();
  }
  return value;
}

// Skips "e-12" if that is what comes; says whether the exponent is negative.
const char* skip_exponent(const char* at, const char* end, bool& negative) {
  if (at == end || (*at != 'e' && *at != 'E')) return at;
  const char* digits = at + 1;
  if (digits < end && (*digits == '+' || *digits == '-')) ++digits;
  if (digits == end || !is_digit(*digits)) return at;
  negative = digits[-1] == '-';
  while (digits < end && is_digit(*digits)) ++digits;
  return digits;
}

}  // namespace

ScannedNumber scan_number(const char* begin, const char* end, bool point_first) {
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  std::uint64_t mantissa = 0;
  const char* at = begin;
  while (at < end && is_digit(*at)) {
    if (mantissa < kExact) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
    ++at;
  }
  const auto whole_digits = at - begin;
  if (whole_digits == 0 && !(point_first && end - at > 1 && *at == '.' && is_digit(at[1]))) {
    return {begin, 0.0, false};
  }
  bool is_integer = true;
  std::size_t decimals = 0;
  if (at < end && *at == '.') {
    is_integer = false;
    ++at;
    while (at < end && is_digit(*at)) {
      if (mantissa < kExact) {
        mantissa = mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
        ++decimals;
      }
      ++at;
    }
  }
  bool negative = false;
  const char* after = skip_exponent(at, end, negative);
  // Both operands are exact, so the quotient is the nearest double.
  if (after == at && mantissa < kExact && decimals < kPowers.size()) {
    return {at, static_cast<double>(mantissa) / kPowers[decimals], is_integer};
  }
  if (after == at) negative = whole_digits < std::numeric_limits<double>::max_exponent10;
  return {after, slow_value(begin, after, negative), is_integer && after == at};
}

std::string number_text(double value) { return fmt::format("{}", value); }

}  // namespace oas::detail
