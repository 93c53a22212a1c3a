#include "oas/core/parallel.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "oas/core/contracts.hpp"

namespace oas {
namespace {

using testing::StrEq;
using testing::ThrowsMessage;

constexpr int kThreadCounts[] = {0, 1, 2, 3, 16};

TEST(ParallelFor, CallsEveryIndexOnce) {
  for (const int threads : kThreadCounts) {
    for (const std::size_t count : {0U, 1U, 2U, 7U, 1000U}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(count, {threads}, [&](std::size_t i) { ++calls[i]; });
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(calls[i], 1) << threads << ' ' << i;
    }
  }
}

TEST(ParallelFor, RethrowsTheFirstExceptionByIndex) {
  for (const int threads : kThreadCounts) {
    std::atomic<int> calls = 0;
    const auto task = [&](std::size_t i) {
      ++calls;
      if (i % 10 != 3) return;
      // The lowest failing index fails last in time.
      if (i == 3) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      throw std::runtime_error(std::to_string(i));
    };
    EXPECT_THAT([&] { parallel_for(100, {threads}, task); },
                ThrowsMessage<std::runtime_error>(StrEq("3")))
        << threads;
    EXPECT_EQ(calls, 100) << "all tasks are done when the exception comes out";
  }
}

TEST(ParallelFor, AFailureInASingleTaskComesOutToo) {
  EXPECT_THROW(parallel_for(1, {0}, [](std::size_t) { throw std::logic_error("x"); }),
               std::logic_error);
}

TEST(ParallelFor, OneThreadStaysOnTheCallersThread) {
  std::set<std::thread::id> ids;
  parallel_for(50, {1}, [&](std::size_t) { ids.insert(std::this_thread::get_id()); });
  EXPECT_THAT(ids, testing::ElementsAre(std::this_thread::get_id()));
}

TEST(ParallelFor, KeepsToTheNumberOfThreads) {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  parallel_for(200, {2}, [&](std::size_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_LE(ids.size(), 2U);
}

TEST(ParallelFor, Nests) {
  std::vector<std::atomic<int>> calls(64);
  parallel_for(8, {2}, [&](std::size_t i) {
    parallel_for(8, {2}, [&](std::size_t j) { ++calls[8 * i + j]; });
  });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
}

// The library prints nothing, also where more threads are asked for than the machine has.
TEST(ParallelFor, PrintsNothing) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  for (const int threads : {0, 2, 3, 16, 64}) parallel_for(100, {threads}, [](std::size_t) {});
  const std::string errors = testing::internal::GetCapturedStderr();
  const std::string output = testing::internal::GetCapturedStdout();
  EXPECT_EQ(errors, "");
  EXPECT_EQ(output, "");
}

TEST(ParallelFor, RefusesANegativeNumberOfThreads) {
  EXPECT_THAT([] { parallel_for(1, {-2}, [](std::size_t) {}); },
              ThrowsMessage<InvalidArgument>(StrEq("number of threads is -2")));
}

#ifdef __SANITIZE_THREAD__
// Otherwise all that passes under the thread sanitizer says nothing.
TEST(ParallelForDeathTest, TheSanitizerSeesARace) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto race = [] {
    int shared = 0;
    std::atomic<int> inside{0};  // relaxed: both tasks run at once, and nothing orders them
    parallel_for(2, {2}, [&](std::size_t) {
      inside.fetch_add(1, std::memory_order_relaxed);
      while (inside.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
      ++shared;
    });
  };
  EXPECT_DEATH(race(), "data race");
}
#endif

}  // namespace
}  // namespace oas
