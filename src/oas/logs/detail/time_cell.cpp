#include "oas/logs/detail/time_cell.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/cells.hpp"

namespace oas::detail {

namespace {

constexpr double kMinute = 60.0;
constexpr double kHour = 3600.0;
constexpr double kDay = 86400.0;

// Reads a time from left to right.
class IsoText {
 public:
  explicit IsoText(std::string_view text) : text_(text), rest_(text) {}

  // Exactly so many digits, from `low` to `high`.
  int number(std::size_t digits, int low, int high, const char* what) {
    int value = 0;
    const bool there = rest_.size() >= digits;
    for (std::size_t i = 0; there && i < digits; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') fail(what);
      value = 10 * value + (rest_[i] - '0');
    }
    if (!there || value < low || value > high) fail(what);
    rest_.remove_prefix(digits);
    return value;
  }
  bool skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c, const char* what) {
    if (!skip(c)) fail(what);
  }
  // Digits behind a point, as a number below 1.
  double fraction() {
    double value = 0.0;
    double digit = 0.1;
    const std::size_t before = rest_.size();
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; rest_.remove_prefix(1)) {
      value += digit * (rest_.front() - '0');
      digit /= 10.0;
    }
    if (rest_.size() == before) fail("digits behind the point");
    return value;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[noreturn]] void fail(const char* what) const {
    throw_invalid_argument(fmt::format(
        "time {} is neither a number nor a date like 2026-03-01T10:00:00Z: {} expected at "
        "character {}",
        shown(text_), what, text_.size() - rest_.size() + 1));
  }

 private:
  std::string_view text_;
  std::string_view rest_;
};

double date(IsoText& text) {
  namespace chrono = std::chrono;
  const int year = text.number(4, 0, 9999, "a year of four digits");
  text.expect('-', "-");
  const int month = text.number(2, 1, 12, "a month from 01 to 12");
  text.expect('-', "-");
  const int day = text.number(2, 1, 31, "a day from 01 to 31");
  const chrono::year_month_day when{chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                                    chrono::day(static_cast<unsigned>(day))};
  if (!when.ok()) text.fail("a day that this month has");
  return kDay * static_cast<double>(chrono::sys_days(when).time_since_epoch().count());
}

double time_of_day(IsoText& text) {
  double seconds = kHour * text.number(2, 0, 24, "an hour from 00 to 24");
  text.expect(':', ":");
  seconds += kMinute * text.number(2, 0, 59, "minutes from 00 to 59");
  if (text.skip(':')) {
    seconds += text.number(2, 0, 60, "seconds from 00 to 60");
    if (text.skip('.') || text.skip(',')) seconds += text.fraction();
  }
  if (seconds > kDay) text.fail("a time up to 24:00");
  return seconds;
}

// Seconds to take off; none: no zone is given.
std::optional<double> offset(IsoText& text) {
  if (text.skip('Z') || text.skip('z')) return 0.0;
  const bool east = text.skip('+');
  if (!east && !text.skip('-')) return {};
  double seconds = kHour * text.number(2, 0, 23, "an offset in hours from 00 to 23");
  const bool colon = text.skip(':');
  if (colon || !text.at_end()) {
    seconds += kMinute * text.number(2, 0, 59, "an offset in minutes from 00 to 59");
  }
  return east ? seconds : -seconds;
}

}  // namespace

double parse_iso_time(std::string_view text, bool& zoned) {
  IsoText rest(text);
  double seconds = date(rest);
  zoned = false;
  if (rest.at_end()) return seconds;
  if (!rest.skip('T') && !rest.skip('t') && !rest.skip(' ')) rest.fail("T or a blank");
  seconds += time_of_day(rest);
  if (const std::optional<double> east = offset(rest)) {
    zoned = true;
    seconds -= *east;
  }
  if (!rest.at_end()) rest.fail("the end");
  return seconds;
}

std::string iso_time(double seconds) {
  namespace chrono = std::chrono;
  const double days = std::floor(seconds / kDay);
  const chrono::year_month_day date{
      chrono::sys_days(chrono::days(static_cast<chrono::days::rep>(days)))};
  const double of_day = seconds - kDay * days;
  const auto whole = static_cast<int>(of_day);
  const auto milliseconds = static_cast<int>((of_day - whole) * 1000.0);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     whole / 3600, whole / 60 % 60, whole % 60,
                     milliseconds > 0 ? fmt::format(".{:03}", milliseconds) : "");
}

GivenTime parse_time(std::string_view text) {
  GivenTime time;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, time.value);
  if (parsed.ec == std::errc() && parsed.ptr == end) {
    OAS_REQUIRE(std::isfinite(time.value), "time {} is not finite", shown(text));
    return time;
  }
  bool zoned = false;
  time.value = parse_iso_time(text, zoned);
  time.kind = zoned ? TimeKind::zoned : TimeKind::local;
  return time;
}

double TimeColumn::read(const char*& position, long line) {
  const std::string_view text = next_cell(position, scratch_);
  OAS_REQUIRE(!text.empty(), "the time is empty");
  const GivenTime time = parse_time(text);
  if (!kind_) {
    kind_ = time.kind;
    kind_line_ = line;
  }
  const auto words = [](TimeKind one) {
    return one == TimeKind::number  ? "a number"
           : one == TimeKind::local ? "a date without zone"
                                    : "a date with a zone";
  };
  OAS_REQUIRE(time.kind == *kind_, "time {} is {}, but line {}{} has {}; all must be of one kind",
              shown(text), words(time.kind), kind_line_, kind_file_, words(*kind_));
  return time.value;
}

std::string TimeColumn::text(double time) const {
  if (!dates()) return fmt::format("{}", time);
  return iso_time(time) + (zoned() ? "Z" : "");
}

}  // namespace oas::detail
