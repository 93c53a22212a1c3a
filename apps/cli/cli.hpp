#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/parallel.hpp"
#include "oas/core/words.hpp"
#include "oas/formats/model_text.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"
#include "team_command.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// What the verbs of `oas` share. A verb is one file: it declares its options, calls the library,
/// prints, and throws on trouble; main() turns exceptions into exit codes.
namespace oas::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadInput = 2;

/// Options that every verb understands, and those that name files.
struct Common {
  bool json = false;
  bool quiet = false;
  int threads = 0;
  bool lenient = false;
  CLI::App* verb = nullptr;
  std::vector<CLI::Option*> inputs;
  std::vector<CLI::Option*> outputs;
  bool folder_outputs = false;  ///< outputs may be folders, which the verb checks itself
  std::vector<std::vector<std::string>*> logs;  ///< inputs too: files, folders and patterns
  /// What only_when() declared.
  struct Condition {
    std::vector<std::string> options;
    std::function<bool()> holds;
    std::string why_not;
  };
  std::vector<Condition> conditions;

  [[nodiscard]] Parallelism parallelism() const { return {threads, current_team()}; }
  /// Where the verb prints: standard error when standard output is one of the outputs.
  [[nodiscard]] std::FILE* printed() const;
};

/// Declares one verb with the common options; `run` is called after parsing, when its files have
/// been checked (check_files).
CLI::App* add_verb(CLI::App& app, const char* name, const char* summary, Common& common,
                   std::function<void()> run);

/// Declares that the verb looks at these options only where `holds`, once all options are known;
/// where it does not, one that was given is refused before any work: "--steps: why not".
/// `holds` is kept by the options and must not keep them: it gets a plain pointer to them.
void only_when(Common& common, std::vector<std::string> options, std::function<bool()> holds,
               std::string why_not);

/// Throws InvalidArgument "--steps: why" when one of these options was given: for what shows only
/// when files have been read.
void refuse_options(const Common& common, const std::vector<std::string>& options,
                    const std::string& why);

/// Declares --lenient.
void add_lenient_flag(CLI::App& verb, Common& common);
/// Declares --no-cache.
void add_cache_flag(CLI::App& verb, bool& no_cache);
/// Declares a required argument that load_model() will read, and --lenient with it.
void add_model_argument(CLI::App& verb, const char* name, std::string& model, const char* summary,
                        Common& common);

/// A model file of any format, or the name of a ready-made problem when there is no such file.
/// What the reader has to say about the file goes to standard error.
[[nodiscard]] Pomdp load_model(const std::string& name, const Common& common);
[[nodiscard]] Pomdp load_model(const std::string& name);
/// The same with all that the reader knows; its warnings are printed already.
[[nodiscard]] ReadModel load_read_model(const std::string& name, const Common& common);
/// Whether that is a model by its name alone: a .pomdp or .pomdpx file, or a ready-made problem.
[[nodiscard]] bool names_model(const std::string& name);

/// The same for verbs that also take models with real-valued observations, or with none.
[[nodiscard]] AnyModel load_any_model(const std::string& name, const Common& common);

/// For verbs that judge by rewards. A .json file without any is refused; in the formats of
/// others rewards that are not given are 0, which deserves a warning.
void check_reward(const std::string& name, const Pomdp& model, const Common& common);

/// Whether a model that is written there is JSON: by the ending, always for pipes and devices.
/// Throws InvalidArgument that lists the known endings.
[[nodiscard]] bool is_json_output(const std::string& path);

/// Writes a model in the format that the ending says (.json, .pomdp, .pomdpx); what the format
/// could not carry over goes to standard error. A model of timing `before` is written to .pomdp and
/// .pomdpx where it is the same on its states in timing `after`; otherwise this throws, naming
/// `name` in the advice.
void write_model_file(const std::string& path, const Pomdp& model, const std::string& name,
                      const Common& common);

/// Calls `work`; wrong input that it finds is reported as being about `file`.
template <class Work>
decltype(auto) about_file(const std::string& file, Work work) {
  try {
    return work();
  } catch (const ParseError&) {
    throw;
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(file + ": " + error.what());
  }
}

/// Prints unless `quiet` or `json` is set; a full pipe or disk is an IoError.
void print(const Common& common, const std::string& text);
/// To standard error, with control characters escaped. Cannot fail: there is nobody left to tell.
void say(std::string_view text) noexcept;
void print_json(const Common& common, const nlohmann::ordered_json& document);

/// Prints "warning: …" to standard error unless `quiet` is set.
void warn(const Common& common, const std::string& text);

/// A text table with left-aligned first column and right-aligned others.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void add(std::vector<std::string> row);
  [[nodiscard]] std::string text(const std::string& indent = "  ") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// A progress bar on standard error, shown only on a terminal (under mpirun: by rank 0 on the one
/// that mpirun has), only when not quiet, and only for work that takes longer than a second. It is
/// drawn several times a second by a thread of its own, however long the work says nothing. Nothing
/// else may be printed while it lives.
class Progress {
 public:
  /// `total` 0: unknown, shows the count only.
  Progress(const Common& common, std::string what, std::int64_t total);
  /// Work that does not count: shows the time that it takes.
  Progress(const Common& common, std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void add(std::int64_t done);
  /// What to show beside the bar from now on.
  void note(std::string text);

 private:
  struct Line;
  std::unique_ptr<Line> line_;  // none: not shown
};

/// Calls `work` under such a sign of life.
template <class Work>
decltype(auto) while_shown(const Common& common, std::string what, Work work) {
  const Progress progress(common, std::move(what));
  return work();
}

/// 1234567 → "1,234,567"; 1e12 and beyond → "1.2e+12".
[[nodiscard]] std::string big_number(double value);
/// "1 run", "2,000 runs".
template <class Count>
[[nodiscard]] std::string counted(Count count, const std::string& noun) {
  return big_number(static_cast<double>(count)) + " " + plural(count, noun);
}

void add_list(CLI::App& app);
void add_problem(CLI::App& app);
void add_check(CLI::App& app);
void add_simulate(CLI::App& app);
void add_calibrate(CLI::App& app);
void add_diagnose(CLI::App& app);
void add_estimate(CLI::App& app);
void add_compare(CLI::App& app);
void add_convert(CLI::App& app);
void add_discretise(CLI::App& app);
void add_filter(CLI::App& app);
void add_forecast(CLI::App& app);
void add_report(CLI::App& app);
void add_score(CLI::App& app);
void add_plan(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_study(CLI::App& app);
void add_learn(CLI::App& app);
void add_agent(CLI::App& app);

}  // namespace oas::cli
