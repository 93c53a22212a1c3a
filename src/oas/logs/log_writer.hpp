#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"

namespace oas {

/// The optional columns of a log that is written.
struct LogColumns {
  bool run = false;
  bool propensity = false;
  bool reward = false;
  bool state = false;
};

/// Writes a log "oas-log/1" that LogReader reads back to the same rows: the timing line, the header
/// (run, action, observation, propensity, reward, state, those that are there), one line per row.
/// Names where the model has names, else indices; numbers with the shortest digits that read back
/// to the same double. The same rows give the same bytes. Where rows are reading-first, they are
/// written as they are given, observation before action, and an action of -1 leaves its cells
/// empty: rows as LogRows::as_written reads them.
///
/// The ending of the path chooses gzip (.gz) or zstd (.zst); "-" is standard output. The file
/// appears complete or not at all: without commit() nothing is left behind. A full disk throws
/// IoError.
class LogWriter {
 public:
  /// Throws InvalidArgument when the path cannot be written. Keeps no reference to the model.
  LogWriter(const std::string& path, const Pomdp& model, LogColumns columns);
  /// The same for real-valued observations: `observation` holds a number, or `observation_1` …
  /// `observation_d` the components of a vector. Throws also when the model has no densities.
  LogWriter(const std::string& path, const ContinuousPomdp& model, LogColumns columns);
  ~LogWriter();
  LogWriter(LogWriter&& other) noexcept;
  LogWriter& operator=(LogWriter&& other) noexcept;

  /// Appends the rows of `block`, which belong to run number `run`; the next block of the same
  /// number continues it. Throws InvalidArgument naming row and value when the block lacks a chosen
  /// column, when a label is out of range, a propensity outside (0, 1] or a reward not finite, and
  /// when the run changes in a log without `run` column; the log is then of no use. O(rows), no
  /// allocation.
  void write(const Trajectory& block, long run);
  /// The same for a run with a name, as it stands in column `run`; several may have the same.
  void write(const Trajectory& block, long run, std::string_view name);
  /// The same with `readings` [row][component] as observations; NaN is a component that was not
  /// read. Throws InvalidArgument where an observation that is not missing has none.
  void write(const Trajectory& block, std::span<const double> readings, long run);
  void write(const Trajectory& block, std::span<const double> readings, long run,
             std::string_view name);

  /// Completes the log. Throws InvalidArgument when it has no rows. The last call.
  void commit();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace oas
