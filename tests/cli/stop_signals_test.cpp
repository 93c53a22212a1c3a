#include "stop_signals.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

namespace oas::cli {
namespace {

// Where a program ends at once (an address is taken, say), the destructor meets a thread that has
// not begun to listen. What it sends then must not end the program.
TEST(StopSignals, MayEndBeforeTheirThreadHasBegun) {
  for (int i = 0; i < 3000; ++i) const StopSignals signals;
}

TEST(StopSignals, LeaveTheMaskOfTheThreadAsItWas) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  { const StopSignals signals; }
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR2}) {
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
}

TEST(StopSignals, TheFirstOneCalls) {
  std::atomic<int> calls = 0;
  StopSignals signals;
  signals.call([&] { ++calls; });
  kill(getpid(), SIGTERM);
  while (calls == 0) std::this_thread::yield();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace oas::cli
