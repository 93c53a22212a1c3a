#include "oas/sensors/labelled_rows.hpp"

#include <fmt/format.h>

namespace oas {

void LabelledTally::add(const LabelledTally& other) {
  rows += other.rows;
  runs += other.runs;
  unused += other.unused;
  missing += other.missing;
  known_first += other.known_first;
}

std::string unused_rows_text(const LabelledTally& tally, Timing timing, Rows rows) {
  const bool by_next_row = timing == Timing::after && rows == Rows::action_first;
  std::string text =
      fmt::format("without observation: {}; {}: {}", tally.missing,
                  by_next_row ? "last of a run, so that timing after does not show the state that "
                                "emitted, or of an unknown state"
                              : "of an unknown state",
                  tally.unused - tally.missing - tally.known_first);
  if (tally.known_first > 0) {
    text += fmt::format("; first readings, whose sensor the model states: {}", tally.known_first);
  }
  return text;
}

}  // namespace oas
