#include "cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/logs/log_shards.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

std::vector<std::string> names_in(const std::vector<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) {
    names.insert(names.end(), option->results().begin(), option->results().end());
  }
  return names;
}

void check_conditions(const Common& common) {
  for (const auto& [options, holds, why_not] : common.conditions) {
    const bool given = std::any_of(options.begin(), options.end(), [&](const std::string& option) {
      return common.verb->count(option) > 0;
    });
    if (given && !holds()) refuse_options(common, options, why_not);
  }
}

}  // namespace

std::FILE* Common::printed() const {
  const std::vector<std::string> names = names_in(outputs);
  return std::any_of(names.begin(), names.end(), is_standard_output) ? stderr : stdout;
}

CLI::App* add_verb(CLI::App& app, const char* name, const char* summary, Common& common,
                   std::function<void()> run) {
  CLI::App* verb = app.add_subcommand(name, summary);
  common.verb = verb;
  verb->add_flag("--json", common.json, "Print a JSON document instead of text");
  verb->add_flag("-q,--quiet", common.quiet, "Print only errors and requested results");
  add_whole_number(*verb, "--threads", common.threads, {0, 1024},
                   "Number of threads; 0: all cores. It never changes the results")
      ->capture_default_str();
  verb->callback([&common, run = std::move(run)] {
    std::vector<std::string> inputs = names_in(common.inputs);
    for (std::vector<std::string>* const logs : common.logs) {
      *logs = log_files(*logs);
      inputs.insert(inputs.end(), logs->begin(), logs->end());
    }
    std::vector<std::string> outputs = names_in(common.outputs);
    if (common.folder_outputs) std::erase_if(outputs, names_folder);
    if (only_helps()) outputs.clear();
    check_conditions(common);
    check_files(inputs, outputs);
    run();
  });
  return verb;
}

void only_when(Common& common, std::vector<std::string> options, std::function<bool()> holds,
               std::string why_not) {
  common.conditions.push_back({std::move(options), std::move(holds), std::move(why_not)});
}

void refuse_options(const Common& common, const std::vector<std::string>& options,
                    const std::string& why) {
  for (const std::string& option : options) {
    OAS_REQUIRE(common.verb->count(option) == 0, "{}: {}", option, why);
  }
}

void add_lenient_flag(CLI::App& verb, Common& common) {
  verb.add_flag("--lenient", common.lenient,
                "Accept common dialects of .pomdp and .pomdpx files, each with a "
                "warning");
}

void add_cache_flag(CLI::App& verb, bool& no_cache) {
  verb.add_flag("--no-cache", no_cache,
                "Compute the best policies again instead of reusing those of earlier "
                "calls ($OAS_CACHE)");
}

void add_model_argument(CLI::App& verb, const char* name, std::string& model, const char* summary,
                        Common& common) {
  add_input(verb, name, model, summary, common)->required();
  add_lenient_flag(verb, common);
}

}  // namespace oas::cli
