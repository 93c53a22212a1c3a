#pragma once

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace oas::cli {

/// Turns the signals by which people and systems end a program (SIGINT, SIGTERM) into a call, so
/// that what is under way can be finished; the second one ends the program as it would have. A
/// signal that is ignored (nohup) stays so. To be made before any other thread, since threads take
/// over what is blocked.
class StopSignals {
 public:
  StopSignals();
  /// From now on they end the program again.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The first one calls `stop`, in a thread of its own; it must return soon. Until this is said,
  /// signals end the program.
  void call(std::function<void()> stop);

 private:
  void listen();
  [[nodiscard]] std::function<void()> taken();

  sigset_t signals_ = {};
  sigset_t before_ = {};
  std::mutex mutex_;
  std::function<void()> stop_;  // empty: not said, or called
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace oas::cli
