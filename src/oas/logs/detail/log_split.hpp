#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/logs/detail/row_cells.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/model/row_source.hpp"

namespace oas::detail {

/// Consecutive lines of a plain file, and what is known of the rows before them.
struct LogSlice {
  std::int64_t begin = 0;  ///< bytes of the file
  std::int64_t end = 0;
  bool is_last = true;           ///< no rows follow
  long lines_before = 0;         ///< of the file
  std::int64_t run = 0;          ///< number in the file of the run of its first row
  std::int64_t rows_before = 0;  ///< of this run
  std::int64_t line_before = 0;  ///< where the line before begins, if it holds a row
  std::int64_t name_before = 0;  ///< of that row's run, a number; where there is a column for it
  std::shared_ptr<const RowCells> cells;  ///< as the first rows of the file left it
};

/// What a stretch of lines holds. Of a file without column `run` only the lines are counted.
struct LogCounts {
  std::int64_t lines = 0;
  std::int64_t first_name = 0;  ///< of the first row's run
  std::int64_t last_name = 0;
  std::int64_t rows_until = 0;  ///< before the first row that starts another run
  std::int64_t change = -1;     ///< where its line begins; -1: there is none
  std::int64_t rows_since = 0;  ///< from the last such row on
  std::int64_t clear = 1;       ///< 0: names of runs do not count up, or there are none
};

/// A large plain file of rows that are read in its order, cut into stretches of about equal size:
/// first each of them is counted, at the same time as others, then slices are made of them. A file
/// is cut at line ends. That is possible wherever lines stand for themselves: not where rows are
/// sorted (times, units that are interleaved, known states) or shifted (reading-first), nor where
/// other separators or texts for nothing are translated, nor where runs have other names than
/// numbers that count up: of others nobody knows in the middle whether one comes back.
class LogSplit {
 public:
  /// A file, and what opens it. None where it cannot be cut, or
  /// something is wrong with its first rows. `stretches` >= 2.
  [[nodiscard]] static std::optional<LogSplit> of(const std::string& path,
                                                  const std::function<LogReader()>& open,
                                                  std::size_t stretches);

  [[nodiscard]] std::size_t stretches() const { return cuts_.size() - 1; }
  [[nodiscard]] std::int64_t bytes(std::size_t stretch) const {
    return cuts_[stretch + 1] - cuts_[stretch];
  }
  /// Whether LogCounts of that stretch are needed.
  [[nodiscard]] bool is_counted(std::size_t stretch) const {
    return run_field_ > 0 || stretch + 1 < stretches();
  }
  /// `all`: also what follows the first row that starts another run, which runs() and the slices of
  /// later stretches need to know.
  [[nodiscard]] LogCounts count(std::size_t stretch, bool all) const;

  /// Runs of the file; none: names do not count up everywhere.
  [[nodiscard]] std::optional<std::int64_t> runs(std::span<const LogCounts> counts) const;
  /// Slices of about a stretch each, at the most, that begin where a run does or `cut` allows it.
  [[nodiscard]] std::vector<LogSlice> slices(std::span<const LogCounts> counts,
                                             const RunCut& cut) const;

 private:
  // Behind some stretches.
  struct Place {
    [[nodiscard]] bool pass(const LogCounts& stretch);

    long lines = 0;         // of the file
    std::int64_t run = 0;   // of the row before, by number in the file
    std::int64_t rows = 0;  // of it so far
    std::int64_t name = 0;  // and its name
  };

  LogSplit() = default;
  [[nodiscard]] LogCounts count_lines(std::int64_t begin, std::int64_t end) const;
  [[nodiscard]] LogCounts count_runs(std::int64_t begin, std::int64_t end, bool all) const;
  [[nodiscard]] bool cut_in(std::size_t stretch, const Place& place, const LogCounts& counts,
                            const RunCut& cut, LogSlice& slice) const;

  std::string path_;
  std::vector<std::int64_t> cuts_;  // where stretches begin, and the end of the last
  std::int64_t end_ = 0;            // of the rows: only blank lines follow
  long header_lines_ = 0;
  long run_field_ = 0;  // from 1 on; 0: there is none
  std::shared_ptr<const RowCells> cells_;
};

}  // namespace oas::detail
