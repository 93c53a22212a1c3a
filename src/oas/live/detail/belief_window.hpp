#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oas/belief/filter.hpp"
#include "oas/core/bytes.hpp"

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
  /// Share of uniform in a belief of other dynamics: they may have ruled out what is so.
  static constexpr double kDoubt = 1e-3;

  struct Row {
    Action action;
    Observation observation;
  };

  /// The next row and the belief that it led to; empty: there are no dynamics yet.
  void add(Row row, std::span<const double> belief);

  /// Brings a filter with other dynamics to the end of the run, whose first reading this was
  /// (kMissing: none). O(rows).
  void bring(BeliefFilter& filter, Observation first) const;
  /// The same, and the checkpoints are by the filter's dynamics from now on.
  void renew(BeliefFilter& filter, Observation first);

  /// Of the last row; `none` where there is none.
  [[nodiscard]] Observation last_observation(Observation none) const {
    return rows_.empty() ? none : rows_.back().observation;
  }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }

  void save(ByteWriter& out) const;
  /// Throws InvalidArgument on what cannot be.
  [[nodiscard]] static BeliefWindow loaded(ByteReader& in, int num_states);

 private:
  void begin(BeliefFilter& filter, Observation first) const;
  void drop(std::size_t rows);

  std::vector<Row> rows_;
  std::vector<double> before_;  // the belief before rows_; empty: the run's start
  std::vector<double> middle_;  // kStretch rows later; empty: there are fewer rows, or no belief
};

/// A belief of so many states, or none at all. Throws InvalidArgument on anything else.
[[nodiscard]] std::vector<double> loaded_belief(ByteReader& in, int num_states);

}  // namespace oas::detail
