#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace oas::detail {

/// Threads that stay alive over the sweeps of one solve, so that a sweep costs a wake-up and no
/// allocation. for_each(task) calls task(i) for i = 0 … count-1 in any order and returns when all
/// are done; tasks must not throw.
class WorkerTeam {
 public:
  /// `threads` >= 1 counts the caller; with 1 no thread is started. Where the system has no room
  /// for so many, the caller works alone.
  WorkerTeam(int threads, std::size_t count) : count_(count) {
    const std::size_t most = std::min(static_cast<std::size_t>(threads), count);
    try {
      for (std::size_t i = 1; i < most; ++i) helpers_.emplace_back([this] { serve(); });
    } catch (const std::exception&) {
      dismiss();
    }
  }
  ~WorkerTeam() { dismiss(); }
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  template <class Task>
  void for_each(const Task& task) {
    if (helpers_.empty()) {
      for (std::size_t i = 0; i < count_; ++i) task(i);
      return;
    }
    task_ = &task;
    call_ = [](const void* erased, std::size_t i) { (*static_cast<const Task*>(erased))(i); };
    next_ = 0;
    busy_ = static_cast<int>(helpers_.size());
    start();
    work();
    for (int left = busy_; left != 0; left = busy_) busy_.wait(left);
  }

 private:
  void dismiss() {
    stop_ = true;
    start();
    for (std::thread& helper : helpers_) helper.join();
    helpers_.clear();
  }
  void start() {
    ++round_;
    round_.notify_all();
  }
  void work() {
    for (std::size_t i = next_++; i < count_; i = next_++) call_(task_, i);
  }
  void serve() {
    for (unsigned seen = 0;;) {
      round_.wait(seen);
      seen = round_;
      if (stop_) return;
      work();
      if (--busy_ == 0) busy_.notify_one();
    }
  }

  std::size_t count_;
  const void* task_ = nullptr;
  void (*call_)(const void*, std::size_t) = nullptr;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<unsigned> round_ = 0;
  std::atomic<int> busy_ = 0;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> helpers_;  // last: they use the members above
};

/// The number of threads a Parallelism allows on this machine.
[[nodiscard]] inline int resolve_threads(int threads) {
  if (threads > 0) return threads;
  const unsigned cores = std::thread::hardware_concurrency();
  return cores == 0 ? 1 : static_cast<int>(cores);
}

}  // namespace oas::detail
