#include "stop_signals.hpp"

#include <utility>

namespace oas::cli {

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    sigaddset(&signals_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  thread_ = std::thread([this] { listen(); });
}

StopSignals::~StopSignals() {
  ends_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR2);  // it waits for that
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
  sigaddset(&wanted, SIGUSR2);  // the destructor's; blocked in this thread alone
  pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
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
