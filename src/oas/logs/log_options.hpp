#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oas/core/settings.hpp"
#include "oas/model/labels.hpp"

namespace oas {

/// Where the parts of a row stand in a file, as somebody writes it:
/// "action=cmd,observation=vib+temp,run=pump,time=ts". A part that is not named stands in the
/// column of its own name, if there is one; "state=" says that there is none.
class ColumnNames {
 public:
  ColumnNames() = default;
  /// Throws InvalidArgument naming the part on an unknown one, on one that is named twice, and on
  /// several columns for a part that has one.
  explicit ColumnNames(std::string_view text);

  /// Nothing is named: all columns of a file must be known.
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  /// The columns of a part that is named; null: it is not.
  [[nodiscard]] const std::vector<std::string>* find(std::string_view part) const;

 private:
  struct Part {
    std::string name;
    std::vector<std::string> columns;
  };
  std::vector<Part> parts_;
};

/// What to make of steps without a row: an error; rows with this action, or the one of the row
/// before, and no observation; or another run, which starts in an unknown state.
struct Gaps {
  enum class Kind { error, action, repeat, new_run };

  Gaps() = default;
  /// "error", "action=NAME", "repeat" or "new-run". Throws InvalidArgument on anything else.
  explicit Gaps(std::string_view text);

  [[nodiscard]] bool inserts_rows() const { return kind == Kind::action || kind == Kind::repeat; }

  Kind kind = Kind::error;
  std::string action;  ///< name or index, with Kind::action
};

/// [state]: whether it is never missed, as "failed+burst" says; empty where the text is. Throws
/// InvalidArgument on a state that there is not.
[[nodiscard]] std::vector<char> noticed_states(std::string_view text, const Labels& states);

/// What to make of readings that the densities rule out (density 0, or infinite, in every state) or
/// make very unlikely: an error; missing, as far as they are impossible; or a mixture in which a
/// sensor says anything with this share (ReadingLikelihood), where impossible ones are missing,
/// too.
struct Outliers {
  enum class Kind { error, missing, share };

  Outliers() = default;
  /// "error", "missing" or a number in (0, 0.5]. Throws InvalidArgument on anything else.
  explicit Outliers(std::string_view text);

  Kind kind = Kind::error;
  double share = 0.0;  ///< with Kind::share
};

/// A length of time: seconds where it was written with a unit, "90s", "15m", "15min", "1h", "30d";
/// else a number in the unit of numeric times.
struct Duration {
  double value = 0.0;
  bool has_unit = false;
};
/// Throws InvalidArgument on what is no positive number with such a unit or none.
[[nodiscard]] Duration parse_duration(std::string_view text);
/// "1 h", "36 h", "1.5 d": seconds for people.
[[nodiscard]] std::string shown_seconds(double seconds);
/// "6.26 d": to three digits.
[[nodiscard]] std::string about_seconds(double seconds);

/// How the rows of a log stand in its file; every verb that reads logs takes these.
struct LogOptions {
  std::string columns = {};       ///< see ColumnNames; empty: the names of the format
  std::string separator = {};     ///< between cells: a sign or "tab"; empty: a comma
  std::string missing = {};       ///< "NA,-": cells with such a text are empty
  bool decimal_comma = false;     ///< numbers are written 1,5
  std::string step = {};          ///< a Duration; empty: the one difference of all times
  std::string step_classes = {};  ///< see detail::StepClasses; empty: steps are equal
  std::string gaps = {};          ///< see Gaps; empty: error
  bool sparse = false;            ///< rows may lie many steps apart throughout
  std::string from = {};          ///< a time: rows before it are left out
  std::string until = {};         ///< a time: so are rows at it and later
  std::string rows = {};          ///< action-first or reading-first; empty: as the model says
  std::string outliers = {};      ///< see Outliers; empty: error
  bool known_states = false;      ///< column `state` is evidence; see LogReader
  std::string noticed = {};       ///< states that are never left out there: "failed+burst"
  bool interleaved = false;       ///< sort units apart from the first row on

  template <class Fields>
  void visit(Fields& fields) {
    fields.text("columns", columns,
                "which column holds which part of a row: "
                "action=cmd,observation=vib+temp,run=pump,time=ts; other columns are "
                "ignored");
    fields.text("separator", separator, "separator of the cells: ';' or tab (default: a comma)");
    fields.text("missing", missing, "texts that mean an empty cell, separated by commas: NA,NULL");
    fields("decimal_comma", decimal_comma, "numbers have a decimal comma: 1,5");
    fields.text("step", step,
                "length of a step, if the log has times: 90s, 15m, 1h, 1d, or a number "
                "if times are numbers (default: the distance between rows, if it is "
                "always the same)");
    fields.text("step_classes", step_classes,
                "steps of several lengths, each with its own actions: "
                "day=20h..28h,week=7d turns wait into wait@day or wait@week, depending "
                "on the time of the next row");
    fields.text("gaps", gaps,
                "what to do about steps without a row: error (refuse them; the "
                "default), action=NAME or repeat (fill them with rows without "
                "observation), new-run (start another run after them, in an unknown "
                "state)");
    fields("sparse", sparse,
           "accept a log whose rows are all twenty or more steps apart, which "
           "usually means that --step is wrong");
    fields.text("from", from,
                "leave out rows before this time: 2026-03-01, 2026-03-01T10:00 or a "
                "number; units that ran before it start in an unknown state");
    fields.text("until", until, "leave out rows at or after this time");
    fields.choice("rows", rows, {"", "action-first", "reading-first"},
                  "order within a row: an action, then what was seen (action-first), or a "
                  "reading, then the action chosen because of it (reading-first); "
                  "default: as the model says");
    fields.text("outliers", outliers,
                "what to do about real-valued readings that no state can give: error "
                "(the default), missing (treat them as missing), or a number such as "
                "0.01 (the share of all readings that mean nothing)");
    fields("interleaved", interleaved,
           "the rows of several units are mixed, even if only far down in the file");
  }
  /// What estimators of moments, calibration and cells do not look at.
  template <class Fields>
  void visit_known_states(Fields& fields) {
    fields("known_states", known_states,
           "use the column state as evidence; it is empty where the state is "
           "unknown");
    fields.text("noticed", noticed,
                "with --known-states: states that are always recorded, such as "
                "failed+burst, so that a row without a state was in none of them");
  }

  /// Throws InvalidArgument naming the option and its value.
  void validate() const;
};

}  // namespace oas
