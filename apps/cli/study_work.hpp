#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/core/child_process.hpp"
#include "oas/study/run_study.hpp"

/// Work on stored results that `oas study` and `oas bench` share.
namespace oas::cli {

struct StudyArguments {
  Common common;
  std::string study;
  std::string folder;
  std::string task;
  std::string shard;
  std::vector<std::string> parts;
  bool quick = false;
  bool open = false;
  bool no_cache = false;

  [[nodiscard]] OracleCache oracles() const {
    return no_cache ? OracleCache() : OracleCache::of_user();
  }
};

/// results/NAME, or results/NAME-quick.
[[nodiscard]] std::string default_folder(const Study& study);

/// Digits and nothing else; what is too large for a number is the largest one.
[[nodiscard]] std::optional<std::int64_t> digits_of(const std::string& text);

/// Runs what is not there yet, or those units that are named, and writes the CSV files. A signal
/// ends it within a moment.
StudyRun run_units(const StudyArguments& options, ResultStore& store,
                   std::optional<std::vector<std::int64_t>> units = std::nullopt);

/// Whoever runs units holds it: programs of agents do not outlive it. Null within another program.
[[nodiscard]] std::unique_ptr<StrayKeeper> keep_strays();

/// Throws std::runtime_error where units failed.
void complain_of_failures(const StudyRun& result);

/// Runs a study, or the shard of it, into the folder that is named or results/NAME.
void run_into_folder(const StudyArguments& options, const Study& study);

/// Puts the results of parts into one folder.
void merge_parts(const StudyArguments& options);

/// Writes the page, and shows it where that is asked for.
void report_folder(const StudyArguments& options);

/// Declare --shard; PART and -o; FOLDER and --open.
void add_shard_option(CLI::App& verb, StudyArguments& options);
void add_merge_options(CLI::App& verb, StudyArguments& options);
void add_report_options(CLI::App& verb, StudyArguments& options);

/// The verb whose study is the benchmark of the field.
void add_bench(CLI::App& app);

}  // namespace oas::cli
