#include "oas/study/run_study.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/version.hpp"
#include "oas/study/kinds.hpp"

namespace oas {

namespace {

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// "AMD EPYC 7B13, 2 cores".
std::string machine_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string name = "unknown processor";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    name = line.substr(std::min(line.find(": ") + 2, line.size()));
    break;
  }
  return fmt::format("{}, {} cores", name, std::thread::hardware_concurrency());
}

class StudyRunner {
 public:
  StudyRunner(ResultStore& store, const StudyRunOptions& options)
      : store_(store), study_(store.study()), options_(options) {
    const std::vector<std::int64_t> there = store.finished();
    for (std::int64_t number = 0; number < study_.num_units(); ++number) {
      const bool wanted =
          !options.units || std::count(options.units->begin(), options.units->end(), number) > 0;
      if (wanted && !std::binary_search(there.begin(), there.end(), number)) {
        pending_.push_back(number);
      }
    }
    result_.skipped = static_cast<std::int64_t>(there.size());
    for (const Task& task : study_.tasks) costs_.push_back(find_task_kind(task.kind).cost(task));
    for (const std::int64_t number : pending_) total_cost_ += cost(number);
    std::stable_sort(pending_.begin(), pending_.end(),
                     [&](std::int64_t a, std::int64_t b) { return cost(a) > cost(b); });
  }

  StudyRun run() {
    const int threads = options_.parallelism.threads > 0
                            ? options_.parallelism.threads
                            : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    session_.started = fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(std::time(nullptr)));
    session_.threads = threads;
    session_.machine = machine_name();
    session_.version = version();
    context_.stop = [this] { return stopping(); };
    // Each thread takes the next unit when it is free: units differ much in length.
    parallel_for(static_cast<std::size_t>(threads), {threads}, [&](std::size_t) { work(); });
    if (store_failure_) std::rethrow_exception(store_failure_);
    result_.remaining = static_cast<std::int64_t>(pending_.size()) - result_.finished;
    if (result_.failed > 0) {
      result_.status = StudyRun::Status::failed;
    } else {
      result_.status =
          result_.remaining == 0 ? StudyRun::Status::complete : StudyRun::Status::stopped;
    }
    if (result_.finished + result_.failed > 0) record_session();
    return std::move(result_);
  }

 private:
  [[nodiscard]] double cost(std::int64_t number) const { return costs_[study_.unit(number).task]; }

  [[nodiscard]] bool stopping() const {
    return stopped_.load(std::memory_order_relaxed) || (options_.stop && options_.stop());
  }

  void work() {
    while (!stopping()) {
      const std::size_t next = next_.fetch_add(1);
      if (next >= pending_.size()) return;
      UnitResult result;
      try {
        result = run_unit(pending_[next]);
      } catch (const StopRequested&) {
        return;
      }
      const std::lock_guard lock(mutex_);
      try {
        store_.record(result);
        count(result);
        record_session();
      } catch (...) {
        if (!store_failure_) store_failure_ = std::current_exception();
        stopped_ = true;
      }
    }
  }

  // After every unit, so that a session that is killed is known too.
  void record_session() {
    session_.seconds = clock_seconds() - start_;
    session_.units = result_.finished;
    store_.record(session_);
  }

  UnitResult run_unit(std::int64_t number) {
    const Unit unit = study_.unit(number);
    const Task& task = study_.tasks[unit.task];
    UnitResult result;
    result.number = number;
    const double start = clock_seconds();
    try {
      result.rows = find_task_kind(task.kind).run(task, unit.replication, context_);
    } catch (const std::exception& error) {
      result.failed = true;
      result.message = error.what();
    }
    result.seconds = clock_seconds() - start;
    return result;
  }

  void count(const UnitResult& result) {
    if (result.failed) {
      ++result_.failed;
      if (result_.first_failure.empty() || result.number < first_failed_) {
        first_failed_ = result.number;
        const Unit unit = study_.unit(result.number);
        result_.first_failure =
            fmt::format("task {} ({}, replication {}): {}", result.number,
                        study_.tasks[unit.task].name, unit.replication, result.message);
      }
    } else {
      ++result_.finished;
    }
    done_cost_ += cost(result.number);
    if (options_.progress) {
      options_.progress({result_.skipped + result_.finished + result_.failed, study_.num_units(),
                         done_cost_ / total_cost_});
    }
  }

  ResultStore& store_;
  const Study& study_;
  const StudyRunOptions& options_;
  TaskContext context_;
  std::vector<double> costs_;  // [task]
  std::vector<std::int64_t> pending_;
  double total_cost_ = 0.0;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stopped_{false};
  double start_ = clock_seconds();
  std::mutex mutex_;  // guards all below and the store
  Session session_;
  double done_cost_ = 0.0;
  std::int64_t first_failed_ = 0;
  StudyRun result_;
  std::exception_ptr store_failure_;
};

std::string csv_of(const ResultRows& rows) {
  std::string text;
  for (const ResultRow& row : rows) text += to_csv(row);
  return text;
}

}  // namespace

StudyRun run_study(ResultStore& store, const StudyRunOptions& options) {
  return StudyRunner(store, options).run();
}

Replay replay_unit(const ResultStore& store, std::int64_t number) {
  const Study& study = store.study();
  const Unit unit = study.unit(number);
  const UnitResult stored = store.unit(number);
  OAS_REQUIRE(!stored.failed, "task {} failed: {}", number, stored.message);
  const Task& task = study.tasks[unit.task];
  Replay replay;
  replay.stored = csv_of(stored.rows);
  replay.again = csv_of(find_task_kind(task.kind).run(task, unit.replication, {}));
  replay.equal = replay.stored == replay.again;
  return replay;
}

}  // namespace oas
