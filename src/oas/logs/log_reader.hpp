#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/logs/byte_source.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/logs/one_log.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/row_block.hpp"
#include "oas/model/trajectory.hpp"

namespace oas {

namespace detail {
struct LogSlice;
class RowCells;
}  // namespace detail

/// What LogReader makes of rows that are reading-first, beside those that have both an action and
/// what it led to.
enum class LogRows {
  complete,    ///< nothing: for those who learn; a run of one row is left out
  all,         ///< the last action of a run as a row without observation; runs may have no row
  as_written,  ///< the rows of the file as they stand there; an action may be -1
};

/// Some consecutive rows of a log.
struct LogBlock {
  Trajectory rows;                      ///< columns that the log does not have are empty
  std::vector<std::size_t> run_starts;  ///< rows of this block at which a new run starts, ascending
  std::vector<std::string> run_names;   ///< of these runs; empty: the log has no column `run`
  std::vector<RunStart> starts;         ///< of these runs; empty: all at the model's start
  std::vector<std::int64_t> first_steps;  ///< of their rows in the unit; empty: 0
  /// Of a log with real-valued observations [row][component], and what they say about the states
  /// [row][state], p(o | s, a) up to a factor per row; 1 where the row's observation is missing. In
  /// rows.observations such a row has kMissing, the others 0. Components that are missing from the
  /// reading of such another row are NaN. Empty for finite observations.
  std::vector<double> readings;
  std::vector<double> likelihoods;
  /// With LogRows::all, rows that hold only the last action of a run whose rows are reading-first.
  std::vector<std::size_t> last_actions;
  /// With LogOptions::known_states: the state that emitted the row's observation; -1: the cell is
  /// empty; -2: there is no cell, as in rows that were put into a gap.
  std::vector<State> known;
  /// Of a log with a column `time`: each row's, dates in seconds since 1970.
  std::vector<double> times;

  /// Empties the block and keeps its memory.
  void clear();

  /// A view of the rows, as estimators take them.
  [[nodiscard]] RowBlock view() const;

  friend bool operator==(const LogBlock&, const LogBlock&) = default;
};

/// Reads a log "oas-log/1" (docs/reference/formats.md) block by block in constant memory, whatever
/// its size:
///
///     LogReader reader("log.csv.zst", model);
///     for (LogBlock block; reader.read_block(block, 65536);) fold(block);
///
/// A log is CSV (RFC 4180, line feed with or without carriage return, byte order mark allowed),
/// plain, gzip or zstd whatever its name. Lines that begin with # may stand above the header row;
/// the one that reads "# oas-log/1 timing=before" is checked against the model's timing. Columns,
/// in any order: `action`, `observation` (an empty cell is kMissing); optional `run`, `propensity`
/// in (0, 1], `reward`, `state` (an empty cell is -1), `time`; others where LogOptions::columns
/// says so. Labels are names or 0-based indices, per column not both.
///
/// Real-valued observations (a ContinuousPomdp) stand in `observation`, vectors in `observation_1`
/// … `observation_d`; in place of them a log may bring p(o | s, a) itself, up to a factor per row,
/// in `likelihood_1` … `likelihood_S` or `likelihood_` and the state's name; of these a row has all
/// cells or none. Of a vector some components may be empty: the likelihoods are those of the
/// others.
///
/// Runs: the first row starts one, and so does each row whose `run` cell, any name, differs from
/// the cell above. Where a run comes back after another began, the rows of several units are
/// interleaved: they are sorted apart, units in the order of their first rows, in bounded memory
/// (beyond 64 MB rows go to a temporary file). That is noticed within the first block that is read;
/// later it is a fault, unless LogOptions::interleaved says so beforehand. Names that count up, 0,
/// 1, 2, …, take no memory, others 11 to 22 bytes each, up to detail::RunNames::kMost.
///
/// Times: with a column `time` units are sorted apart too. Times of a unit must grow by multiples
/// of the step; what to make of the steps without row, gaps, LogOptions says. Or steps are in
/// classes (LogOptions::step_classes): what lies between a row's time and the next one's then says
/// which action the row's is, "wait@week" where the log has "wait"; see detail::ClassedRows for the
/// last row. Rows outside of from ≤ time < until are read, so that their faults are found, and left
/// out; a unit that had rows before starts in an unknown state.
///
/// Files: those of OneLog that go on are read as if they were one. They all need columns `run` and
/// `time`, and their rows are in the order of time for each unit. Where each starts a run, they are
/// read one after the other, all with the columns of the first; see detail::UnitNames for how units
/// are told apart.
///
/// Reading-first rows (the model's Rows, or LogOptions::rows) hold the reading of a state and the
/// action that was chosen there knowing it. They come out as rows of timing `after`: action and the
/// next row's reading, with propensity, reward and state of the action's row; the first reading of
/// a run stands in its RunStart. The last row of a run may have no action, propensity and reward.
///
/// Known states: with LogOptions::known_states what the column `state` knows enters `likelihoods`,
/// which there are then for finite observations too. `state` is the state in which the row's action
/// was taken. In timing `before` the row's observation comes from it; in `after` that of the row
/// before does, and the first one tells where the run starts. A state that is only noted when it is
/// a certain one tells by its absence, too: LogOptions::noticed names those that are never missed,
/// and a row with an empty cell was in none of them. (Of the first row in `after` that is not
/// used.)
///
/// Every fault of the text is a ParseError "file:line:field: message" (field counts the columns
/// from 1) that names column and value. Among them: no rows, a blank line that is not at the end, a
/// quoted cell over several lines, a line of more than 1 MiB, an observation of density 0 in every
/// state, likelihoods that are negative or all 0. After an exception the reader is of
/// no use. O(bytes) time; no allocation per row; none at all per block once its columns have grown.
class LogReader {
 public:
  /// Opens a log and reads its first header; "-" is standard input. Throws InvalidArgument when the
  /// file cannot be opened, and on options that nobody looks at because a column is missing. Keeps
  /// no reference to the model.
  LogReader(const OneLog& log, const Pomdp& model, const LogOptions& options = {});

  /// The same from any bytes, compressed or not; `name` is used in messages.
  LogReader(std::unique_ptr<ByteSource> bytes, const std::string& name, const Pomdp& model,
            const LogOptions& options = {});

  /// The same for real-valued observations; keeps a copy of the model's sensors.
  LogReader(const OneLog& log, const ContinuousPomdp& model, const LogOptions& options = {});
  LogReader(std::unique_ptr<ByteSource> bytes, const std::string& name,
            const ContinuousPomdp& model, const LogOptions& options = {});

  /// The same for real-valued observations of `dimension` components whose densities are not known
  /// yet: likelihoods are 1.
  LogReader(const OneLog& log, const Pomdp& model, int dimension, const LogOptions& options);

  ~LogReader();
  LogReader(LogReader&& other) noexcept;
  LogReader& operator=(LogReader&& other) noexcept;

  /// Puts the next rows, at least 1 and at most `max_rows` >= 1, into `block`. False at the end,
  /// with an empty block. All blocks but the last, of each file that starts a run, hold `max_rows`;
  /// with LogRows::all the last one may hold runs without rows only.
  [[nodiscard]] bool read_block(LogBlock& block, std::size_t max_rows);

  /// Before the first block is read. Does nothing where rows are action-first.
  void set_rows(LogRows rows);
  /// How many threads may make rows of lines; at first one. Blocks and faults do not depend on it.
  /// Text and rows that are read ahead take up to 200 MB.
  void use(Parallelism parallelism);

  /// Reads only those lines of the only file, from here on.
  void read_only(const detail::LogSlice& slice);
  /// What has been read so far, for those who begin in the middle of the same file. Null where
  /// nobody can: rows are sorted, shifted or translated, or something has still to show.
  [[nodiscard]] std::shared_ptr<const detail::RowCells> cells() const;

  [[nodiscard]] bool reading_first() const;
  [[nodiscard]] bool has_run() const;
  [[nodiscard]] bool has_propensity() const;
  [[nodiscard]] bool has_reward() const;
  [[nodiscard]] bool has_state() const;
  [[nodiscard]] bool has_time() const;
  [[nodiscard]] bool has_likelihood() const;  ///< the log brings likelihoods, no readings
  /// A time of the column `time` as people write it; and whether these are dates. Once rows were
  /// read.
  [[nodiscard]] std::string time_text(double time) const;
  [[nodiscard]] bool has_dates() const;

  /// The line of a row of the last block in its file, and which of the log's files that is.
  [[nodiscard]] long line_of(std::size_t row) const;
  [[nodiscard]] std::size_t file_of(std::size_t row) const;
  [[nodiscard]] long line() const;                ///< lines read so far of the file
  [[nodiscard]] std::size_t rows_read() const;    ///< rows of the file so far, and of gaps
  [[nodiscard]] const std::string& name() const;  ///< of the file being read

 private:
  class Impl;
  struct Following;
  explicit LogReader(std::unique_ptr<Impl> first);
  void follow(const OneLog& log, std::function<std::unique_ptr<Impl>(const OneLog& log)> open);
  bool begin_next_file();

  std::unique_ptr<Following> following_;  // null: there is one file, or files go on
  std::unique_ptr<Impl> impl_;
};

/// Whether the header of a log names likelihood columns. False for what is no regular file (a pipe
/// can be read only once) and for what cannot be read: the reader then says what is wrong.
[[nodiscard]] bool log_brings_likelihoods(const OneLog& log, const LogOptions& options = {});

}  // namespace oas
