#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"

namespace oas {

/// Tasks of very different lengths that go to whoever is free.
struct TaskFarm {
  /// What the tasks are called, in the order in which they are begun. Only rank 0 need know.
  std::vector<std::int64_t> tasks;
  /// Does a task on rank 0, for any of its threads.
  std::function<void(std::int64_t task)> here;
  /// Does it on another rank, for any of its threads; what came of it, as bytes.
  std::function<std::string(std::int64_t task)> away;
  /// On rank 0: what came of a task that was done away. One call at a time, but beside `here`.
  std::function<void(std::int64_t task, const std::string& bytes)> take;
  /// On rank 0, often, from any thread: true, and no further task is begun. May be empty.
  std::function<bool()> stop;
};

/// Does all tasks on all threads of all ranks of the team, if there is one; all ranks call it. A
/// task goes to the next thread that is free. Whatever throws on rank 0, or in `away`, ends the
/// work: tasks that were begun are finished, and rank 0 throws it, the first by time. On other
/// ranks it does not return: it throws Dismissed when rank 0 has come to its end.
void run_farm(const TaskFarm& farm, Parallelism parallelism);

}  // namespace oas
