#pragma once

#include <cstddef>
#include <functional>

namespace oas {

/// How many threads a call may use; 0 means all cores. The result never depends on it: work is cut
/// into pieces by size alone and pieces are combined in their order. Where a function takes one it
/// is the same default everywhere, {}: all cores. Code that is itself called from a parallel loop
/// (agents, tasks of a study) says {1}.
struct Parallelism {
  int threads = 0;
};

/// Calls task(i) for i = 0 … count-1, in any order, on up to `parallelism.threads` threads; returns
/// when all are done. The first exception (by index) is rethrown.
void parallel_for(std::size_t count, Parallelism parallelism,
                  const std::function<void(std::size_t)>& task);

}  // namespace oas
