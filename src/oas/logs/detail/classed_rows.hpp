#pragma once

#include <cstddef>
#include <optional>

#include "oas/logs/detail/row_parser.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// What steps in classes do to rows: the action of a row becomes that of the class of its step,
/// which is what lies between the row's time and the next one's.
///
/// The last row of a run has no next time. It gets the action of the first class that has one, and
/// its reading counts only where it does not depend on the class: always where rows are
/// reading-first (it is what the action before led to); in timing `before` where the sensor is the
/// same in all classes; never in timing `after`, since the action led to it over a step of unknown
/// length, unless the action is the same in all classes.
class ClassedRows {
 public:
  /// The parser has class actions; keeps a reference to it.
  ClassedRows(const RowParser& parser, const Pomdp& model);

  /// Completes the last row of a block, in this line; no class: it is the last of its run. Throws
  /// ParseError where the model has no action for the class, or where a reading cannot be.
  void complete(LogBlock& block, std::optional<std::size_t> step_class, long line) const;

 private:
  [[nodiscard]] Action of_class(Action logged, std::size_t step_class, long line) const;
  [[nodiscard]] bool reading_needs_class(Action logged) const;
  void leave_out_reading(LogBlock& block) const;

  const RowParser& parser_;
  const ClassActions& actions_;
  Pomdp model_;
};

}  // namespace oas::detail
