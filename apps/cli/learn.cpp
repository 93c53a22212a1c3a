#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "cli.hpp"
#include "command_files.hpp"
#include "learn_tasks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/version.hpp"
#include "oas/jobs/learning_run.hpp"
#include "oas/jobs/learning_runs.hpp"
#include "oas/jobs/oracle_cache.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/study/statistics.hpp"
#include "setting_options.hpp"
#include "undetermined.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kWorthTelling = 1.0;  // of regret

void show_settings(const LearnArguments& options) {
  Json document = Json::array();
  std::string text;
  for (const std::string& agent : options.agents) {
    const AgentInfo& info = find_agent(agent);
    Table table({"setting", "default", ""});
    Json settings = Json::array();
    for (const SettingInfo& setting : info.settings()) {
      table.add({setting.name, setting.value.empty() ? "-" : setting.value, setting.help()});
      settings.push_back(
          {{"name", setting.name}, {"default", setting.value}, {"summary", setting.help()}});
    }
    text += fmt::format("{}: {}\n{}\n", agent, info.summary, table.text());
    document.push_back({{"agent", agent}, {"summary", info.summary}, {"settings", settings}});
  }
  if (options.common.json) print_json(options.common, document);
  print(options.common, text);
}

// Runs that break off join the tasks that are left out.
std::vector<LearningRun> run_all(const LearnArguments& options, LearnTasks& tasks,
                                 const Pomdp& model, const RegretOracle& oracle) {
  Progress progress(options.common, "learning",
                    options.each.steps * static_cast<std::int64_t>(tasks.runs.size()));
  const auto show = [&](const LearningRun& run, std::int64_t new_steps) {
    progress.note(fmt::format("{} episode {}, expected regret {:.0f}", run.options.agent,
                              run.episodes.size(), regrets(oracle, run.end()).expected));
    progress.add(new_steps);
  };
  LearningRuns runs = learn_all(model, oracle, tasks.runs, show, options.common.parallelism());
  for (BrokenRun& each : runs.broken) {
    tasks.left_out.push_back({std::move(each.options), false, std::move(each.reason)});
  }
  return std::move(runs.finished);
}

std::string mean_and_interval(const std::vector<double>& values) {
  const MeanInterval interval = student_interval(values);
  if (interval.count < 2) return fmt::format("{:.1f}", interval.mean);
  return fmt::format("{:.1f} ± {:.1f}", interval.mean, interval.upper - interval.mean);
}

// Regret is counted against gains that are known to an interval, which adds up over the steps.
std::string what_the_oracle_leaves_open(const LearnArguments& options, const RegretOracle& oracle) {
  const auto steps = static_cast<double>(options.each.steps);
  const double off = steps * oracle.gain_error;
  const double off_floor = steps * oracle.floor_gain_error;
  if (std::max(off, off_floor) < kWorthTelling) return "";
  return fmt::format(
      "  the best gains are not known better: every regret may be off by {:.2g}, "
      "with floor by {:.2g}\n",
      off, off_floor);
}

std::string summary(const LearnArguments& options, const std::vector<LearningRun>& runs,
                    const RegretOracle& oracle) {
  Table table({"agent", "expected regret", "with floor", "realised", "reward/step", "episodes",
               "failures", "seconds"});
  for (const std::string& agent : options.agents) {
    const AgentSummary all = summarise_agent(agent, runs, oracle);
    if (all.num_runs() == 0) {
      table.add({agent, "left out", "-", "-", "-", "-", "-", "-"});
      continue;
    }
    table.add({agent, mean_and_interval(all.expected_regret),
               mean_and_interval(all.expected_regret_floor), mean_and_interval(all.realised_regret),
               fmt::format("{:.5f}", all.mean_reward / static_cast<double>(options.each.steps)),
               fmt::format("{:.0f}", all.mean_episodes), fmt::format("{}", all.failures),
               fmt::format("{:.2f}", all.mean_seconds)});
  }
  return fmt::format("{}, {} each; best gain {:.6f} ± {:.1g}, with floor {:.3g}: {:.6f} ± {:.1g}\n",
                     counted(options.each.steps, "step"), counted(options.runs, "run"), oracle.gain,
                     oracle.gain_error, oracle.floor, oracle.floor_gain, oracle.floor_gain_error) +
         table.text() + (options.runs > 1 ? "  ± is the 95 % interval over runs\n" : "") +
         what_the_oracle_leaves_open(options, oracle);
}

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

// One warning for each agent and kind of failure: an agent may fail in every episode.
void warn_of_failures(const LearnArguments& options, const std::vector<LearningRun>& runs) {
  for (const FailureGroup& group : group_failures(runs)) {
    const std::string more =
        group.count == 1 ? "" : fmt::format("; the first of {} of this kind", group.count);
    warn(options.common, fmt::format("{}, run {}, step {}: {}{}", group.agent, group.replication,
                                     group.step, group.message, more));
  }
}

// The record of what did not play has the reason in place of results.
Json left_out_to_json(const LeftOut& left_out) {
  Json settings = Json::object();
  for (const Setting& setting : left_out.task.settings) settings[setting.name] = setting.value;
  Json record = {{"format", "oas-run/1"},        {"version", version()},
                 {"agent", left_out.task.agent}, {"settings", std::move(settings)},
                 {"steps", left_out.task.steps}, {"seed", left_out.task.seed}};
  if (!left_out.whole_agent) record["replication"] = left_out.task.replication;
  record["left_out"] = left_out.reason;
  return record;
}

void print_records(const LearnArguments& options, const LearnTasks& tasks,
                   const std::vector<LearningRun>& runs, const Pomdp& model,
                   const RegretOracle& oracle) {
  Json records = Json::array();
  for (const LearningRun& each : runs) records.push_back(run_to_json(each, model, oracle));
  for (const LeftOut& each : tasks.left_out) records.push_back(left_out_to_json(each));
  print_json(options.common, records.size() == 1 ? records.front() : records);
}

void run_learn(const LearnArguments& options) {
  const Pomdp model = load_model(options.model, options.common);
  OAS_REQUIRE(model.has_transition(), "{}: has no transition model to learn in", options.model);
  check_reward(options.model, model, options.common);
  const double gap = options.oracle_gap.value_or(oracle_gap_for(model, options.each.steps));
  OAS_REQUIRE(gap > 0.0, "--oracle-gap is {}; it must be positive", gap);
  const double floor = options.iota.value_or(default_floor(model.num_actions()));
  check_floor(floor, model.num_actions());
  LearnTasks tasks = make_learn_tasks(options, model);
  check_output(options, tasks.runs);
  warn_of_undetermined(options.model, model, "what is learned there", options.common);
  for (const LeftOut& each : tasks.left_out) warn(options.common, to_text(each));
  const std::size_t known = tasks.left_out.size();
  const RegretOracle oracle = while_shown(options.common, "finding the best policies", [&] {
    const OracleCache cache = options.no_cache ? OracleCache() : OracleCache::of_user();
    return cache.get(model, {.floor = floor, .gap = gap}, options.common.parallelism());
  });
  const std::vector<LearningRun> runs = run_all(options, tasks, model, oracle);
  for (std::size_t i = known; i < tasks.left_out.size(); ++i) {
    warn(options.common, to_text(tasks.left_out[i]));
  }
  if (runs.empty()) throw std::runtime_error("no run was completed");
  std::string written;
  if (!options.output.empty()) written = write_runs(options, runs, model, oracle);
  if (options.common.json) print_records(options, tasks, runs, model, oracle);
  warn_of_failures(options, runs);
  print(options.common, summary(options, runs, oracle) + written);
}

}  // namespace

void add_learn(CLI::App& app) {
  const auto options = std::make_shared<LearnArguments>();
  const auto list_settings = std::make_shared<bool>(false);
  CLI::App* verb = add_verb(app, "learn", "Let agents learn in a model and measure their regret",
                            options->common, [options, list_settings] {
                              if (*list_settings) {
                                show_settings(*options);
                              } else {
                                run_learn(*options);
                              }
                            });
  add_model_argument(*verb, "MODEL", options->model,
                     "Model file or problem name; learners do not see its transition",
                     options->common);
  verb->add_option("--agent", options->agents, "Agents, separated by commas (see oas list)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  add_whole_number(*verb, "--runs", options->runs, {1}, "Runs of each agent")
      ->capture_default_str();
  add_fields(*verb, options->each, {"steps", "seed", "checkpoints"});
  verb->add_option("--iota", options->iota,
                   "Floor of the agents, and of the oracle with floor (default 1/(10 A))");
  verb->add_option("--set", options->settings,
                   "name=value for every agent that has the setting, agent.name=value for one")
      ->allow_extra_args(false);
  verb->add_flag("--settings", *list_settings, "Show the settings of the agents and stop");
  verb->add_option("--oracle-gap", options->oracle_gap,
                   "Precision of the best gains, where the budget allows; the output says what was "
                   "reached (default 1/steps of the range of rewards, at least of 1)");
  add_cache_flag(*verb, options->no_cache);
  verb->add_option("-o,--output", options->output,
                   "FILE.csv for one run (FILE.json is written too), or a folder");
  only_when(
      options->common, {"--checkpoints"},
      [options = options.get()] { return !options->output.empty(); },
      "these are rows of a CSV, and none is written; name one with -o");
  only_when(
      options->common,
      {"--steps", "--runs", "--seed", "--iota", "--set", "--checkpoints", "--oracle-gap", "-o"},
      [list_settings] { return !*list_settings; }, "with --settings nothing is learned");
}

}  // namespace oas::cli
