#pragma once

#include <optional>
#include <string>

#include "oas/logs/detail/time_cell.hpp"
#include "oas/logs/log_options.hpp"

namespace oas::detail {

/// The rows that are looked at: from ≤ time < until. Messages name option and value; the caller
/// adds the file.
class TimeWindow {
 public:
  /// `from` and `until` of the options.
  explicit TimeWindow(const LogOptions& options);

  enum class Side { before, within, after };
  /// Where a time of the column lies. Throws InvalidArgument where an end of the window is a number
  /// and times are dates, or the other way round.
  [[nodiscard]] Side side_of(double time, const TimeColumn& column);

  /// "from 5 until 10": for messages; empty where all rows are looked at.
  [[nodiscard]] std::string text() const;

 private:
  struct End {
    const char* option;
    std::string text;
    std::optional<GivenTime> time;  // none: the log has no end on this side
  };
  void check(const TimeColumn& column);

  End from_;
  End until_;
  bool checked_ = false;
};

}  // namespace oas::detail
