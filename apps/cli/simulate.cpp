#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/jobs/log_simulation.hpp"
#include "oas/jobs/sharded_simulation.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/simulation/continuous_loop.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

struct SimulateArguments {
  Common common;
  std::string model;
  std::string policy = "belief";
  std::string filter;
  std::optional<double> iota;
  LogSimulationOptions simulation;
  std::string rows;
  std::string output;
  std::optional<std::int64_t> shards;
};

bool is_plan_file(const std::string& name) {
  constexpr std::string_view kEnding = ".json";
  return name.size() > kEnding.size() && name.ends_with(kEnding);
}

PlanPlayer read_player(const SimulateArguments& options) {
  PlanPlayer player{read_plan(options.policy), std::nullopt};
  if (options.iota) player.plan.iota = *options.iota;
  if (!options.filter.empty()) player.filter = load_model(options.filter, options.common);
  return player;
}

PolicyOptions policy_options(const SimulateArguments& options) {
  PolicyOptions policy;
  policy.name = options.policy;
  policy.min_action_probability = options.iota;
  if (options.filter.empty()) return policy;
  const AnyModel own = load_any_model(options.filter, options.common);
  OAS_REQUIRE(chain_of(own).has_transition(), "{}: has no transition model to filter with",
              options.filter);
  policy.own_transition = chain_of(own).transition();
  return policy;
}

SimulatedLog simulate_shown(const SimulateArguments& options, const AnyModel& model) {
  const LogSimulationOptions& simulation = options.simulation;
  Progress progress(options.common, "simulating", simulation.steps * simulation.runs);
  const auto show = [&](std::int64_t rows) { progress.add(rows); };
  const Parallelism parallelism = options.common.parallelism();
  if (names_folder(options.output)) {
    return simulate_shards(model, simulation, options.output,
                           options.shards.value_or(usual_shards(simulation)), parallelism, show);
  }
  OAS_REQUIRE(!options.shards, "--shards: only a folder has them; -o {}/ would be one",
              options.output);
  if (parallelism.team != nullptr) {
    if (only_helps()) static_cast<void>(parallelism.team->order());  // there is none
    parallelism.team->tell(fmt::format(
        "one file is written by rank 0 alone; -o {}/ would be a folder of shards", options.output));
  }
  return simulate_log(model, simulation, options.output, parallelism, show);
}

void run_simulate(SimulateArguments options) {
  AnyModel model = load_any_model(options.model, options.common);
  if (!options.rows.empty()) {
    about_file(options.model, [&] { model = with_rows(model, parse_rows(options.rows)); });
  }
  OAS_REQUIRE(chain_of(model).has_transition(),
              "{}: has no transition model, so it cannot be simulated", options.model);
  if (is_plan_file(options.policy)) {
    options.simulation.policy = read_player(options);
    about_file(options.policy, [&] { options.simulation.validate(model); });
  } else {
    options.simulation.policy = policy_options(options);
  }
  const SimulatedLog totals = simulate_shown(options, model);
  const LogSimulationOptions& simulation = options.simulation;
  if (options.common.json) {
    print_json(options.common, {{"log", options.output},
                                {"rows", totals.steps},
                                {"runs", simulation.runs},
                                {"policy", options.policy},
                                {"seed", simulation.seed},
                                {"mean_reward", totals.mean_reward()}});
  }
  const double mean = totals.mean_reward();
  print(
      options.common,
      fmt::format("{}: {}, {}, policy {}, seed {}, mean reward {}\n", options.output,
                  counted(totals.steps, "row"), counted(simulation.runs, "run"), options.policy,
                  simulation.seed,
                  std::isfinite(mean) ? fmt::format("{:.4f}", mean) : "too large to be summed up"));
}

}  // namespace

void add_simulate(CLI::App& app) {
  const auto options = std::make_shared<SimulateArguments>();
  CLI::App* verb = add_verb(app, "simulate", "Let a policy act in a model and write a log",
                            options->common, [options] { run_simulate(*options); });
  add_model_argument(*verb, "MODEL", options->model, "Model file or problem name", options->common);
  add_input(*verb, "--policy", options->policy, "Policy (see oas list) or plan file (*.json)",
            options->common)
      ->capture_default_str();
  add_input(*verb, "--filter", options->filter,
            "Model whose transition the policy believes in (default: the true one)",
            options->common);
  verb->add_option("--iota", options->iota,
                   "Smallest probability of every action (default: 1/(10 A))");
  add_fields(*verb, options->simulation);
  verb->get_option("--steps")->required()->default_str("");
  verb->add_option("--rows", options->rows,
                   "Order within a row: action-first, or reading-first: a reading, then "
                   "the action chosen because of it (default: as the model says)")
      ->check(CLI::IsMember({"action-first", "reading-first"}));
  add_output(
      *verb, "-o,--output", options->output,
      "Log to write; .gz and .zst are compressed, - is standard output, FOLDER/ is for shards",
      options->common)
      ->required();
  options->common.folder_outputs = true;
  only_when(
      options->common, {"--filter", "--iota"},
      [options = options.get()] {
        return is_plan_file(options->policy) || find_policy(options->policy).reacts;
      },
      "the policy chooses whatever was read, with fixed probabilities");
  verb->add_option("--shards", options->shards,
                   "Number of files in a folder, each with whole runs (default: so that a "
                   "file has a million rows)")
      ->check(CLI::PositiveNumber);
}

}  // namespace oas::cli
