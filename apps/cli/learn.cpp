#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "cli.hpp"
#include "learn_output.hpp"
#include "learn_tasks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/jobs/learning_run.hpp"
#include "oas/jobs/learning_runs.hpp"
#include "oas/jobs/oracle_cache.hpp"
#include "oas/simulation/policies.hpp"
#include "setting_options.hpp"
#include "undetermined.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

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

void run_learn(const LearnArguments& options) {
  const Pomdp model = load_model(options.model, options.common);
  OAS_REQUIRE(model.has_transition(), "{}: has no transition model to learn in", options.model);
  check_reward(options.model, model, options.common);
  const double gap = options.oracle_gap.value_or(oracle_gap_for(model, options.each.steps));
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
  print(options.common, learn_text(options, runs, oracle) + written);
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
  add_fields(*verb, options->each, {"steps", "seed", "checkpoints"});
  add_fields(*verb, *options);
  verb->add_option("--set", options->settings,
                   "name=value for every agent that has the setting, agent.name=value for one")
      ->allow_extra_args(false);
  verb->add_flag("--settings", *list_settings, "Show the settings of the agents and stop");
  add_cache_flag(*verb, options->no_cache);
  verb->add_option("-o,--output", options->output,
                   "FILE.csv for one run (FILE.json is written too), or a folder");
  only_when(
      options->common, {"--checkpoints"},
      [options = options.get()] { return !options->output.empty(); },
      "sets the rows of the CSV, but none is written; name one with -o");
  only_when(
      options->common,
      {"--steps", "--runs", "--seed", "--iota", "--set", "--checkpoints", "--oracle-gap", "-o"},
      [list_settings] { return !*list_settings; }, "with --settings nothing is learned");
}

}  // namespace oas::cli
