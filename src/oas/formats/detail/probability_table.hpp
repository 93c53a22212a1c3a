#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "oas/core/checks.hpp"
#include "oas/formats/detail/faults.hpp"
#include "oas/formats/detail/row_table.hpp"
#include "oas/model/labels.hpp"
#include "oas/model/transition_model.hpp"

namespace oas::detail {

/// Stands for all of a kind where an index is expected.
inline constexpr int kAll = -1;

/// Rows of a .pomdp text that are still to sum to 1 may be off by this much.
inline constexpr double kTextTolerance = 1e-5;
/// Rows that are off by less than this are left as they are: a model may hold them.
inline constexpr double kRoundingTolerance = 0.9 * kStochasticTolerance;

/// One distribution for each (action, state), filled by assignments of which the last one counts.
/// Each row knows the line that wrote it last.
class ProbabilityTable {
 public:
  /// Listed when there are more than `max_table` numbers.
  ProbabilityTable(int num_actions, int num_states, int width, std::size_t max_table,
                   WriteBudget& budget);
  /// Dynamics, for a reader that may hold `max_numbers`.
  static ProbabilityTable for_transition(int num_actions, int num_states, std::size_t max_numbers,
                                         WriteBudget& budget);

  /// kAll where a wildcard stands.
  void set(int action, int state, int column, double value, long line);
  void set_row(int action, int state, std::span<const double> row, long line);
  void set_matrix(int action, std::span<const double> rows, long line);
  void set_identity_row(int action, int state, long line);

  [[nodiscard]] bool is_given(int row) const { return lines_[static_cast<std::size_t>(row)] > 0; }

  /// Checks and renormalises all rows; "T" or "O" is `what`. Faults name action, state and line.
  void finish(const char* what, const Labels& actions, const Labels& states, Faults& faults,
              Warnings& warnings);
  /// The numbers; not for tables that are listed.
  [[nodiscard]] std::vector<double> take() { return rows_.take(); }
  /// As dynamics, width = states.
  [[nodiscard]] TransitionModel take_transition();

 private:
  template <class Visit>
  void for_rows(int action, int state, long line, Visit visit);

  int num_actions_;
  int num_states_;
  RowTable rows_;  // row a·S + s
  std::vector<long> lines_;
  WriteBudget* budget_;
};

}  // namespace oas::detail
