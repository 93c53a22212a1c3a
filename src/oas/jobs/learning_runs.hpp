#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "oas/jobs/learning_run.hpp"

/// Many runs of several agents in one model.
namespace oas {

/// A run that could not be completed, and why.
struct BrokenRun {
  LearningOptions options;
  std::string reason;
};

struct LearningRuns {
  std::vector<LearningRun> finished;  ///< both in the order of the tasks
  std::vector<BrokenRun> broken;
};

/// Called at every checkpoint with the run so far and its steps since the last call; by one thread
/// at a time.
using RunsProgress = std::function<void(const LearningRun& run, std::int64_t new_steps)>;

/// Runs all tasks, several at once, on all ranks of the team (core/task_farm.hpp; other ranks do
/// not return). What one of them throws breaks off that run alone, unless it is Interrupted. Same
/// results for any number of threads and ranks, times apart.
[[nodiscard]] LearningRuns learn_all(const Pomdp& model, const RegretOracle& oracle,
                                     std::span<const LearningOptions> tasks,
                                     const RunsProgress& progress = {},
                                     Parallelism parallelism = {});

/// The runs of one agent together.
struct AgentSummary {
  std::vector<double> expected_regret;  ///< one value a run, at its end
  std::vector<double> expected_regret_floor;
  std::vector<double> realised_regret;
  double mean_reward = 0.0;   ///< of a whole run
  double mean_seconds = 0.0;  ///< of a run
  double mean_episodes = 0.0;
  std::int64_t failures = 0;  ///< of all runs

  [[nodiscard]] std::size_t num_runs() const { return expected_regret.size(); }
};

[[nodiscard]] AgentSummary summarise_agent(const std::string& agent,
                                           std::span<const LearningRun> runs,
                                           const RegretOracle& oracle);

/// Failures of one kind in the runs of one agent: it may fail in every episode.
struct FailureGroup {
  std::string agent;
  Episode::Failure::Kind kind;
  int count = 0;
  std::uint32_t replication = 0;  ///< of the first one, as are the rest
  std::int64_t step = 0;          ///< at which its episode starts
  std::string message;
};

/// By agent, then by kind.
[[nodiscard]] std::vector<FailureGroup> group_failures(std::span<const LearningRun> runs);

}  // namespace oas
