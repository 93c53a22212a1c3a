#pragma once

#include <string>
#include <vector>

namespace oas {

struct Tick {
  double value;
  std::string label;  ///< empty: a minor one
};

/// Whether an axis can show the value: it is finite, and positive where the axis is logarithmic.
[[nodiscard]] bool showable(double value, bool logarithmic);

/// Round numbers (1, 2 or 5 times a power of ten apart) from low to high, about five of them.
[[nodiscard]] std::vector<double> round_ticks(double low, double high);

/// Round dates from low to high, in seconds since 1970, at most nine of them; labels to the day, or
/// to the minute where they are less than a day apart.
[[nodiscard]] std::vector<Tick> date_ticks(double low, double high);

/// One axis: where a value stands between 0 and 1.
class Axis {
 public:
  /// Some room is left beyond both ends. Both must be showable, low <= high.
  Axis(double low, double high, bool logarithmic);

  /// 0 at the lower end of the axis, 1 at the upper one; values beyond the ends lie outside, but
  /// never further than twice the length of the axis. `value` must be showable.
  [[nodiscard]] double at(double value) const;

  /// The value that stands there.
  [[nodiscard]] double value(double share) const;

  /// `room`: how many decades still leave place for labels between them.
  [[nodiscard]] std::vector<Tick> ticks(double room) const;

 private:
  [[nodiscard]] std::vector<Tick> log_ticks(double room) const;
  [[nodiscard]] std::vector<Tick> linear_ticks() const;

  bool log_;
  double low_;
  double high_;
};

}  // namespace oas
