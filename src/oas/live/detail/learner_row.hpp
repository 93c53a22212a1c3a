#pragma once

#include <cstdint>

#include "oas/journal/journal_record.hpp"
#include "oas/live/detail/live_model.hpp"

namespace oas::detail {

/// What a record of the journal tells a learner.
struct LearnerRow {
  enum class Kind : std::uint8_t { row, first_reading, run_ends, all_forgotten };
  std::uint64_t run = 0;
  double propensity = 1.0;  ///< 0: not known
  SeenRow seen;
  Kind kind = Kind::row;
};

/// Of a record that has a row, ends a run or forgets all; `seen`: what the model makes of the row.
[[nodiscard]] LearnerRow learner_row(const JournalRecord& record, SeenRow seen);

/// Whether the record has a row, be it a first reading.
[[nodiscard]] inline bool has_row(const JournalRecord& record) {
  return record.kind == JournalKind::observe || record.kind == JournalKind::step;
}

}  // namespace oas::detail
