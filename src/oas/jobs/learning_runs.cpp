#include "oas/jobs/learning_runs.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace oas {

LearningRuns learn_all(const Pomdp& model, const RegretOracle& oracle,
                       std::span<const LearningOptions> tasks, const RunsProgress& progress,
                       Parallelism parallelism) {
  std::mutex mutex;
  std::vector<LearningRun> runs(tasks.size());
  std::vector<std::string> reasons(tasks.size());
  const auto play = [&](std::size_t i) {
    std::int64_t reported = 0;
    runs[i] = learn(model, oracle, tasks[i], [&](const LearningRun& run) {
      if (!progress) return;
      const std::lock_guard lock(mutex);
      progress(run, run.end().step - reported);
      reported = run.end().step;
    });
  };
  parallel_for(tasks.size(), parallelism, [&](std::size_t i) {
    try {
      play(i);
    } catch (const std::exception& error) {
      reasons[i] = error.what();
    }
  });
  LearningRuns result;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (reasons[i].empty()) {
      result.finished.push_back(std::move(runs[i]));
    } else {
      result.broken.push_back({tasks[i], std::move(reasons[i])});
    }
  }
  return result;
}

AgentSummary summarise_agent(const std::string& agent, std::span<const LearningRun> runs,
                             const RegretOracle& oracle) {
  AgentSummary summary;
  std::size_t episodes = 0;
  for (const LearningRun& run : runs) {
    if (run.options.agent != agent) continue;
    const Regrets regret = regrets(oracle, run.end());
    summary.expected_regret.push_back(regret.expected);
    summary.expected_regret_floor.push_back(regret.expected_floor);
    summary.realised_regret.push_back(regret.realised);
    summary.mean_reward += run.end().reward;
    summary.mean_seconds += run.seconds;
    episodes += run.episodes.size();
    summary.failures += run.num_failures();
  }
  if (summary.num_runs() == 0) return summary;
  const auto n = static_cast<double>(summary.num_runs());
  summary.mean_reward /= n;
  summary.mean_seconds /= n;
  summary.mean_episodes = static_cast<double>(episodes) / n;
  return summary;
}

std::vector<FailureGroup> group_failures(std::span<const LearningRun> runs) {
  std::map<std::pair<std::string, Episode::Failure::Kind>, FailureGroup> groups;
  for (const LearningRun& run : runs) {
    for (const Episode& episode : run.episodes) {
      if (!episode.failure) continue;
      const Episode::Failure& failure = *episode.failure;
      auto [group, first] = groups.try_emplace({run.options.agent, failure.kind});
      if (first) {
        group->second = {run.options.agent,       failure.kind,  0,
                         run.options.replication, episode.start, failure.message};
      }
      ++group->second.count;
    }
  }
  std::vector<FailureGroup> list;
  for (auto& [key, group] : groups) list.push_back(std::move(group));
  return list;
}

}  // namespace oas
