#include "oas/jobs/learning_runs.hpp"

#include <map>
#include <mutex>
#include <numeric>
#include <utility>

#include "oas/core/interruption.hpp"
#include "oas/core/task_farm.hpp"
#include "oas/jobs/detail/saved_run.hpp"

namespace oas {

namespace {

// Runs of all ranks as they come in; `progress` is told of those of other ranks when they end.
class RunBook {
 public:
  RunBook(std::span<const LearningOptions> tasks, const RunsProgress& progress)
      : tasks_(tasks), progress_(progress), runs_(tasks.size()), reasons_(tasks.size()) {}

  // What one of them throws breaks off that run alone.
  void play(std::size_t i, const Pomdp& model, const RegretOracle& oracle) {
    std::int64_t reported = 0;
    try {
      runs_[i] = learn(model, oracle, tasks_[i], [&](const LearningRun& run) {
        tell(run, run.end().step - reported);
        reported = run.end().step;
      });
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      reasons_[i] = error.what();
    }
  }

  [[nodiscard]] std::string saved(std::size_t i) const {
    ByteWriter out;
    out.put_text(reasons_[i]);
    if (reasons_[i].empty()) detail::save_run(runs_[i], out);
    return out.take();
  }

  void load(std::size_t i, std::string_view bytes) {
    ByteReader in(bytes);
    reasons_[i] = in.get_text();
    if (!reasons_[i].empty()) return;
    runs_[i] = detail::load_run(tasks_[i], in);
    tell(runs_[i], runs_[i].end().step);
  }

  [[nodiscard]] LearningRuns finish() {
    LearningRuns result;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (reasons_[i].empty()) {
        result.finished.push_back(std::move(runs_[i]));
      } else {
        result.broken.push_back({tasks_[i], std::move(reasons_[i])});
      }
    }
    return result;
  }

 private:
  void tell(const LearningRun& run, std::int64_t new_steps) {
    if (!progress_) return;
    const std::lock_guard lock(mutex_);
    progress_(run, new_steps);
  }

  std::span<const LearningOptions> tasks_;
  const RunsProgress& progress_;
  std::mutex mutex_;
  std::vector<LearningRun> runs_;
  std::vector<std::string> reasons_;
};

}  // namespace

LearningRuns learn_all(const Pomdp& model, const RegretOracle& oracle,
                       std::span<const LearningOptions> tasks, const RunsProgress& progress,
                       Parallelism parallelism) {
  RunBook book(tasks, progress);
  const auto index = [](std::int64_t task) { return static_cast<std::size_t>(task); };
  TaskFarm farm;
  farm.tasks.resize(tasks.size());
  std::iota(farm.tasks.begin(), farm.tasks.end(), 0);
  farm.here = [&](std::int64_t task) { book.play(index(task), model, oracle); };
  farm.away = [&](std::int64_t task) {
    book.play(index(task), model, oracle);
    return book.saved(index(task));
  };
  farm.take = [&](std::int64_t task, const std::string& bytes) { book.load(index(task), bytes); };
  run_farm(farm, parallelism);
  return book.finish();
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
