#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oas/logs/detail/row_evidence.hpp"
#include "oas/logs/detail/row_parser.hpp"
#include "oas/logs/detail/sorted_rows.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// The one place that knows how reading-first rows are written: makes rows of timing `after` of
/// them. Row t of the file, the reading o_t and the action a_t that was chosen knowing it, and row
/// t+1 make the row (a_t, o_{t+1}), with propensity, reward and state of row t; the first reading
/// of a run goes to its RunStart. The last row's action is a row without observation (LogRows::all)
/// or is dropped with runs of one row (LogRows::complete).
class ReadingFirst {
 public:
  /// Rows as they stand in the file, of units one after the other; false at the end.
  using NextBlock = std::function<bool(LogBlock& block)>;
  using LineOf = std::function<long(std::size_t row)>;

  /// Keeps a reference to the parser, for messages and for what readings say.
  ReadingFirst(const RowParser& parser, const Pomdp& model, const LogOptions& options);

  /// As LogReader::read_block. Throws ParseError where a row that is not the last of its run has no
  /// action, where an action has no propensity although the log has that column, and where a
  /// reading cannot be, by line and column. A reward may be unknown.
  bool read(LogBlock& block, std::size_t max_rows, bool all, const NextBlock& next,
            const LineOf& line_of);
  /// The same faults of actions, of rows that are to stay as they stand in the file.
  void check(const LogBlock& rows, const LineOf& line_of);
  /// The line in which the reading of a row of the last block stands.
  [[nodiscard]] long line_of(std::size_t row) const { return lines_[row]; }

 private:
  // What of a row of the file belongs to its action.
  struct Chosen {
    Action action{-1};
    double propensity = 1.0;
    double reward = 0.0;
    State state{-1};
    double time = 0.0;
    long line = 0;
  };

  [[nodiscard]] static bool starts_run(const LogBlock& rows, std::size_t row, std::size_t run) {
    return run < rows.run_starts.size() && rows.run_starts[run] == row;
  }
  void begin_run(LogBlock& block);
  void push_start(LogBlock& block);
  [[nodiscard]] RunStart first_of_run();
  void check_known_first(State state, const RunStart& start, const FirstReading& first) const;
  void add_row(LogBlock& block);
  void add_likelihoods(LogBlock& block);
  void add_last_action(LogBlock& block);
  void require_action() const;
  void remember(const LogBlock& rows, std::size_t row);
  void push_chosen(LogBlock& block) const;
  [[nodiscard]] std::span<const double> reading() const;
  [[nodiscard]] bool judge_first(std::span<double> reading, std::span<double> out) const;
  [[nodiscard]] State state_here() const;
  [[noreturn]] void fail(LogColumn column, long line, const std::string& message) const;

  const RowParser& parser_;
  Labels states_;
  Labels observations_;
  std::optional<ObservationModel> first_sensor_;  // of finite observations
  const RowEvidence* evidence_;                   // of real-valued ones; null: there are none
  std::optional<KnownStates> known_;

  LogBlock raw_;           // rows of the file
  std::size_t index_ = 0;  // the next of these
  std::size_t run_ = 0;    // the next of its run starts
  long line_ = 0;          // of the row being looked at
  bool in_run_ = false;
  Chosen chosen_;  // of the row before, where in_run_
  // The start of this run, until a row of it comes.
  struct Pending {
    RunStart start;
    std::string name;
    std::int64_t first_step = 0;
  };
  std::optional<Pending> pending_;
  bool has_names_ = false;
  bool has_times_ = false;
  bool all_ = false;
  std::vector<long> lines_;
};

}  // namespace oas::detail
