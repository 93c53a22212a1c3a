#pragma once

#include "oas/estimation/diagnosis/diagnosed_rows.hpp"

namespace oas {

/// The three ways in which the action and the reading of one row of a file can belong together: the
/// reading is of the state in which the action was taken (`before`) or of that which it led to
/// (`after`), or it was read first and the action chosen knowing it (`reading_first`).
enum class RowOrder { before, after, reading_first };

/// As people write it: "reading-first".
[[nodiscard]] const char* to_string(RowOrder order);
[[nodiscard]] RowOrder order_of(const Pomdp& chain);

/// Whether likelihood cannot tell `before` from `reading_first`, because readings do not depend on
/// the action; of a log that brings likelihoods nothing else can be said.
[[nodiscard]] bool sensors_ignore_actions(const AnyModel& model);
/// Whether it is known how the first reading of a run comes about if rows are reading-first.
[[nodiscard]] bool knows_first_readings(const AnyModel& model);

/// A log and the model that it is read with, without dynamics and rewards.
struct OrderedRows {
  AnyModel model;
  DiagnosedRows rows;
};

/// The rows of the same files, taken to be of another order; they must know of no states. Rows that
/// the order has no use for are left out: the last reading of a run whose rows were reading-first;
/// the last action of one whose rows become that, and then runs of a single row. First readings are
/// missing where it is not known how they come about.
[[nodiscard]] OrderedRows rows_in_order(const AnyModel& model, const DiagnosedRows& rows,
                                        RowOrder order);

/// Without runs of a single row, which hold no reading that all orders could predict.
[[nodiscard]] DiagnosedRows without_short_runs(const DiagnosedRows& rows);

}  // namespace oas
