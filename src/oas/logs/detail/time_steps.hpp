#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "oas/logs/detail/step_classes.hpp"
#include "oas/logs/detail/time_cell.hpp"
#include "oas/logs/log_options.hpp"

namespace oas::detail {

/// How many steps lie between the rows of a unit. The step is given, or is what lies between all
/// rows; or steps are in classes, and then it is one step, or a gap. Messages name times; the
/// caller adds file, line and field.
class TimeSteps {
 public:
  /// Rows that are put into one gap at most.
  static constexpr double kMostInserted = 1e7;

  /// Looks at step, step_classes and gaps.
  explicit TimeSteps(const LogOptions& options);

  /// Two consecutive rows of a unit. Throws InvalidArgument on a time that is not later, and, where
  /// the step is given, on a difference that is no multiple of it, on a gap that is an error, and
  /// on one of more than kMostInserted steps; where there are classes, on one that is in none,
  /// unless a new run begins there.
  void add(const std::string& unit, double before, double after, const TimeColumn& column);
  /// All rows were added: throws InvalidArgument when no step is given and differences differ,
  /// showing the commonest.
  void finish(const TimeColumn& column);

  /// All rows were added, and the step is given: throws InvalidArgument where rows lie so many
  /// steps apart throughout that its unit is probably wrong, unless the user says that they do.
  void check_density(const TimeColumn& column) const;

  /// Steps between two rows that were added, at least 1; 2 where their difference is in no class.
  [[nodiscard]] std::int64_t between(double before, double after) const;
  /// The class of a step from the one time to the other; none: it is in no class.
  [[nodiscard]] std::optional<std::size_t> class_of(double before, double after) const;

 private:
  [[nodiscard]] std::optional<double> multiple(double difference) const;
  void check_unit(const TimeColumn& column);
  void check_class(double before, double after, const std::string& of_unit,
                   const TimeColumn& column) const;
  [[nodiscard]] std::string shown_length(double length, const TimeColumn& column) const;

  struct Seen {
    double length = 0.0;  // the first of these differences
    std::int64_t count = 0;
  };

  std::optional<Duration> given_;
  std::string text_;  // of the given step
  StepClasses classes_;
  Gaps::Kind gaps_;
  double step_ = 0.0;
  bool checked_ = false;
  bool sparse_;
  std::int64_t num_differences_ = 0;
  double fewest_steps_ = 0.0;                 // between two rows, of all these
  std::map<std::int64_t, Seen> differences_;  // by their logarithm, 10,000 to a factor of e
};

}  // namespace oas::detail
