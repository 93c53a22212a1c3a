#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/core/settings.hpp"
#include "oas/study/study.hpp"

/// The benchmark of the field: a study (studies/benchmark.toml) whose instances are frozen in a
/// list beside it (studies/oas-bench-1.csv), played by whoever enters.
namespace oas {

/// Changes with any change of an instance, and then the list has another name.
inline constexpr std::string_view kBenchVersion = "oas-bench/1";
inline constexpr std::string_view kBenchList = "oas-bench-1.csv";

/// Who enters.
struct BenchAgent {
  std::string label;  ///< in tables and figures
  std::string name;   ///< of the table of agents; empty: a program
  std::vector<Setting> settings;
  std::string process;   ///< command of the program
  double timeout = 0.0;  ///< seconds for an answer of the program; 0: the default
};

/// What of the benchmark to run; what is left out is as the study has it.
struct BenchChoice {
  std::vector<BenchAgent> agents;
  std::vector<std::string> bands;  ///< names of its sweeps
  std::optional<std::int64_t> runs;
  std::optional<std::int64_t> steps;

  [[nodiscard]] bool all() const { return agents.empty() && bands.empty() && !runs && !steps; }
};

/// The text of the study with that choice at its end ([agents] and [instead]); the study itself
/// where nothing was chosen. parse_study() says what is wrong with a choice. Throws InvalidArgument
/// on two agents of one label.
[[nodiscard]] std::string bench_study_text(std::string_view study, const BenchChoice& choice);

/// One task for each instance, in the order of the study, whoever plays there.
[[nodiscard]] std::vector<Task> bench_instances(std::string_view study, const std::string& file);

/// The list: for each instance its band, the fingerprint of its model file, what is hard about it
/// and what can be earned: bounds of the best gain, the same with floor, the best memoryless gain
/// (exact for the policy found; `tried` all or some) and that of uniform actions. CSV. O(a plan to
/// within `gap` of the range of rewards, twice) an instance.
[[nodiscard]] std::string bench_list_csv(const std::vector<Task>& instances, double gap,
                                         Parallelism parallelism = {});

/// The fingerprint of the model of an instance: 16 hexadecimal digits.
[[nodiscard]] std::string bench_fingerprint(const Task& instance);

/// A list as it was written; cells are text.
struct BenchList {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;

  /// Throws InvalidArgument when there is no such column.
  [[nodiscard]] std::size_t column(std::string_view name) const;
  /// Of a cell that parse_bench_list() has found to be a number.
  [[nodiscard]] double number(std::size_t row, std::string_view name) const;
};
/// Lines may end as on Windows. Throws ParseError on a line of another length than the first, on a
/// column that is missing, and on what is no finite number where there must be one.
[[nodiscard]] BenchList parse_bench_list(std::string_view text, const std::string& file);

/// Throws InvalidArgument unless these are the instances of the list, model for model: results on
/// others are none of the benchmark.
void check_bench(const std::vector<Task>& instances, const BenchList& list,
                 const std::string& file);

}  // namespace oas
