#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/study/bench.hpp"
#include "study_work.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

namespace fs = std::filesystem;

struct BenchArguments {
  StudyArguments study;
  std::vector<std::string> agents;
  std::vector<std::string> processes;
  std::optional<double> timeout;
  BenchChoice choice;
  bool again = false;
  std::optional<double> gap;
  std::string output;
  std::string files;
};

constexpr double kListGap = 1e-5;

// The study and the list of its instances beside it.
struct BenchFiles {
  explicit BenchFiles(const std::string& folder)
      : study(folder.empty() ? find_study("benchmark")
                             : (fs::path(folder) / "benchmark.toml").string()),
        list((fs::path(study).parent_path() / kBenchList).string()),
        text(read_text_file(study)),
        instances(bench_instances(text, study)) {}

  std::string study;
  std::string list;
  std::string text;
  std::vector<Task> instances;
};

BenchList known_list(const BenchFiles& files) {
  BenchList list = parse_bench_list(read_text_file(files.list), files.list);
  check_bench(files.instances, list, files.list);
  return list;
}

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

void show_list(const BenchArguments& options) {
  const BenchFiles files(options.files);
  std::string text;
  if (options.again) {
    text = while_shown(options.study.common, "finding the best policies", [&] {
      return bench_list_csv(files.instances, options.gap.value_or(kListGap),
                            options.study.common.parallelism());
    });
    if (!options.output.empty()) write_text_file(options.output, text);
  }
  const BenchList list = options.again ? parse_bench_list(text, "list") : known_list(files);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Table table({"instance", "model", "alpha", "best gain", "with floor", "memoryless", "uniform"});
  for (std::size_t r = 0; r < list.rows.size(); ++r) {
    const std::vector<std::string>& row = list.rows[r];
    nlohmann::ordered_json entry;
    for (std::size_t i = 0; i < row.size(); ++i) entry[list.columns[i]] = row[i];
    const auto cell = [&](const char* name) { return row[list.column(name)]; };
    const auto number = [&](const char* name, const char* digits) {
      return fmt::format(fmt::runtime(digits), list.number(r, name));
    };
    table.add({cell("instance"), cell("model"), number("alpha", "{:.3f}"),
               number("gain_lower", "{:.5f}") + " to " + number("gain_upper", "{:.5f}"),
               number("floor_lower", "{:.5f}") + " to " + number("floor_upper", "{:.5f}"),
               number("memoryless", "{:.5f}"), number("uniform", "{:.5f}")});
    rows.push_back(std::move(entry));
  }
  if (options.study.common.json) {
    print_json(options.study.common, {{"version", kBenchVersion}, {"instances", rows}});
  }
  print(options.study.common,
        fmt::format("{}: {} instances\n{}", kBenchVersion, list.rows.size(), table.text()));
}

void run(const BenchArguments& options) {
  BenchChoice choice = options.choice;
  for (const std::string& text : options.agents) choice.agents.push_back(agent_of(text));
  for (const std::string& text : options.processes) {
    choice.agents.push_back(process_of(text, options.timeout));
  }
  const BenchFiles files(options.files);
  static_cast<void>(known_list(files));
  run_into_folder(options.study, parse_study(bench_study_text(files.text, choice), files.study));
}

void add_files_option(CLI::App& verb, BenchArguments& options) {
  verb.add_option(
      "--files", options.files,
      "Folder with benchmark.toml and oas-bench-1.csv (default: studies, here or beside "
      "the program)");
}

void add_list_options(CLI::App& verb, BenchArguments& options) {
  Common& common = options.study.common;
  verb.add_flag("--again", options.again,
                "Find the best policies again (minutes) instead of reading the list");
  verb.add_option("--gap", options.gap,
                  "Precision of the best gains, as a part of the range of rewards (1e-5)");
  add_output(verb, "-o,--output", options.output, "Write the new list (CSV)", common);
  add_files_option(verb, options);
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
  verb.add_option("--timeout", options.timeout, "Seconds for an answer of such a program (60)");
  verb.add_option("--band", options.choice.bands, "Only these bands of instances, with commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_whole_number(verb, "--runs", options.choice.runs, {1}, "Runs on each instance");
  add_whole_number(verb, "--steps", options.choice.steps, {1, kMostSteps}, "Steps of each run");
  add_files_option(verb, options);
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
      app.add_subcommand("bench", "The benchmark of the field: who loses least while learning?");
  bench->require_subcommand(1);
  const auto listed = std::make_shared<BenchArguments>();
  add_list_options(*add_verb(*bench, "list", "The instances, and what can be earned in them",
                             listed->study.common, [listed] { show_list(*listed); }),
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
