#include "stop_signals.hpp"

#include <utility>

namespace oas::cli {

namespace {

// From the destructor to the thread, and blocked in this alone.
constexpr int kEnd = SIGUSR2;

}  // namespace

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    sigaddset(&signals_, signal);
  }
  // The thread is born with all of them blocked: the destructor may come before it has begun.
  sigset_t in_thread = signals_;
  sigaddset(&in_thread, kEnd);
  pthread_sigmask(SIG_BLOCK, &in_thread, &before_);
  thread_ = std::thread([this] { listen(); });
  if (sigismember(&before_, kEnd) == 1) return;
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, kEnd);
  pthread_sigmask(SIG_UNBLOCK, &end, nullptr);
}

StopSignals::~StopSignals() {
  ends_ = true;
  pthread_kill(thread_.native_handle(), kEnd);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopSignals::call(std::function<void()> stop) {
  const std::lock_guard lock(mutex_);
  stop_ = std::move(stop);
}

std::function<void()> StopSignals::taken() {
  const std::lock_guard lock(mutex_);
  return std::exchange(stop_, nullptr);
}

void StopSignals::listen() {
  sigset_t wanted = signals_;
  sigaddset(&wanted, kEnd);
  while (true) {
    int signal = 0;
    if (sigwait(&wanted, &signal) != 0) continue;
    if (ends_) return;
    if (sigismember(&signals_, signal) != 1) continue;
    if (const std::function<void()> stop = taken()) {
      stop();
    } else {
      pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
      raise(signal);
    }
  }
}

}  // namespace oas::cli
