#include "oas/logs/detail/time_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/cells.hpp"

namespace oas::detail {

namespace {

constexpr double kTolerance = 0.01;      // of the difference
constexpr double kMostTolerance = 0.25;  // of a step: beyond, a multiple would be a guess
constexpr double kMostSteps = 1e15;      // that are counted exactly
constexpr double kClasses = 1e4;         // of differences, to a factor of e
constexpr std::size_t kShownDifferences = 4;
// Days taken for hours are 24 steps apart, hours taken for minutes 60.
constexpr double kSuspectSteps = 20.0;
constexpr std::int64_t kEnoughDifferences = 10;

// Both within the tolerance of what lies between them.
bool about_equal(double one, double other) {
  return std::abs(one - other) <= 2.0 * kTolerance * std::min(one, other);
}

}  // namespace

TimeSteps::TimeSteps(const LogOptions& options)
    : text_(options.step),
      classes_(options.step_classes),
      gaps_(Gaps(options.gaps).kind),
      sparse_(options.sparse) {
  if (text_.empty()) return;
  given_ = parse_duration(text_);
  step_ = given_->value;
}

// A plain number is meant for numbers, and a unit for dates.
void TimeSteps::check_unit(const TimeColumn& column) {
  if (checked_) return;
  checked_ = true;
  if (!given_ && classes_.empty()) return;
  const bool has_unit = given_ ? given_->has_unit : classes_.has_unit();
  const std::string& text = given_ ? text_ : classes_.text();
  OAS_REQUIRE(!has_unit || column.dates(),
              "the times are numbers, so that the step must be a number in their unit, not {}",
              shown(text));
  OAS_REQUIRE(has_unit || !column.dates(),
              "the times are dates, so that the step needs a unit (s, m, min, h, d): {}",
              shown(text));
}

std::string TimeSteps::shown_length(double length, const TimeColumn& column) const {
  return column.dates() ? shown_seconds(length) : fmt::format("{:g}", length);
}

std::optional<double> TimeSteps::multiple(double difference) const {
  const double steps = std::round(difference / step_);
  const double error = std::abs(difference / step_ - steps);
  const bool close = error <= std::min(kTolerance * steps, kMostTolerance);
  return steps >= 1.0 && close ? std::optional(steps) : std::nullopt;
}

void TimeSteps::add(const std::string& unit, double before, double after,
                    const TimeColumn& column) {
  check_unit(column);
  const std::string of_unit = unit.empty() ? "" : fmt::format(" of unit {}", shown(unit));
  OAS_REQUIRE(after != before, "time {}{} occurs twice", column.text(after), of_unit);
  OAS_REQUIRE(after > before, "time {}{} is earlier than the one of the row before it, {}",
              column.text(after), of_unit, column.text(before));
  const double difference = after - before;
  OAS_REQUIRE(std::isfinite(difference) && (!given_ || difference / step_ <= kMostSteps),
              "too long a time lies between {} and {}{}", column.text(before), column.text(after),
              of_unit);
  if (!classes_.empty()) return check_class(before, after, of_unit, column);
  if (!given_) {
    Seen& seen = differences_[std::llround(kClasses * std::log(difference))];
    if (seen.count++ == 0) seen.length = difference;
    return;
  }
  const std::optional<double> steps = multiple(difference);
  OAS_REQUIRE(steps.has_value(),
              "{} lie between {} and {}{}, which is not a multiple of the step of {}",
              shown_length(difference, column), column.text(before), column.text(after), of_unit,
              shown_length(step_, column));
  fewest_steps_ = num_differences_++ == 0 ? *steps : std::min(fewest_steps_, *steps);
  if (*steps < 1.5) return;
  OAS_REQUIRE(gaps_ != Gaps::Kind::error,
              "a gap of {}{}: there are no rows between {} and {}. Only you know what "
              "was done there; say it with --gaps action=NAME, repeat or new-run",
              *steps < 2.5 ? "1 step" : fmt::format("{:.0f} steps", *steps - 1.0), of_unit,
              column.text(before), column.text(after));
  OAS_REQUIRE(gaps_ == Gaps::Kind::new_run || *steps - 1.0 <= kMostInserted,
              "a gap of {:.0f} steps{} between {} and {}: more than {:.0f} rows are not "
              "put in; use a longer --step, or --gaps new-run",
              *steps - 1.0, of_unit, column.text(before), column.text(after), kMostInserted);
}

void TimeSteps::check_class(double before, double after, const std::string& of_unit,
                            const TimeColumn& column) const {
  OAS_REQUIRE(
      gaps_ == Gaps::Kind::new_run || class_of(before, after).has_value(),
      "{} lie between {} and {}{}, which is in no class of --step-classes {}: widen one, or "
      "let another run begin there with --gaps new-run",
      column.dates() ? about_seconds(after - before) : fmt::format("{:g}", after - before),
      column.text(before), column.text(after), of_unit, classes_.text());
}

void TimeSteps::finish(const TimeColumn& column) {
  if (given_ || differences_.empty()) return;
  std::vector<Seen> seen;  // neighbours put together
  for (const auto& [key, one] : differences_) {
    if (!seen.empty() && about_equal(seen.back().length, one.length)) {
      seen.back().count += one.count;
    } else {
      seen.push_back(one);
    }
  }
  std::stable_sort(seen.begin(), seen.end(),
                   [](const Seen& a, const Seen& b) { return a.count > b.count; });
  step_ = seen.front().length;
  if (seen.size() == 1) return;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(kShownDifferences, seen.size()); ++i) {
    texts.push_back(
        fmt::format("{} ({})", shown_length(seen[i].length, column),
                    seen[i].count == 1 ? "once" : fmt::format("{} times", seen[i].count)));
  }
  throw_invalid_argument(fmt::format(
      "the times of consecutive rows differ by {}{}: say with --step how long a step is, and with "
      "--gaps what happened where rows are missing; or give classes of steps, --step-classes",
      fmt::join(texts, ", "), seen.size() > kShownDifferences ? ", …" : ""));
}

void TimeSteps::check_density(const TimeColumn& column) const {
  const bool suspect = num_differences_ >= kEnoughDifferences && fewest_steps_ >= kSuspectSteps;
  OAS_REQUIRE(sparse_ || !suspect,
              "rows of a unit are never less than {:.0f} steps of {} apart, here and in all {} "
              "places: is the unit of --step wrong? If it is right, say --sparse",
              fewest_steps_, shown_length(step_, column), num_differences_);
}

// 2.8 - 2 is below 0.8: decimals are rounded, and the end of a class counts.
std::optional<std::size_t> TimeSteps::class_of(double before, double after) const {
  constexpr double kRounding = 2.0 * std::numeric_limits<double>::epsilon();
  return classes_.find(after - before, kRounding * std::max(std::abs(before), std::abs(after)));
}

std::int64_t TimeSteps::between(double before, double after) const {
  if (!classes_.empty()) return class_of(before, after) ? 1 : 2;
  return given_ ? static_cast<std::int64_t>(std::round((after - before) / step_)) : 1;
}

}  // namespace oas::detail
