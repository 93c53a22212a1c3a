#pragma once

#include <string>
#include <string_view>

/// Numbers in model texts, without regard to the locale.
namespace oas::detail {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number that starts at `begin`: digits, then a point and digits, then an exponent, all but
/// the first optional (with `point_first` the digits before the point too). Gives the end of what
/// was used, `begin` when there is no number. Too large a number is infinite, too small a one 0.
struct ScannedNumber {
  const char* end;
  double value;
  bool is_integer;
};
[[nodiscard]] ScannedNumber scan_number(const char* begin, const char* end, bool point_first);

/// The shortest digits that read back to the same double.
[[nodiscard]] std::string number_text(double value);

}  // namespace oas::detail
