#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oas/study/task_settings.hpp"

/// A study: a question, the tasks that answer it, and the figures that show the answer, all read
/// from one TOML file (docs/reference/studies.md). Tasks are the cross products of the lists in its
/// sweeps; each is run `replications` times.
namespace oas {

/// One task: what to do (a kind, see kinds.hpp) and with which settings.
struct Task {
  std::string name;  ///< "sweep/setting=value/…" with the settings that vary; unique in the study
  std::string sweep;  ///< the sweep it comes from
  std::string kind;
  TaskSettings settings;
  TaskSettings agent;      ///< of the agent's table in the file, where the kind has agents
  std::uint64_t seed = 0;  ///< the study's: all tasks draw their instances and luck from it
};

/// One unit of work: a task and which of its replications.
struct Unit {
  std::int64_t number = 0;  ///< task · replications + replication
  std::size_t task = 0;     ///< index into Study::tasks
  std::uint32_t replication = 0;
};

/// What one figure shows, and the table under it. Columns are those of the kind (kinds.hpp).
struct FigureSpec {
  std::string name;
  std::string title;
  std::string caption;  ///< with {setting} in it, see caption.hpp
  std::string kind;
  std::string sweep;  ///< empty: all
  std::string x;
  std::string y;
  std::string series;                                     ///< one curve per value of this column
  std::string panel;                                      ///< one panel per value; empty: one panel
  std::map<std::string, std::vector<std::string>> where;  ///< rows whose columns read one of these
  bool last = false;                                      ///< only the last row of each unit
  bool log_x = true;
  bool log_y = true;
  std::string panel_label;  ///< what stands before the panel's value
  std::string x_label;
  std::string y_label;
  std::optional<double> predicted;    ///< exponent to compare the fitted one with
  std::optional<double> fit_decades;  ///< fit to the last so many powers of ten of x only
  bool bootstrap = false;             ///< bootstrap-t intervals instead of Student's
  std::string paired;                 ///< series that the others are compared with run by run
  std::map<std::string, std::string> labels;  ///< what legends and tables call a series

  /// The label of a series, or its own name where it has none.
  [[nodiscard]] const std::string& words_for(const std::string& series_name) const {
    const auto found = labels.find(series_name);
    return found == labels.end() ? series_name : found->second;
  }
};

/// A whole study file.
struct Study {
  std::string name;
  std::string title;
  std::string question;
  std::string claim;        ///< what the paper says
  std::string expectation;  ///< what is expected, and not by the paper
  std::string answer;       ///< one sentence with {figure.statistic} in it, see summary.hpp
  std::uint64_t seed = 1;
  std::int64_t replications = 10;
  std::vector<Task> tasks;
  std::vector<FigureSpec> figures;
  bool quick = false;
  std::string file;    ///< where it was read from
  std::string source;  ///< the file's text

  /// Everything that results depend on, one fact per line. Prose and figures do not enter.
  [[nodiscard]] std::string canonical() const;
  /// 16 hexadecimal digits of canonical().
  [[nodiscard]] std::string hash() const;
  [[nodiscard]] std::int64_t num_units() const {
    return static_cast<std::int64_t>(tasks.size()) * replications;
  }
  [[nodiscard]] Unit unit(std::int64_t number) const;
};

/// Reads a study. `quick`: with the overrides of its [quick] table. Throws ParseError with file,
/// line and column on bad TOML, on an unknown key, setting, kind or column, on a wrong type or a
/// value that the kind refuses, and on more than 10,000 tasks or 100,000 units.
[[nodiscard]] Study parse_study(std::string_view text, const std::string& file, bool quick = false);

/// The same from a file. Throws InvalidArgument when it cannot be read.
[[nodiscard]] Study read_study(const std::string& path, bool quick = false);

}  // namespace oas
