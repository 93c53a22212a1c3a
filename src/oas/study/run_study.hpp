#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/jobs/oracle_cache.hpp"
#include "oas/study/guest_estimators.hpp"
#include "oas/study/result_store.hpp"
#include "oas/study/study.hpp"

namespace oas {

/// How far a study is.
struct StudyProgress {
  std::int64_t done = 0;  ///< units, those of earlier runs included
  std::int64_t total = 0;
  double work_done = 0.0;  ///< share of the work of this run, in [0, 1]
};

struct StudyRunOptions {
  Parallelism parallelism;
  /// Where oracles that were planned before are found and new ones kept.
  OracleCache oracles;
  /// Asked often, from any thread: true ends the run within a moment; finished units stay.
  std::function<bool()> stop;
  /// Only these units, where given.
  std::optional<std::vector<std::int64_t>> units;
  GuestEstimators guests;  ///< that tasks may name; of rank 0 only
  /// Told after each unit, one call at a time.
  std::function<void(const StudyProgress&)> progress;
};

/// What a run came to.
struct StudyRun {
  enum class Status { complete, stopped, failed };
  Status status = Status::stopped;
  std::int64_t skipped = 0;    ///< units that were there before
  std::int64_t finished = 0;   ///< in this run
  std::int64_t failed = 0;     ///< in this run; stored with their messages
  std::int64_t remaining = 0;  ///< still to do, failed ones included
  std::string first_failure;   ///< "task …: message" of the failed unit of lowest number
};

/// The units of part `part` (from 1) of `parts`, for as many machines that know nothing of each
/// other: dealt out one by one in the order in which run_study() takes them, so that parts are
/// alike in work, and each is a smaller study of all tasks. Throws InvalidArgument unless
/// 1 <= part <= parts.
[[nodiscard]] std::vector<std::int64_t> units_of_part(const Study& study, int part, int parts);

/// Runs all units of the store's study (or those of the options) that are not there yet, the first
/// replication of all tasks before the second, and within one the longest first; so a study that is
/// stopped is a smaller one of all tasks. Stores each unit when it is finished. A unit that throws
/// is recorded as failed and the others go on; failed units are tried again by the next run. What
/// is stored depends on the study alone, not on the threads and ranks, nor on how often the run was
/// interrupted. Throws what the store throws. With a team (core/task_farm.hpp) rank 0 calls it, and
/// the others help_study().
[[nodiscard]] StudyRun run_study(ResultStore& store, const StudyRunOptions& options = {});

/// Another rank's part: runs units of the same study as it is told to. Throws Dismissed at the end.
void help_study(const Study& study, Parallelism parallelism, const OracleCache& oracles = {});

/// Runs one unit again and compares its rows with those stored, as CSV text.
struct Replay {
  bool equal = false;
  std::string stored;
  std::string again;
};
[[nodiscard]] Replay replay_unit(const ResultStore& store, std::int64_t number);

}  // namespace oas
