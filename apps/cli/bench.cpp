#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>

#include "bench_list.hpp"
#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/study/bench.hpp"
#include "setting_options.hpp"
#include "study_work.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

struct BenchArguments {
  StudyArguments study;
  std::vector<std::string> agents;
  std::vector<std::string> processes;
  std::optional<double> timeout;
  BenchChoice choice;
  std::string files;
};

// "NAME", or "LABEL=NAME setting=value …".
BenchAgent agent_of(const std::string& text) {
  const std::size_t mark = std::min(text.find('='), text.size());
  BenchAgent agent;
  agent.label = agent.name = text.substr(0, mark);
  if (mark == text.size()) return agent;
  std::istringstream words(text.substr(mark + 1));
  agent.name.clear();
  words >> agent.name;
  OAS_REQUIRE(!agent.name.empty(), "--agent '{}': it is written NAME or 'LABEL=NAME setting=value'",
              text);
  for (std::string word; words >> word;) agent.settings.push_back(parse_setting(word));
  return agent;
}

// "LABEL=COMMAND".
BenchAgent process_of(const std::string& text, std::optional<double> timeout) {
  const std::size_t mark = text.find('=');
  OAS_REQUIRE(mark != std::string::npos && mark > 0 && mark + 1 < text.size(),
              "--agent-process '{}': it is written 'LABEL=COMMAND'", text);
  OAS_REQUIRE(!timeout || *timeout > 0.0, "--timeout is {}; it must be above 0", *timeout);
  BenchAgent agent;
  agent.label = text.substr(0, mark);
  agent.process = text.substr(mark + 1);
  agent.timeout = timeout.value_or(0.0);
  return agent;
}

void run(const BenchArguments& options) {
  BenchChoice choice = options.choice;
  for (const std::string& text : options.agents) choice.agents.push_back(agent_of(text));
  for (const std::string& text : options.processes) {
    choice.agents.push_back(process_of(text, options.timeout));
  }
  const BenchFiles files(options.files);
  static_cast<void>(files.known_list());
  run_into_folder(options.study, parse_study(bench_study_text(files.text, choice), files.study));
}

void add_files_option(CLI::App& verb, std::string& files) {
  verb.add_option(
      "--files", files,
      "Folder with benchmark.toml and oas-bench-1.csv (default: studies, here or beside "
      "the program)");
}

void add_list_options(CLI::App& verb, BenchListArguments& options) {
  Common& common = options.common;
  add_fields(verb, options);
  add_output(verb, "-o,--output", options.output, "Write the new list (CSV)", common);
  add_files_option(verb, options.files);
  only_when(
      common, {"--gap", "-o"}, [&options] { return options.again; },
      "the list is only read; --again makes it again");
}

void add_run_options(CLI::App& verb, BenchArguments& options) {
  verb.add_option("--agent", options.agents,
                  "Agent of oas list, or 'LABEL=NAME setting=value …'; may be given several times "
                  "(default: those of the study)")
      ->allow_extra_args(false);
  verb.add_option("--agent-process", options.processes,
                  "'LABEL=COMMAND': a program that is an agent, told observations and answering "
                  "actions as lines of JSON; may be given several times")
      ->allow_extra_args(false);
  verb.add_option("--timeout", options.timeout,
                  "Seconds to wait for an answer of such a program (default: 60)");
  verb.add_option("--band", options.choice.bands,
                  "Only these bands of instances, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_whole_number(verb, "--runs", options.choice.runs, {1}, "Runs on each instance");
  add_whole_number(verb, "--steps", options.choice.steps, {1, kMostSteps}, "Steps of each run");
  add_files_option(verb, options.files);
  add_shard_option(verb, options.study);
  add_cache_flag(verb, options.study.no_cache);
  verb.add_option("-o,--output", options.study.folder,
                  "Folder for the results (default: results/benchmark)");
  only_when(
      options.study.common, {"--timeout"}, [&options] { return !options.processes.empty(); },
      "only programs are waited for; name one with --agent-process");
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* bench =
      app.add_subcommand("bench", "Run the benchmark: which agent loses least while it learns?");
  bench->require_subcommand(1);
  const auto listed = std::make_shared<BenchListArguments>();
  add_list_options(*add_verb(*bench, "list", "The instances, and what can be earned in them",
                             listed->common, [listed] { show_bench_list(*listed); }),
                   *listed);
  const auto played = std::make_shared<BenchArguments>();
  add_run_options(*add_verb(*bench, "run", "Let agents play, or continue what was stopped",
                            played->study.common, [played] { run(*played); }),
                  *played);
  const auto merged = std::make_shared<StudyArguments>();
  add_merge_options(*add_verb(*bench, "merge", "Put the results of shards into one folder",
                              merged->common, [merged] { merge_parts(*merged); }),
                    *merged);
  const auto shown = std::make_shared<StudyArguments>();
  add_report_options(*add_verb(*bench, "report", "Write the rankings, figures and one HTML page",
                               shown->common, [shown] { report_folder(*shown); }),
                     *shown);
}

}  // namespace oas::cli
