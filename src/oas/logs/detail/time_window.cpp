#include "oas/logs/detail/time_window.hpp"

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/cells.hpp"

namespace oas::detail {

namespace {

std::optional<GivenTime> given(const char* option, const std::string& text) {
  if (text.empty()) return {};
  try {
    return parse_time(text);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", option, error.what()));
  }
}

}  // namespace

TimeWindow::TimeWindow(const LogOptions& options)
    : from_{"from", options.from, given("from", options.from)},
      until_{"until", options.until, given("until", options.until)} {
  if (!from_.time || !until_.time) return;
  OAS_REQUIRE(from_.time->is_date() == until_.time->is_date(),
              "from {} and until {}: both must be dates, or both numbers", from_.text, until_.text);
  OAS_REQUIRE(from_.time->value < until_.time->value, "until: {} is not later than from, {}",
              until_.text, from_.text);
}

void TimeWindow::check(const TimeColumn& column) {
  if (checked_) return;
  checked_ = true;
  for (const End* end : {&from_, &until_}) {
    if (!end->time) continue;
    OAS_REQUIRE(end->time->is_date() == column.dates(),
                "{}: {} is {}, but the times of the log are {}", end->option, shown(end->text),
                end->time->is_date() ? "a date" : "a number", column.dates() ? "dates" : "numbers");
    OAS_REQUIRE(end->time->kind != TimeKind::zoned || column.zoned(),
                "{}: {} has a zone, but the times of the log have none", end->option,
                shown(end->text));
  }
}

TimeWindow::Side TimeWindow::side_of(double time, const TimeColumn& column) {
  check(column);
  if (from_.time && time < from_.time->value) return Side::before;
  return until_.time && time >= until_.time->value ? Side::after : Side::within;
}

std::string TimeWindow::text() const {
  std::string result = from_.time ? "from " + from_.text : "";
  if (until_.time) result += (result.empty() ? "until " : " until ") + until_.text;
  return result;
}

}  // namespace oas::detail
