#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "oas/core/index.hpp"
#include "oas/model/timing.hpp"

namespace oas {

/// What became of the rows of labelled runs.
struct LabelledTally {
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  /// Rows without observation, without the state that emitted it, or `known_first`.
  std::int64_t unused = 0;
  std::int64_t missing = 0;      ///< of these, rows without observation
  std::int64_t known_first = 0;  ///< of these, first readings whose sensor the model states

  void add(const LabelledTally& other);
};

/// The action before the first reading of a run.
inline constexpr Action kNoAction{-1};

/// Why rows could not be used, for people.
[[nodiscard]] std::string unused_rows_text(const LabelledTally& tally, Timing timing, Rows rows);

/// Walks along labelled runs and finds the state that emitted each observation: in `before` timing
/// that of the row, in `after` that of the next row of the run, so that the last row of a run tells
/// nothing. Rows that are reading-first are taken as they stand in the file (LogRows::as_written):
/// the state of a row emitted its reading, under the action of the row before. Seen is what was
/// observed.
template <class Seen>
class LabelledRows {
 public:
  LabelledRows(Timing timing, Rows rows)
      : emits_here_(timing == Timing::before || rows == Rows::reading_first),
        reading_first_(rows == Rows::reading_first) {}

  void start_run() {
    end_run();
    action_ = kNoAction;
    ++tally_.runs;
  }
  /// The next row; its state is -1 where it is unknown. Calls use(action, state, seen) for each
  /// observation whose state has become known; the action is kNoAction for the first reading of a
  /// run that is reading-first.
  template <class Use>
  void add(Action action, State state, std::optional<Seen> seen, const Use& use) {
    ++tally_.rows;
    const Action before = std::exchange(action_, action);
    if (waiting_) emit(before, state, std::move(*waiting_), use);
    waiting_.reset();
    if (!seen) {
      ++tally_.unused;
      ++tally_.missing;
    } else if (emits_here_) {
      emit(reading_first_ ? before : action, state, std::move(*seen), use);
    } else {
      waiting_ = std::move(seen);
    }
  }
  /// After the last row.
  [[nodiscard]] const LabelledTally& finish() {
    end_run();
    return tally_;
  }

 private:
  void end_run() {
    tally_.unused += waiting_.has_value();
    waiting_.reset();
  }
  template <class Use>
  void emit(Action action, State state, Seen seen, const Use& use) {
    if (state < 0) {
      ++tally_.unused;
    } else {
      use(action, state, std::move(seen));
    }
  }

  bool emits_here_;  // the state of a row emits its observation
  bool reading_first_;
  LabelledTally tally_;
  std::optional<Seen> waiting_;  // of a row whose emitting state is the next row's
  Action action_ = kNoAction;    // of the row before
};

}  // namespace oas
