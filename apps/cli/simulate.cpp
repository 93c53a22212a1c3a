#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/simulation/continuous_loop.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

constexpr std::size_t kBlockSteps = 1 << 16;

struct SimulateArguments {
  Common common;
  std::string model;
  std::string policy = "belief";
  std::string filter;
  std::optional<double> iota;
  std::int64_t runs = 1;
  std::int64_t steps = 0;
  std::uint64_t seed = 1;
  bool reward = false;
  bool state = false;
  std::string output;
};

struct Totals {
  double reward = 0.0;
  std::int64_t steps = 0;
};

// Some steps of a run; readings only where observations are real-valued.
struct Block {
  Trajectory rows;
  std::vector<double> readings;
};

// Appends the next steps of a run.
using Advance = std::function<void(std::size_t steps, Block& block)>;
// Starts the run of the given number.
using MakeLoop = std::function<Advance(std::uint32_t run)>;

template <class Loop>
Advance advance_of(Loop loop) {
  const auto shared = std::make_shared<Loop>(std::move(loop));
  return [shared](std::size_t steps, Block& block) {
    block.rows.clear();
    block.readings.clear();
    if constexpr (std::is_same_v<Loop, ContinuousLoop>) {
      shared->advance(steps, block.rows, block.readings);
    } else {
      shared->advance(steps, block.rows);
    }
  };
}

// Runs are simulated side by side in groups and written in their order.
Totals write_runs(const SimulateArguments& options, const MakeLoop& make_loop, LogWriter& log) {
  Progress progress(options.common, "simulating", options.steps * options.runs);
  Totals totals;
  constexpr std::int64_t kGroup = 16;
  std::vector<Block> blocks(static_cast<std::size_t>(std::min(kGroup, options.runs)));
  const auto write = [&](const Block& block, std::int64_t run) {
    log.write(block.rows, block.readings, run);
    for (const double reward : block.rows.rewards) totals.reward += reward;
    totals.steps += static_cast<std::int64_t>(block.rows.size());
    progress.add(static_cast<std::int64_t>(block.rows.size()));
  };
  const bool short_runs = options.steps <= static_cast<std::int64_t>(kBlockSteps);
  for (std::int64_t first = 0; first < options.runs; first += short_runs ? kGroup : 1) {
    if (short_runs) {
      const std::int64_t count = std::min(kGroup, options.runs - first);
      parallel_for(static_cast<std::size_t>(count), options.common.parallelism(),
                   [&](std::size_t i) {
                     make_loop(static_cast<std::uint32_t>(first + static_cast<long>(i)))(
                         static_cast<std::size_t>(options.steps), blocks[i]);
                   });
      for (std::int64_t i = 0; i < count; ++i)
        write(blocks[static_cast<std::size_t>(i)], first + i);
      continue;
    }
    const Advance advance = make_loop(static_cast<std::uint32_t>(first));
    for (std::int64_t done = 0; done < options.steps;) {
      const auto count = std::min<std::int64_t>(kBlockSteps, options.steps - done);
      advance(static_cast<std::size_t>(count), blocks[0]);
      write(blocks[0], first);
      done += count;
    }
  }
  return totals;
}

bool is_plan_file(const std::string& name) {
  constexpr std::string_view kEnding = ".json";
  return name.size() > kEnding.size() && name.ends_with(kEnding);
}

MakeLoop plan_player(const SimulateArguments& options, const Pomdp& model) {
  Plan plan = read_plan(options.policy);
  if (options.iota) plan.iota = *options.iota;
  const Pomdp filter =
      options.filter.empty() ? plan.model : load_model(options.filter, options.common);
  const auto policy = std::make_shared<const PlanPolicy>(plan, filter);
  OAS_REQUIRE(model.num_actions() == plan.model.num_actions() &&
                  model.num_observations() == plan.model.num_observations(),
              "{}: was made for {}, not for {}", options.policy, plan.model.brief(), model.brief());
  return [model, policy, seed = options.seed](std::uint32_t run) {
    return advance_of(ClosedLoop::of(model, *policy, seed, run));
  };
}

// A plan file, or a policy of that name.
MakeLoop player(const SimulateArguments& options, const AnyModel& any) {
  if (is_plan_file(options.policy)) {
    OAS_REQUIRE(std::holds_alternative<Pomdp>(any),
                "{}: plans are for finite observations; oas discretise makes such a model",
                options.model);
    return plan_player(options, std::get<Pomdp>(any));
  }
  PolicyOptions policy;
  policy.name = options.policy;
  policy.min_action_probability = options.iota;
  if (!options.filter.empty()) {
    const AnyModel own = load_any_model(options.filter, options.common);
    OAS_REQUIRE(chain_of(own).has_transition(), "{}: has no transition model to filter with",
                options.filter);
    policy.own_transition = chain_of(own).transition();
  }
  policy.validate(chain_of(any));
  return [any, policy, seed = options.seed](std::uint32_t run) {
    if (const auto* continuous = std::get_if<ContinuousPomdp>(&any)) {
      return advance_of(ContinuousLoop(*continuous, policy, seed, run));
    }
    return advance_of(ClosedLoop(std::get<Pomdp>(any), policy, seed, run));
  };
}

void run_simulate(const SimulateArguments& options) {
  const AnyModel model = load_any_model(options.model, options.common);
  OAS_REQUIRE(chain_of(model).has_transition(),
              "{}: has no transition model, so it cannot be simulated", options.model);
  const auto* continuous = std::get_if<ContinuousPomdp>(&model);
  OAS_REQUIRE(continuous == nullptr || continuous->has_sensors(),
              "{}: has neither observation nor density, so it cannot be simulated", options.model);
  const MakeLoop make_loop = player(options, model);
  LogColumns columns;
  columns.run = options.runs > 1;
  columns.propensity = true;
  columns.reward = options.reward;
  columns.state = options.state;
  LogWriter log = std::visit(
      [&](const auto& value) { return LogWriter(options.output, value, columns); }, model);
  const Totals totals = write_runs(options, make_loop, log);
  log.commit();
  const double mean = totals.reward / static_cast<double>(totals.steps);
  if (options.common.json) {
    print_json(options.common, {{"log", options.output},
                                {"rows", totals.steps},
                                {"runs", options.runs},
                                {"policy", options.policy},
                                {"seed", options.seed},
                                {"mean_reward", mean}});
  }
  print(options.common,
        fmt::format("{}: {}, {}, policy {}, seed {}, mean reward {:.4f}\n", options.output,
                    counted(totals.steps, "row"), counted(options.runs, "run"), options.policy,
                    options.seed, mean));
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
  add_whole_number(*verb, "--runs", options->runs, {1, 4'000'000'000}, "Number of independent runs")
      ->capture_default_str();
  add_whole_number(*verb, "--steps", options->steps, {1, kMostSteps}, "Steps of each run")
      ->required();
  add_seed(*verb, options->seed, "Same seed, same bytes");
  verb->add_flag("--reward", options->reward, "Log the reward of each step");
  verb->add_flag("--state", options->state,
                 "Log the hidden state (for oas calibrate and diagnostics)");
  add_output(*verb, "-o,--output", options->output,
             "Log to write; .gz and .zst are compressed, - is standard output", options->common)
      ->required();
}

}  // namespace oas::cli
