#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/live/detail/row_filter.hpp"

namespace oas::detail {

/// The last rows of a run, and what was believed before them: when other dynamics are held to be
/// true, the belief of the run is computed again from there. What the run was known to be long ago
/// is not forgotten, however little its rows say since then. A value.
///
/// All rows are kept until there is a first belief. From then on there are kStretch to 2 kStretch
/// of them, and beliefs at the first one and kStretch rows later (checkpoints); of runs that are
/// shorter all, from the model's start.
class BeliefWindow {
 public:
  static constexpr std::size_t kStretch = 512;

  /// The next row and the belief that it led to; empty: there are no dynamics yet.
  void add(const SeenRow& row, std::span<const double> belief);

  /// Brings a filter with other dynamics to the end of the run, whose first reading this was. What
  /// was believed before the rows was by the old dynamics, which may have ruled out what is so: it
  /// is mixed with that share of uniform. O(rows).
  void bring(RowFilter& filter, const SeenRow& first, double doubt) const;
  /// The same, and the checkpoints are by the filter's dynamics from now on.
  void renew(RowFilter& filter, const SeenRow& first, double doubt);

  /// Of the last row; `none` where there is none.
  [[nodiscard]] Observation last_observation(Observation none) const {
    return rows_.empty() ? none : rows_.back().observation;
  }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }

  void save(ByteWriter& out) const;
  /// Throws InvalidArgument on what cannot be.
  [[nodiscard]] static BeliefWindow loaded(ByteReader& in, int num_states);

 private:
  struct Row {
    Action action;
    Observation observation;
    std::int32_t brings = 0;  // 1: the next of likelihoods_
  };

  void begin(RowFilter& filter, const SeenRow& first, double doubt) const;
  void drop(std::size_t rows);
  // Updates the filter by all rows; visitor(number of rows so far) after each.
  template <class Visitor>
  void follow(RowFilter& filter, const Visitor& visitor) const;

  std::vector<Row> rows_;
  std::vector<double> likelihoods_;  // S for each row that brings some
  std::size_t states_ = 0;           // S, where there are any
  std::vector<double> before_;       // the belief before rows_; empty: the run's start
  std::vector<double> middle_;  // kStretch rows later; empty: there are fewer rows, or no belief
};

/// A belief of so many states, or none at all. Throws InvalidArgument on anything else.
[[nodiscard]] std::vector<double> loaded_belief(ByteReader& in, int num_states);

}  // namespace oas::detail
