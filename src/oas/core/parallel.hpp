#pragma once

#include <cstddef>
#include <functional>

namespace oas {

class Team;

/// How many threads a call may use; 0 means all cores. The result never depends on it: work is cut
/// into pieces by size alone and pieces are combined in their order. Where a function takes one it
/// is the same default everywhere, {}: all cores. Code that is itself called from a parallel loop
/// (agents, tasks of a study) says {1}.
///
/// And who else works on it: other processes, each with its threads (core/team.hpp); null: nobody.
/// Only functions that say so look at it, and then all processes of the team must call them.
struct Parallelism {
  int threads = 0;
  Team* team = nullptr;
};

/// So many threads, at least 1.
[[nodiscard]] std::size_t num_threads(Parallelism parallelism);

/// Calls task(i) for i = 0 … count-1, in any order, on up to `parallelism.threads` threads; returns
/// when all are done. The first exception (by index) is rethrown.
void parallel_for(std::size_t count, Parallelism parallelism,
                  const std::function<void(std::size_t)>& task);

}  // namespace oas
