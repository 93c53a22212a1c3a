#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/counts/triple_counts.hpp"
#include "oas/estimation/transition_error.hpp"
#include "oas/jobs/learning_run.hpp"
#include "oas/study/detail/learning_task.hpp"
#include "oas/study/detail/standings.hpp"
#include "oas/study/detail/task_kinds.hpp"
#include "oas/study/instance.hpp"

namespace oas::detail {

namespace {

constexpr TaskSetting kLearningSettings[] = {
    {"model", SettingType::text,
     "a problem or corner model of oas list, or one of [models.NAME]; random: an instance by rule"},
    {"timing", SettingType::text, "own (the model's), before or after"},
    {"agent", SettingType::text, "agent, see oas list, or a table [agents.NAME]"},
    {"iota", SettingType::number_or_text, "floor of the oracle and of agents; \"1/(10A)\""},
    {"steps", SettingType::integer, "length of a run"},
    {"checkpoints", SettingType::integer, "rows of a run, equally spaced"},
};

constexpr std::string_view kLearningColumns[] = {"instance",
                                                 "size",
                                                 "states",
                                                 "actions",
                                                 "observations",
                                                 "generator",
                                                 "candidate",
                                                 "alpha",
                                                 "sigma",
                                                 "epsilon",
                                                 "iota",
                                                 "agent",
                                                 "step",
                                                 "reward",
                                                 "realised_regret",
                                                 "expected_regret",
                                                 "realised_regret_floor",
                                                 "expected_regret_floor",
                                                 "oracle_run_regret",
                                                 "oracle_gain",
                                                 "oracle_gain_error",
                                                 "model_error",
                                                 "episodes",
                                                 "failures"};

struct OracleOnInstance {
  Instance instance;
  RegretOracle oracle;
};

std::shared_ptr<const OracleOnInstance> oracle_of(const Task& task, const LearningTask& read,
                                                  const TaskContext& context) {
  const std::uint32_t replication = read.instance.per_replication ? read.options.replication : 0;
  const std::string key =
      fmt::format("oracle {} {} {} {} {} {}", instance_key(task), read.floor,
                  read.instance.candidates, task.seed, replication, read.options.steps);
  return context.shared->get<OracleOnInstance>(key, [&] {
    Instance instance = instance_of(read, replication);
    const double gap = oracle_gap_for(instance.model, read.options.steps);
    RegretOracle oracle =
        context.oracles.get(instance.model, {.floor = read.floor, .gap = gap}, Parallelism{1});
    return OracleOnInstance{std::move(instance), std::move(oracle)};
  });
}

// Frobenius error of the dynamics that the agent acts on at a step.
Cell model_error(const LearningRun& run, std::int64_t step, const Pomdp& model) {
  const TransitionModel* last = nullptr;
  for (const Episode& episode : run.episodes) {
    if (episode.start < step && episode.transition) last = &*episode.transition;
  }
  if (last == nullptr) return {};
  return transition_error(model.transition(), *last).frobenius;
}

// Whether an agent that counts triples of rows would make room for many; too many it refuses.
bool takes_room(const InstanceRule& rule, int num_observations) {
  constexpr double kMany = 2e5;
  const double triples = std::pow(static_cast<double>(rule.num_actions) * num_observations, 3);
  return triples > kMany && triples <= static_cast<double>(TripleCounts::kMaxCells);
}

// An agent is made on trial, so that a bad setting is found before the study runs. Oracles would
// plan, and large models take long: there may be 10,000 tasks to be checked. No setting depends on
// the number of observations, so that few will do.
void check_learning(const Task& task) {
  const LearningTask read = read_learning(task);
  if (read.process) return;  // it is started when it plays
  if (read.named && !find_agent(read.options.agent).knows_dynamics) {
    static_cast<void>(
        make_agent(read.options.agent, in_timing(*read.named, read.timing), read.options.settings));
    return;
  }
  const InstanceRule& rule = read.instance;
  constexpr std::int64_t kLargest = 10'000;
  const std::int64_t entries = std::int64_t{rule.num_states} * rule.num_actions *
                               (std::int64_t{rule.num_states} + rule.num_observations);
  if (find_agent(read.options.agent).knows_dynamics || entries > kLargest) return;
  const bool many = takes_room(rule, rule.num_observations);
  const int num_observations = many ? rule.num_states : rule.num_observations;
  if (takes_room(rule, num_observations)) return;
  RandomPomdpOptions trial;
  trial.num_states = rule.num_states;
  trial.num_actions = rule.num_actions;
  trial.num_observations = num_observations;
  trial.timing = read.timing.value_or(trial.timing);
  Rng rng({task.seed, 0, Role::problem});
  static_cast<void>(
      make_agent(read.options.agent, random_pomdp(trial, rng).model, read.options.settings));
}

double learning_cost(const Task& task) {
  return static_cast<double>(read_learning(task).options.steps) * 1000.0;
}

// One run. A program that failed several times is not started again for all that is left: it may
// hang, and every run would wait for it.
LearningRun play(const Pomdp& model, const RegretOracle& oracle, LearningTask& read,
                 const TaskContext& context) {
  const auto watch = [&](const LearningRun& /*so_far*/) { context.check(); };
  if (!read.process) return learn(model, oracle, read.options, watch);
  constexpr int kMostFailures = 3;
  using Count = std::shared_ptr<std::atomic<int>>;
  const Count failures = *context.shared->get<Count>(
      "failures of " + read.options.agent, [] { return std::make_shared<std::atomic<int>>(0); });
  if (failures->load() >= kMostFailures) {
    throw IoError(fmt::format("{}: not started, since {} runs of it have failed",
                              read.options.agent, kMostFailures));
  }
  read.process->watch = [&] { context.check(); };
  read.options.make = [&](const LearningOptions& run) {
    return AnyAgent(ProcessAgent(model, *read.process, run));
  };
  try {
    return learn(model, oracle, read.options, watch);
  } catch (const IoError&) {
    ++*failures;
    throw;
  }
}

ResultRows run_learning(const Task& task, std::uint32_t replication, const TaskContext& context) {
  LearningTask read = read_learning(task);
  read.options.replication = replication;
  const auto shared = oracle_of(task, read, context);
  const Pomdp& model = shared->instance.model;
  const RegretOracle& oracle = shared->oracle;
  const LearningRun run = play(model, oracle, read, context);
  ResultRows rows;
  for (std::size_t i = 0; i < run.checkpoints.size(); ++i) {
    const Checkpoint& at = run.checkpoints[i];
    const Regrets regret = regrets(oracle, at);
    rows.push_back(
        {words_for(task, read, shared->instance),
         fmt::format("{}x{}x{}", model.num_states(), model.num_actions(), model.num_observations()),
         std::int64_t{model.num_states()},
         std::int64_t{model.num_actions()},
         std::int64_t{model.num_observations()},
         read.named ? "named" : task.settings.text("generator", "default"),
         shared->instance.candidate,
         shared->instance.alpha,
         shared->instance.sigma,
         read.named ? Cell{} : Cell{read.instance.epsilon},
         read.floor,
         task.settings.text("agent", ""),
         at.step,
         at.reward,
         regret.realised,
         regret.expected,
         regret.realised_floor,
         regret.expected_floor,
         run.oracle_rewards[i] - at.reward,
         oracle.gain,
         oracle.gain_error,
         model_error(run, at.step, model),
         static_cast<std::int64_t>(run.episodes.size()),
         run.num_failures()});
  }
  return rows;
}

}  // namespace

TaskKind learning_kind() {
  return {"learning",
          "regret of an agent against steps, on a random instance or a named problem",
          with_instance_settings(kLearningSettings),
          kLearningColumns,
          "step",
          true,
          check_learning,
          learning_cost,
          run_learning,
          standings_report};
}

}  // namespace oas::detail
