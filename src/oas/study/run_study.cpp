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
#include <new>
#include <numeric>
#include <thread>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/task_farm.hpp"
#include "oas/core/team.hpp"
#include "oas/core/version.hpp"
#include "oas/study/kinds.hpp"
#include "oas/study/unit_bytes.hpp"

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

// What a unit throws becomes its message, unless somebody wants it to end.
UnitResult run_unit(const Study& study, std::int64_t number, const TaskContext& context) {
  const Unit unit = study.unit(number);
  const Task& task = study.tasks[unit.task];
  UnitResult result;
  result.number = number;
  const double start = clock_seconds();
  try {
    result.rows = find_task_kind(task.kind).run(task, unit.replication, context);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::bad_alloc&) {
    result.failed = true;
    result.message = "there is not enough memory for this";
  } catch (const std::exception& error) {
    result.failed = true;
    result.message = error.what();
  }
  result.seconds = clock_seconds() - start;
  return result;
}

// The first replication of all tasks before the second, and within one the longest first.
class UnitOrder {
 public:
  explicit UnitOrder(const Study& study) : study_(study) {
    for (const Task& task : study.tasks) costs_.push_back(find_task_kind(task.kind).cost(task));
  }

  [[nodiscard]] double cost(std::int64_t number) const { return costs_[study_.unit(number).task]; }

  void sort(std::vector<std::int64_t>& numbers) const {
    std::stable_sort(numbers.begin(), numbers.end(), [&](std::int64_t a, std::int64_t b) {
      const Unit one = study_.unit(a);
      const Unit other = study_.unit(b);
      if (one.replication != other.replication) return one.replication < other.replication;
      return costs_[one.task] > costs_[other.task];
    });
  }

 private:
  const Study& study_;
  std::vector<double> costs_;  // [task]
};

class StudyRunner {
 public:
  StudyRunner(ResultStore& store, const StudyRunOptions& options)
      : store_(store), study_(store.study()), options_(options), order_(store.study()) {
    const std::vector<std::int64_t> there = store.finished();
    for (std::int64_t number = 0; number < study_.num_units(); ++number) {
      const bool wanted =
          !options.units || std::count(options.units->begin(), options.units->end(), number) > 0;
      if (wanted && !std::binary_search(there.begin(), there.end(), number)) {
        pending_.push_back(number);
      }
    }
    result_.skipped = static_cast<std::int64_t>(there.size());
    for (const std::int64_t number : pending_) total_cost_ += order_.cost(number);
    order_.sort(pending_);
  }

  StudyRun run() {
    const Parallelism parallelism = options_.parallelism;
    const Team* const team = parallelism.team;
    session_.started = fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(std::time(nullptr)));
    session_.threads =
        static_cast<int>(num_threads(parallelism)) * (team != nullptr ? team->size() : 1);
    session_.machine = machine_name();
    session_.version = version();
    context_.stop = [this] { return stopping(); };
    context_.oracles = options_.oracles;
    context_.guests = options_.guests;
    TaskFarm farm;  // each thread takes the next unit when it is free: they differ much in length
    farm.tasks = pending_;
    farm.here = [this](std::int64_t number) { run_here(number); };
    farm.take = [this](std::int64_t, const std::string& bytes) { record(unit_of_bytes(bytes)); };
    farm.stop = [this] { return stopping(); };
    run_farm(farm, parallelism);
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
  [[nodiscard]] bool stopping() const {
    return stopped_.load(std::memory_order_relaxed) || (options_.stop && options_.stop());
  }

  void run_here(std::int64_t number) {
    try {
      record(run_unit(study_, number, context_));
    } catch (const StopRequested&) {  // it will run again
    } catch (...) {
      stopped_ = true;
      throw;
    }
  }

  void record(const UnitResult& result) {
    const std::lock_guard lock(mutex_);
    store_.record(result);
    count(result);
    record_session();
  }

  // After every unit, so that a session that is killed is known too.
  void record_session() {
    session_.seconds = clock_seconds() - start_;
    session_.units = result_.finished;
    store_.record(session_);
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
    done_cost_ += order_.cost(result.number);
    if (options_.progress) {
      options_.progress({result_.skipped + result_.finished + result_.failed,
                         result_.skipped + static_cast<std::int64_t>(pending_.size()),
                         done_cost_ / total_cost_});
    }
  }

  ResultStore& store_;
  const Study& study_;
  const StudyRunOptions& options_;
  TaskContext context_;
  UnitOrder order_;
  std::vector<std::int64_t> pending_;
  double total_cost_ = 0.0;
  std::atomic<bool> stopped_{false};
  double start_ = clock_seconds();
  std::mutex mutex_;  // guards all below and the store
  Session session_;
  double done_cost_ = 0.0;
  std::int64_t first_failed_ = 0;
  StudyRun result_;
};

std::string csv_of(const ResultRows& rows) {
  std::string text;
  for (const ResultRow& row : rows) text += to_csv(row);
  return text;
}

}  // namespace

std::vector<std::int64_t> units_of_part(const Study& study, int part, int parts) {
  OAS_REQUIRE(1 <= part && part <= parts, "part {} of {}: there is no such part", part, parts);
  std::vector<std::int64_t> all(static_cast<std::size_t>(study.num_units()));
  std::iota(all.begin(), all.end(), 0);
  UnitOrder(study).sort(all);
  std::vector<std::int64_t> mine;
  for (auto i = static_cast<std::size_t>(part - 1); i < all.size();
       i += static_cast<std::size_t>(parts)) {
    mine.push_back(all[i]);
  }
  std::sort(mine.begin(), mine.end());
  return mine;
}

StudyRun run_study(ResultStore& store, const StudyRunOptions& options) {
  return StudyRunner(store, options).run();
}

void help_study(const Study& study, Parallelism parallelism, const OracleCache& oracles) {
  TaskContext context;
  context.oracles = oracles;
  TaskFarm farm;
  farm.away = [&](std::int64_t number) { return unit_bytes(run_unit(study, number, context)); };
  run_farm(farm, parallelism);
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
