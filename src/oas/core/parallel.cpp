#include "oas/core/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

#ifdef __SANITIZE_THREAD__

// The system's oneTBB is not instrumented: the thread sanitizer takes its hand-over of work for a
// race, and where it is told to ignore that, it ignores ours as well. Plain threads it understands.
template <class Task>
void run(std::size_t count, int threads, const Task& task) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) task(i);
  };
  const auto most = threads == 0 ? std::size_t{4} : static_cast<std::size_t>(threads);
  std::vector<std::jthread> team;
  for (std::size_t i = 1; i < std::min(most, count); ++i) team.emplace_back(work);
  work();
}

#else

template <class Task>
void run(std::size_t count, int threads, const Task& task) {
  // More threads than cores are rarely wise, but they are what was asked for; without this TBB
  // would refuse them with a warning on stderr.
  const tbb::global_control limit(
      tbb::global_control::max_allowed_parallelism,
      static_cast<std::size_t>(std::max(threads, tbb::info::default_concurrency())));
  tbb::task_arena arena(threads == 0 ? tbb::task_arena::automatic : threads);
  arena.execute([&] { tbb::parallel_for(std::size_t{0}, count, task); });
}

#endif

}  // namespace

void parallel_for(std::size_t count, Parallelism parallelism,
                  const std::function<void(std::size_t)>& task) {
  OAS_REQUIRE(parallelism.threads >= 0, "number of threads is {}", parallelism.threads);
  // Exceptions are kept per index: which of several failing tasks is reported must not depend on
  // scheduling.
  std::vector<std::exception_ptr> failures(count);
  const auto guarded = [&](std::size_t i) {
    try {
      task(i);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  };
  if (count <= 1 || parallelism.threads == 1) {
    for (std::size_t i = 0; i < count; ++i) guarded(i);
  } else {
    run(count, parallelism.threads, guarded);
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace oas
