#pragma once

#include <atomic>
#include <exception>

/// Work that can be stopped from outside, as by Ctrl-C in a program that is not ours to end. Nobody
/// passes anything along: whoever starts the work puts a flag over it (StopScope), loops that take
/// long look at it (check_interrupted), and parallel_for carries it to its threads.
namespace oas {

/// What stopped work throws. No error: results of the work are lost, and nothing else.
class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// Set by any thread, at any time.
using StopFlag = std::atomic<bool>;

namespace detail {
inline thread_local const StopFlag* stop_flag = nullptr;
}

/// What this thread works under; null: nobody will stop it.
[[nodiscard]] inline const StopFlag* current_stop_flag() { return detail::stop_flag; }

/// Throws Interrupted when the flag over this thread's work is set. Costs a load.
inline void check_interrupted() {
  const StopFlag* const flag = detail::stop_flag;
  if (flag != nullptr && flag->load(std::memory_order_relaxed)) [[unlikely]]
    throw Interrupted();
}

/// While it lives, this thread works under `flag`, which must outlive it; null: under none.
class StopScope {
 public:
  explicit StopScope(const StopFlag* flag) : before_(detail::stop_flag) {
    detail::stop_flag = flag;
  }
  ~StopScope() { detail::stop_flag = before_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const StopFlag* before_;
};

}  // namespace oas
