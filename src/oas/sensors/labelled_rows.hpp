#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "oas/core/index.hpp"
#include "oas/model/timing.hpp"

namespace oas {

/// What became of the rows of labelled runs.
struct LabelledTally {
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  std::int64_t unused = 0;   ///< rows without observation, or without the state that emitted it
  std::int64_t missing = 0;  ///< of these, rows without observation
};

/// Walks along labelled runs and finds the state that emitted each observation: in `before` timing
/// that of the row, in `after` that of the next row of the run, so that the last row of a run tells
/// nothing. Seen is what was observed.
template <class Seen>
class LabelledRows {
 public:
  explicit LabelledRows(Timing timing) : timing_(timing) {}

  void start_run() {
    end_run();
    ++tally_.runs;
  }
  /// The next row; its state is -1 where it is unknown. Calls use(action, state, seen) for each
  /// observation whose state has become known.
  template <class Use>
  void add(Action action, State state, std::optional<Seen> seen, const Use& use) {
    ++tally_.rows;
    if (waiting_) emit(action_, state, std::move(*waiting_), use);
    waiting_.reset();
    if (!seen) {
      ++tally_.unused;
      ++tally_.missing;
    } else if (timing_ == Timing::before) {
      emit(action, state, std::move(*seen), use);
    } else {
      waiting_ = std::move(seen);
      action_ = action;
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

  Timing timing_;
  LabelledTally tally_;
  std::optional<Seen> waiting_;  // `after`: of a row whose emitting state is the next row's
  Action action_;
};

}  // namespace oas
