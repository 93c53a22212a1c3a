#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "oas/logs/detail/classed_rows.hpp"
#include "oas/logs/detail/row_parser.hpp"
#include "oas/logs/detail/time_steps.hpp"
#include "oas/logs/detail/time_window.hpp"
#include "oas/logs/detail/unit_rows.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// In place of a state: the cell is empty; or there is no row that could have told.
inline constexpr State kEmptyState{-1};
inline constexpr State kNobodyLooked{-2};

/// What known states do to rows: the likelihoods of the state that emitted a row's observation are
/// set to 0 in all other states. So are, where the cell is empty, those of states that are never
/// missed.
class KnownStates {
 public:
  /// `finite`: likelihoods are the sensors' of `model`; else rows bring them. `noticed` as
  /// LogOptions has it; throws InvalidArgument on a state that the model has not.
  KnownStates(const Pomdp& model, bool finite, const std::string& noticed);

  [[nodiscard]] Timing timing() const { return timing_; }
  /// Whether a run of the model can start in a state.
  [[nodiscard]] bool can_start(State state) const;
  /// Completes the last row of a block, whose observation came from `state`, or from an unknown
  /// one. False when it could not have come from there.
  [[nodiscard]] bool complete(State state, LogBlock& block) const;
  /// What an empty cell says, on likelihoods [S]; on an empty vector it stands for all 1.
  void rule_out_noticed(std::vector<double>& likelihoods) const;
  /// Why a row cannot be: its state, or the lack of one, in words.
  [[nodiscard]] std::string contradiction(State state, const Labels& states,
                                          const std::string& with) const;

 private:
  [[nodiscard]] bool is_ruled_out(State state, std::size_t other) const;

  Timing timing_;
  std::vector<double> start_;
  std::vector<char> noticed_;  // [S]; empty: none is
  std::string noticed_text_;
  std::optional<ObservationModel> sensors_;
};

/// All rows of a log that does not stand as estimators take it, sorted and completed: units one
/// after the other, rows put into gaps or runs cut there, actions those of the classes of steps,
/// known states made evidence.
class SortedRows {
 public:
  /// Keeps a reference to the parser. `finite`: observations are.
  SortedRows(RowParser& parser, const Pomdp& model, bool finite, const LogOptions& options);

  /// Takes rows that the parser has given, the last ones, then all that follow. Throws ParseError.
  void collect(const LogBlock& first);

  /// As LogReader::read_block, after collect().
  bool read(LogBlock& block, std::size_t max_rows);
  /// The line of a row of the last block; of a row that was put in, that of the row behind it.
  [[nodiscard]] long line_of(std::size_t row) const { return lines_[row]; }

 private:
  void take(const LogBlock& block);
  void take_row(const LogBlock& block, std::size_t row);
  [[nodiscard]] bool in_window(double time);
  bool next_unit();
  bool load();
  [[nodiscard]] std::int64_t steps_before() const;
  void start_run(LogBlock& block, bool ran_before);
  void add_row(LogBlock& block);
  void add_gap_row(LogBlock& block);
  void complete(LogBlock& block);
  [[nodiscard]] std::optional<std::size_t> step_class();
  [[nodiscard]] State state_behind();
  [[noreturn]] void fail(LogColumn column, long line, const std::string& message) const;

  RowParser& parser_;
  const Labels states_;
  Gaps gaps_;
  long first_step_line_ = 0;  // of the second row of a unit, where there are times
  Action gap_action_{0};
  State gap_state_ = kEmptyState;
  TimeSteps steps_;
  TimeWindow window_;
  bool any_ = false;                               // rows in it
  std::unordered_set<std::size_t> ran_before_;     // units that had rows before the window
  std::unordered_map<std::size_t, double> ended_;  // units: their first time behind the window
  std::optional<ClassedRows> classed_;
  std::optional<KnownStates> known_;
  UnitRows units_;
  std::size_t unit_of_last_ = 0;

  // Where reading stands: before row `index_` of `piece_`, of unit `unit_` - 1.
  std::size_t unit_ = 0;
  UnitPiece piece_;
  std::size_t index_ = 0;
  bool first_of_unit_ = true;
  bool gap_seen_ = false;      // rows before this one were put in already
  std::int64_t gap_left_ = 0;  // rows still to be put in
  bool filled_in_ = false;     // the last row of the block was
  double last_time_ = 0.0;     // of the row before
  Action last_action_{0};
  std::int64_t step_ = 0;  // of the unit
  std::vector<long> lines_;
};

}  // namespace oas::detail
