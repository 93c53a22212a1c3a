#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli.hpp"
#include "oas/core/contracts.hpp"
#include "oas/io/log_writer.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas::cli {

namespace {

constexpr std::size_t kBlockSteps = 1 << 16;

struct Options {
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

// Starts the run of the given number.
using MakeLoop = std::function<ClosedLoop(std::uint32_t run)>;

// Runs are simulated side by side in groups and written in their order.
Totals write_runs(const Options& options, const MakeLoop& make_loop, LogWriter& log) {
  Progress progress(options.common, "simulating", options.steps * options.runs);
  Totals totals;
  constexpr std::int64_t kGroup = 16;
  std::vector<Trajectory> blocks(static_cast<std::size_t>(std::min(kGroup, options.runs)));
  const auto write = [&](const Trajectory& block, std::int64_t run) {
    log.write(block, run);
    for (const double reward : block.rewards) totals.reward += reward;
    totals.steps += static_cast<std::int64_t>(block.size());
    progress.add(static_cast<std::int64_t>(block.size()));
  };
  const bool short_runs = options.steps <= static_cast<std::int64_t>(kBlockSteps);
  for (std::int64_t first = 0; first < options.runs; first += short_runs ? kGroup : 1) {
    if (short_runs) {
      const std::int64_t count = std::min(kGroup, options.runs - first);
      parallel_for(
          static_cast<std::size_t>(count), options.common.parallelism(), [&](std::size_t i) {
            ClosedLoop loop = make_loop(static_cast<std::uint32_t>(first + static_cast<long>(i)));
            blocks[i].clear();
            loop.advance(static_cast<std::size_t>(options.steps), blocks[i]);
          });
      for (std::int64_t i = 0; i < count; ++i)
        write(blocks[static_cast<std::size_t>(i)], first + i);
      continue;
    }
    ClosedLoop loop = make_loop(static_cast<std::uint32_t>(first));
    for (std::int64_t done = 0; done < options.steps;) {
      const auto count = std::min<std::int64_t>(kBlockSteps, options.steps - done);
      blocks[0].clear();
      loop.advance(static_cast<std::size_t>(count), blocks[0]);
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

// A plan file, or a policy of that name.
MakeLoop player(const Options& options, const Pomdp& model) {
  if (is_plan_file(options.policy)) {
    Plan plan = read_plan(options.policy);
    if (options.iota) plan.iota = *options.iota;
    const Pomdp filter =
        options.filter.empty() ? plan.model : load_model(options.filter, options.common);
    const auto policy = std::make_shared<const PlanPolicy>(plan, filter);
    OAS_REQUIRE(model.num_actions() == plan.model.num_actions() &&
                    model.num_observations() == plan.model.num_observations(),
                "{}: was made for {}, not for {}", options.policy, plan.model.brief(),
                model.brief());
    return [model, policy, seed = options.seed](std::uint32_t run) {
      return ClosedLoop::of(model, *policy, seed, run);
    };
  }
  PolicyOptions policy;
  policy.name = options.policy;
  policy.min_action_probability = options.iota;
  if (!options.filter.empty()) {
    const Pomdp own = load_model(options.filter, options.common);
    OAS_REQUIRE(own.has_transition(), "{}: has no transition model to filter with", options.filter);
    policy.own_transition = own.transition();
  }
  policy.validate(model);
  return [model, policy, seed = options.seed](std::uint32_t run) {
    return ClosedLoop(model, policy, seed, run);
  };
}

void run(const Options& options) {
  const Pomdp model = load_model(options.model, options.common);
  OAS_REQUIRE(model.has_transition(), "{}: has no transition model, so it cannot be simulated",
              options.model);
  const MakeLoop make_loop = player(options, model);
  LogColumns columns;
  columns.run = options.runs > 1;
  columns.propensity = true;
  columns.reward = options.reward;
  columns.state = options.state;
  LogWriter log(options.output, model, columns);
  const Totals totals = write_runs(options, make_loop, log);
  log.commit();
  const double mean = totals.reward / static_cast<double>(totals.steps);
  if (options.common.json) {
    print_json({{"log", options.output},
                {"rows", totals.steps},
                {"runs", options.runs},
                {"policy", options.policy},
                {"seed", options.seed},
                {"mean_reward", mean}});
  }
  print(options.common,
        fmt::format("{}: {} rows, {} run{}, policy {}, seed {}, mean reward {:.4f}\n",
                    options.output, big_number(static_cast<double>(totals.steps)), options.runs,
                    options.runs == 1 ? "" : "s", options.policy, options.seed, mean));
}

}  // namespace

void add_simulate(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = add_verb(app, "simulate", "Let a policy play in a model and log what it sees",
                            options->common, [options] { run(*options); });
  add_model_argument(*verb, "MODEL", options->model, "Model file or problem name", options->common);
  verb->add_option("--policy", options->policy, "Policy (see oas list) or plan file (*.json)")
      ->capture_default_str();
  verb->add_option("--filter", options->filter,
                   "Model whose transition the policy believes in (default: the true one)");
  verb->add_option("--iota", options->iota,
                   "Smallest probability of every action (default: 1/(10 A))");
  verb->add_option("--runs", options->runs, "Independent runs, each from the start")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{4'000'000'000}))
      ->capture_default_str();
  verb->add_option("--steps", options->steps, "Steps of each run")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000'000}));
  verb->add_option("--seed", options->seed, "Same seed, same bytes")->capture_default_str();
  verb->add_flag("--reward", options->reward, "Log the reward of each step");
  verb->add_flag("--state", options->state, "Log the hidden state (for diagnostics only)");
  verb->add_option("-o,--output", options->output,
                   "Log to write; .gz and .zst are compressed, - is standard output")
      ->required();
}

}  // namespace oas::cli
