#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/experiments/learning_run.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/study/statistics.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

struct LearnArguments {
  Common common;
  std::string model;
  std::vector<std::string> agents = {"oas-ucrl-ml"};
  std::vector<std::string> settings;
  std::optional<double> iota;
  std::int64_t steps = 100'000;
  int runs = 1;
  std::uint64_t seed = 1;
  int checkpoints = 100;
  double oracle_gap = 1e-6;
  std::string output;
};

bool knows(const AgentInfo& info, const std::string& setting) {
  const auto list = info.settings();
  return std::any_of(list.begin(), list.end(),
                     [&](const SettingInfo& known) { return known.name == setting; });
}

// "agent.name=value" is for that agent, "name=value" for every agent that knows the name.
std::vector<Setting> settings_of(const LearnArguments& options, const std::string& agent) {
  const AgentInfo& info = find_agent(agent);
  std::vector<Setting> settings;
  if (options.iota && knows(info, "iota")) {
    settings.push_back({"iota", fmt::format("{}", *options.iota)});
  }
  for (const std::string& text : options.settings) {
    Setting setting = parse_setting(text);
    const std::size_t dot = setting.name.find('.');
    if (dot == std::string::npos) {
      if (knows(info, setting.name)) settings.push_back(std::move(setting));
    } else if (setting.name.substr(0, dot) == agent) {
      settings.push_back({setting.name.substr(dot + 1), setting.value});
    }
  }
  return settings;
}

// Runs are filed under their agent's name.
void check_agents(const std::vector<std::string>& agents) {
  for (auto agent = agents.begin(); agent != agents.end(); ++agent) {
    OAS_REQUIRE(std::find(agents.begin(), agent, *agent) == agent, "--agent: {} is named twice",
                *agent);
  }
}

// A misspelt setting must not be passed over in silence.
void check_settings(const LearnArguments& options) {
  for (const std::string& text : options.settings) {
    const Setting setting = parse_setting(text);
    const std::size_t dot = setting.name.find('.');
    const bool used =
        std::any_of(options.agents.begin(), options.agents.end(), [&](const std::string& agent) {
          if (dot == std::string::npos) return knows(find_agent(agent), setting.name);
          return setting.name.substr(0, dot) == agent &&
                 knows(find_agent(agent), setting.name.substr(dot + 1));
        });
    OAS_REQUIRE(used,
                "--set {}: none of the agents asked for has this setting; see oas learn "
                "--settings",
                text);
    const bool floor = setting.name == "iota" || setting.name.ends_with(".iota");
    OAS_REQUIRE(!floor,
                "--set {}: give --iota, which is also the floor of the policy that agents are "
                "measured against",
                text);
  }
}

void show_settings(const LearnArguments& options) {
  Json document = Json::array();
  std::string text;
  for (const std::string& agent : options.agents) {
    const AgentInfo& info = find_agent(agent);
    Table table({"setting", "default", ""});
    Json settings = Json::array();
    for (const SettingInfo& setting : info.settings()) {
      table.add({setting.name, setting.value.empty() ? "-" : setting.value, setting.summary});
      settings.push_back(
          {{"name", setting.name}, {"default", setting.value}, {"summary", setting.summary}});
    }
    text += fmt::format("{}: {}\n{}\n", agent, info.summary, table.text());
    document.push_back({{"agent", agent}, {"summary", info.summary}, {"settings", settings}});
  }
  if (options.common.json) print_json(options.common, document);
  print(options.common, text);
}

// All faults of agents, settings and sizes show here, before any work is done or file written.
std::vector<LearningOptions> make_tasks(const LearnArguments& options, const Pomdp& model) {
  std::vector<LearningOptions> tasks;
  for (int run = 0; run < options.runs; ++run) {
    for (const std::string& agent : options.agents) {
      LearningOptions task;
      task.agent = agent;
      task.settings = settings_of(options, agent);
      task.steps = options.steps;
      task.seed = options.seed;
      task.replication = static_cast<std::uint32_t>(run);
      task.checkpoints = options.checkpoints;
      task.validate();
      if (run == 0) static_cast<void>(make_agent(agent, model, task.settings));
      tasks.push_back(std::move(task));
    }
  }
  return tasks;
}

std::vector<LearningRun> run_all(const LearnArguments& options,
                                 const std::vector<LearningOptions>& tasks, const Pomdp& model,
                                 const RegretOracle& oracle) {
  const std::size_t num_runs = tasks.size();
  Progress progress(options.common, "learning",
                    options.steps * static_cast<std::int64_t>(num_runs));
  std::mutex mutex;
  std::vector<LearningRun> runs(num_runs);
  parallel_for(num_runs, options.common.parallelism(), [&](std::size_t i) {
    std::int64_t reported = 0;
    runs[i] = learn(model, oracle, tasks[i], [&](const LearningRun& run) {
      const std::lock_guard lock(mutex);
      progress.note(fmt::format("{} episode {}, expected regret {:.0f}", run.options.agent,
                                run.episodes.size(), expected_regret(oracle.gain, run.end())));
      progress.add(run.end().step - reported);
      reported = run.end().step;
    });
  });
  return runs;
}

std::string mean_and_interval(const std::vector<double>& values) {
  const MeanInterval interval = student_interval(values);
  if (interval.count < 2) return fmt::format("{:.1f}", interval.mean);
  return fmt::format("{:.1f} ± {:.1f}", interval.mean, interval.upper - interval.mean);
}

std::string summary(const LearnArguments& options, const std::vector<LearningRun>& runs,
                    const RegretOracle& oracle) {
  Table table({"agent", "expected regret", "with floor", "realised", "reward/step", "episodes",
               "failures", "seconds"});
  for (const std::string& agent : options.agents) {
    std::vector<double> expected;
    std::vector<double> floored;
    std::vector<double> realised;
    double reward = 0.0;
    double seconds = 0.0;
    std::size_t episodes = 0;
    std::size_t failures = 0;
    for (const LearningRun& run : runs) {
      if (run.options.agent != agent) continue;
      expected.push_back(expected_regret(oracle.gain, run.end()));
      floored.push_back(expected_regret(oracle.floor_gain, run.end()));
      realised.push_back(realised_regret(oracle.gain, run.end()));
      reward += run.end().reward;
      seconds += run.seconds;
      episodes += run.episodes.size();
      for (const Episode& episode : run.episodes) failures += !episode.failure.empty();
    }
    const auto n = static_cast<double>(expected.size());
    table.add({agent, mean_and_interval(expected), mean_and_interval(floored),
               mean_and_interval(realised),
               fmt::format("{:.5f}", reward / n / static_cast<double>(options.steps)),
               fmt::format("{:.0f}", static_cast<double>(episodes) / n),
               fmt::format("{}", failures), fmt::format("{:.2f}", seconds / n)});
  }
  return fmt::format("{}, {} each; best gain {:.6f} ± {:.1g}, with floor {:.3g}: {:.6f} ± {:.1g}\n",
                     counted(options.steps, "step"), counted(options.runs, "run"), oracle.gain,
                     oracle.gain_error, oracle.floor, oracle.floor_gain, oracle.floor_gain_error) +
         table.text() + (options.runs > 1 ? "  ± is the 95 % interval over runs\n" : "");
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
              "-o {}: neither a name that ends in .csv nor a folder that can be made ({})",
              options.output, error.message());
}

void check_output(const LearnArguments& options, const std::vector<LearningOptions>& tasks) {
  if (options.output.empty()) return;
  check_output_name(options);
  std::vector<std::string> files;
  for (const LearningOptions& task : tasks) {
    files.push_back(stem_of(options, task) + ".csv");
    files.push_back(stem_of(options, task) + ".json");
  }
  check_files({options.model}, files);
}

// What failures of one kind have in common: neither their row nor their numbers.
std::string kind_of(const std::string& failure) {
  constexpr std::string_view kAfterRow = "): ";
  const std::size_t row = failure.starts_with("row (") ? failure.find(kAfterRow) : failure.npos;
  std::string kind = row == failure.npos ? failure : failure.substr(row + kAfterRow.size());
  std::erase_if(kind, [](char c) {
    return std::string_view("0123456789.+-e").find(c) != std::string_view::npos;
  });
  return kind;
}

// One warning for each agent and kind of failure: an agent may fail in every episode.
void warn_of_failures(const LearnArguments& options, const std::vector<LearningRun>& runs) {
  struct Failures {
    std::string first;
    int count = 0;
  };
  std::map<std::pair<std::string, std::string>, Failures> failures;  // of agent and kind
  for (const LearningRun& run : runs) {
    for (const Episode& episode : run.episodes) {
      if (episode.failure.empty()) continue;
      Failures& found = failures[{run.options.agent, kind_of(episode.failure)}];
      if (found.count++ > 0) continue;
      found.first = fmt::format("{}, run {}, step {}: {}", run.options.agent,
                                run.options.replication, episode.start, episode.failure);
    }
  }
  for (const auto& [kind, found] : failures) {
    warn(options.common, found.count == 1 ? found.first
                                          : fmt::format("{}; the first of {} of this kind",
                                                        found.first, found.count));
  }
}

void run_learn(const LearnArguments& options) {
  const Pomdp model = load_model(options.model, options.common);
  OAS_REQUIRE(model.has_transition(), "{}: has no transition model to learn in", options.model);
  check_reward(options.model, model, options.common);
  OAS_REQUIRE(options.oracle_gap > 0.0, "--oracle-gap is {}; it must be positive",
              options.oracle_gap);
  check_agents(options.agents);
  check_settings(options);
  const double floor = options.iota.value_or(default_floor(model.num_actions()));
  check_floor(floor, model.num_actions());
  const std::vector<LearningOptions> tasks = make_tasks(options, model);
  check_output(options, tasks);
  const RegretOracle oracle(model, {.floor = floor, .gap = options.oracle_gap},
                            options.common.parallelism());
  const std::vector<LearningRun> runs = run_all(options, tasks, model, oracle);
  std::string written;
  if (!options.output.empty()) written = write_runs(options, runs, model, oracle);
  if (options.common.json) {
    Json records = Json::array();
    for (const LearningRun& each : runs) records.push_back(run_to_json(each, model, oracle));
    print_json(options.common, records.size() == 1 ? records.front() : records);
  }
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
  add_whole_number(*verb, "--steps", options->steps, {1, kMostSteps}, "Steps of each run")
      ->capture_default_str();
  add_whole_number(*verb, "--runs", options->runs, {1}, "Runs of each agent")
      ->capture_default_str();
  add_seed(*verb, options->seed, "Seed; run r uses replication r of its streams");
  verb->add_option("--iota", options->iota,
                   "Floor of the agents, and of the oracle with floor (default 1/(10 A))");
  verb->add_option("--set", options->settings,
                   "name=value for every agent that has the setting, agent.name=value for one")
      ->allow_extra_args(false);
  verb->add_flag("--settings", *list_settings, "Show the settings of the agents and stop");
  add_whole_number(*verb, "--checkpoints", options->checkpoints, {1},
                   "Rows of the CSV, equally spaced")
      ->capture_default_str();
  verb->add_option(
          "--oracle-gap", options->oracle_gap,
          "Know the best gains to within this where the budget allows; the output says what was "
          "reached")
      ->capture_default_str();
  verb->add_option("-o,--output", options->output,
                   "FILE.csv for one run (FILE.json beside it), or a folder");
}

}  // namespace oas::cli
