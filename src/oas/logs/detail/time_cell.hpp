#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Times of rows. Messages name column and value; the caller adds file, line and field.
namespace oas::detail {

/// Seconds since 1970 of "2026-03-01T10:00:00Z": a date, then optionally T or a blank, hours and
/// minutes, optionally seconds with a fraction, and optionally Z or an offset as +02:00, +0200 or
/// +02. Without offset it counts as UTC; `zoned` says whether there was one. Proleptic Gregorian.
/// Throws InvalidArgument naming what is wrong.
[[nodiscard]] double parse_iso_time(std::string_view text, bool& zoned);

/// "2026-03-01T10:00:00Z" again, to the second, or to milliseconds where there are some.
[[nodiscard]] std::string iso_time(double seconds);

enum class TimeKind {
  number,
  local,
  zoned
};  ///< the last two are dates, without zone and with one

/// A time as somebody writes it.
struct GivenTime {
  double value = 0.0;  ///< a number, or seconds since 1970
  TimeKind kind = TimeKind::number;

  [[nodiscard]] bool is_date() const { return kind != TimeKind::number; }
};
/// A number, or as parse_iso_time. Throws InvalidArgument naming the value.
[[nodiscard]] GivenTime parse_time(std::string_view text);

/// A column of times: all numbers, or all ISO 8601, with a zone in all of them or in none.
class TimeColumn {
 public:
  [[nodiscard]] double read(const char*& position, long line);
  /// Rows of another file follow those of this one.
  void leave_file(const std::string& name) {
    if (kind_ && kind_file_.empty()) kind_file_ = " of " + name;
  }

  /// Whether both know, or both do not, which kind of times these are.
  [[nodiscard]] bool same_kind(const TimeColumn& other) const { return kind_ == other.kind_; }

  /// Whether the times are dates, so that their differences are seconds.
  [[nodiscard]] bool dates() const { return kind_ && *kind_ != TimeKind::number; }
  [[nodiscard]] bool zoned() const { return kind_ == TimeKind::zoned; }
  /// A time of this column as people write it.
  [[nodiscard]] std::string text(double time) const;

 private:
  std::optional<TimeKind> kind_;
  long kind_line_ = 0;     // where that was seen first
  std::string kind_file_;  // and in which file, where that is not the one being read
  std::string scratch_;
};

}  // namespace oas::detail
