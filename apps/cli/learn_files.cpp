#include <fmt/format.h>

#include <filesystem>

#include "command_files.hpp"
#include "learn_output.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"

namespace oas::cli {

namespace {

void write_run(const std::string& stem, const LearningRun& run, const Pomdp& model,
               const RegretOracle& oracle) {
  write_text_file(stem + ".csv", run_csv_header() + run_csv_rows(run, oracle));
  write_text_file(stem + ".json", dump_json(run_to_json(run, model, oracle)));
}

// FILE.csv gets one run and FILE.json its record; a folder gets one such pair per run.
std::string stem_of(const LearnArguments& options, const LearningOptions& run) {
  if (options.output.ends_with(".csv")) return options.output.substr(0, options.output.size() - 4);
  const std::string name = fmt::format("{}-{}", run.agent, run.replication);
  return (std::filesystem::path(options.output) / name).string();
}

}  // namespace

std::string write_runs(const LearnArguments& options, const std::vector<LearningRun>& runs,
                       const Pomdp& model, const RegretOracle& oracle) {
  for (const LearningRun& run : runs) {
    write_run(stem_of(options, run.options), run, model, oracle);
  }
  if (options.output.ends_with(".csv")) {
    return fmt::format("{}, {}.json: written\n", options.output,
                       stem_of(options, runs.front().options));
  }
  return fmt::format("{}: {} written\n", options.output, counted(runs.size(), "run"));
}

namespace {

void check_output_name(const LearnArguments& options) {
  OAS_REQUIRE(!is_standard_output(options.output),
              "-o {}: a run is two files, which standard output cannot hold", options.output);
  if (options.output.ends_with(".csv")) {
    OAS_REQUIRE(options.agents.size() == 1 && options.runs == 1,
                "-o {}: a file holds one run, and there are {}; give a folder", options.output,
                options.agents.size() * static_cast<std::size_t>(options.runs));
    return;
  }
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  OAS_REQUIRE(!error && std::filesystem::is_directory(options.output),
              "-o {}: neither a .csv file nor a folder that can be created ({})", options.output,
              error.message());
}

}  // namespace

void check_output(const LearnArguments& options, const std::vector<LearningOptions>& tasks) {
  if (options.output.empty() || only_helps()) return;
  check_output_name(options);
  std::vector<std::string> files;
  for (const LearningOptions& task : tasks) {
    files.push_back(stem_of(options, task) + ".csv");
    files.push_back(stem_of(options, task) + ".json");
  }
  check_files({options.model}, files);
}

}  // namespace oas::cli
