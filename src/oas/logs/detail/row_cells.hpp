#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oas/logs/detail/cells.hpp"
#include "oas/logs/detail/log_header.hpp"
#include "oas/logs/detail/row_evidence.hpp"
#include "oas/logs/detail/step_classes.hpp"
#include "oas/logs/detail/time_cell.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas::detail {

/// Makes rows of the lines of a log, one by one. What it knows from the lines before (names or
/// indices, the last run) decides what the next line may hold. Several copies can read different
/// lines of a file at the same time; see copy_for_later_lines().
class RowCells {
 public:
  /// `evidence` empty: observations are finite. Keeps no reference to the model.
  RowCells(const Pomdp& model, std::optional<RowEvidence> evidence, const LogOptions& options);

  /// What the header may name beside the columns of finite logs; null: nothing.
  [[nodiscard]] std::optional<ContinuousColumns> continuous_columns() const;
  /// Lines of a file follow, which has these columns.
  void begin_file(const std::string& name, std::vector<HeaderColumn> columns);

  /// Appends the row that begins at `position`, a LineBuffer's, and returns where the next line
  /// begins. Throws ParseError, and RunComesBack with the rows as they were before.
  const char* read(const char* position, long line, LogBlock& block);
  /// From now on runs may come back: a run starts wherever the name changes.
  void allow_return() { runs_.allow_return(); }

  /// Reads lines of the same file further on. Its first row starts a run if there is a column for
  /// it, and it does not notice runs that come back.
  [[nodiscard]] RowCells copy_for_later_lines() const;
  /// The lines to come follow others than those it has read last.
  void skip_lines() { runs_.forget_last(); }
  /// Whether a copy still knows what this one knows. If not, it has seen the first name or index
  /// of a column, and what it read may contradict what another one did.
  [[nodiscard]] bool knows_as_much_as(const RowCells& copy) const;
  /// Whether each column of labels is known to hold names, or indices, and runs, where there are
  /// any, count up: then nothing that lines further on can say about lines before is unknown.
  [[nodiscard]] bool knows_columns() const;
  /// The lines to come follow a row of the run with that number, where runs are numbered, or are
  /// the first ones if there is none.
  void skip_rows(std::int64_t run);
  /// As if this one had read the rows that a copy has: drops the run start of the first row where
  /// the run goes on. Returns how many rows it took: all, or those before a run that comes back;
  /// the rest was removed from the block.
  std::size_t take_over(LogBlock& block);

  [[nodiscard]] const std::vector<HeaderColumn>& columns() const { return columns_; }
  [[nodiscard]] const RowEvidence* evidence() const { return evidence_ ? &*evidence_ : nullptr; }
  [[nodiscard]] const ClassActions* class_actions() const {
    return class_actions_ ? &*class_actions_ : nullptr;
  }
  [[nodiscard]] const TimeColumn& time_column() const { return time_; }
  /// How many actions a row can have.
  [[nodiscard]] int num_actions() const { return num_actions_; }
  /// About how many a row takes in memory.
  [[nodiscard]] std::size_t bytes_per_row() const;

 private:
  void read_cells(const char*& position, LogBlock& block, long& field);
  void read_cell(HeaderColumn column, const char*& position, LogBlock& block);
  void read_rare_cell(HeaderColumn column, const char*& position, LogBlock& block);
  void take_back(LogBlock& block, std::size_t size);
  [[noreturn]] void fail_field_count(const char* row) const;

  std::optional<ClassActions> class_actions_;
  int num_actions_;
  LabelColumn actions_;
  LabelColumn observations_;
  LabelColumn states_;
  NumberColumn propensities_;
  NumberColumn rewards_;
  RunColumn runs_;
  TimeColumn time_;
  std::optional<RowEvidence> evidence_;  // of a log with real numbers
  std::string name_;                     // of the file
  std::vector<HeaderColumn> columns_;
  long evidence_field_ = 0;  // the first column of that
  bool has_action_ = true;
  bool has_run_ = false;
  long line_ = 0;
  bool new_run_ = true;  // the row being read starts a run
  std::string ignored_;
};

/// The number of a column among these, from 1 on; 0: it is not there.
[[nodiscard]] long field_of(LogColumn column, const std::vector<HeaderColumn>& columns);

}  // namespace oas::detail
