#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/dialect.hpp"
#include "oas/logs/detail/line_buffer.hpp"
#include "oas/logs/detail/row_cells.hpp"
#include "oas/logs/detail/rows_ahead.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas::detail {

struct LogSlice;

/// The lines of a log as rows, as they stand in the file and in its order; see LogReader for what
/// it throws. Where rows are reading-first, the action of a row may be missing (-1), propensity and
/// reward NaN with it, and readings bring no likelihoods: the sensor is that of the row before.
/// Where steps are in classes, actions are those of ClassActions::logged(), and readings bring none
/// either.
class RowParser {
 public:
  /// Reads the header. `evidence` empty: observations are finite. Keeps no reference.
  RowParser(std::unique_ptr<ByteSource> bytes, std::string name, const Pomdp& model,
            std::optional<RowEvidence> evidence, const LogOptions& options);

  /// The rows of the other files of this log follow. They must have the columns of the first, in
  /// any order.
  void continue_with(const OneLog& log) { log_ = log; }

  /// Reads, in place of what is left of the file, only those lines of it; `bytes` are theirs.
  void read_only(const LogSlice& slice, std::unique_ptr<ByteSource> bytes);
  /// Its cells need no translation.
  [[nodiscard]] bool plain() const { return dialect_.plain(); }
  [[nodiscard]] const RowCells& cells() const { return cells_; }

  /// Up to `max_rows` rows; false at the end, with an empty block. The rows of a call stand in
  /// consecutive lines of one file. Throws RunComesBack when a run does, with the rows before it in
  /// the block; that row is then read by the next call, after allow_return().
  bool read(LogBlock& block, std::size_t max_rows);
  /// From now on runs may come back: a run starts wherever the name changes.
  void allow_return() { cells_.allow_return(); }
  /// How many threads may read the rows to come; at first one.
  void use(Parallelism parallelism) { ahead_.use(parallelism); }

  /// Null: observations are finite.
  [[nodiscard]] const RowEvidence* evidence() const { return cells_.evidence(); }
  /// Null: steps are not in classes.
  [[nodiscard]] const ClassActions* class_actions() const { return cells_.class_actions(); }
  [[nodiscard]] bool has(LogColumn column) const { return field_of(column) > 0; }
  /// The number of a column, from 1 on; 0: there is none.
  [[nodiscard]] long field_of(LogColumn column) const {
    return detail::field_of(column, cells_.columns());
  }

  /// What is wrong in a line, counted from the first line of the first file on (0: in none), in a
  /// column (0: in none) of it.
  [[nodiscard]] ParseError error(LogColumn column, long line, const std::string& message) const;
  /// The number of that line in its own file, and which file that is.
  [[nodiscard]] long line_in_file(long line) const { return line - file_at(line).lines_before; }
  [[nodiscard]] std::size_t index_of_file(long line) const;
  /// "line 7", with the name of its file where that is not the one of the line beside it.
  [[nodiscard]] std::string place(long line, long beside) const;

  [[nodiscard]] const TimeColumn& time_column() const { return cells_.time_column(); }

  [[nodiscard]] long first_line() const {
    return first_line_;
  }                                                  ///< of the last call, over all files
  [[nodiscard]] long line() const { return line_; }  ///< lines read so far of this file
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  // A file that was begun.
  struct File {
    std::string name;
    long lines_before = 0;
    std::vector<HeaderColumn> columns;
  };

  // What a header is checked against.
  struct Expected {
    Timing timing = Timing::before;
    Rows rows = Rows::action_first;
    bool needs_action = true;
    ColumnNames names;
  };

  [[nodiscard]] const File& file_at(long line) const;
  bool open_next();
  void check_columns() const;
  void read_header();
  bool read_header_line();
  void parse_lines(LogBlock& block, std::size_t max_rows);

  Expected expected_;
  std::string name_;
  std::vector<File> files_;    // the one being read is the last
  std::optional<OneLog> log_;  // whose files go on
  Dialect dialect_;
  LineBuffer lines_;
  RowCells cells_;
  RowsAhead ahead_;
  long line_ = 0;  // number of the line that was read last
  long first_line_ = 0;
  bool more_follow_ = false;  // rows, behind those that it reads
  long blank_line_ = 0;  // the first of the blank lines just above, which may end the file; or 0
};

}  // namespace oas::detail
