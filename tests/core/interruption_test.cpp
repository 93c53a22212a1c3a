#include "oas/core/interruption.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "oas/core/parallel.hpp"

namespace oas {
namespace {

TEST(Interruption, WorkUnderNoFlagIsNotStopped) {
  EXPECT_EQ(current_stop_flag(), nullptr);
  EXPECT_NO_THROW(check_interrupted());
}

TEST(Interruption, ScopesEndWhereTheyBegan) {
  StopFlag outer{false};
  StopFlag inner{true};
  const StopScope scope(&outer);
  {
    const StopScope nested(&inner);
    EXPECT_THROW(check_interrupted(), Interrupted);
  }
  EXPECT_NO_THROW(check_interrupted());
  outer = true;
  EXPECT_THROW(check_interrupted(), Interrupted);
}

TEST(Interruption, ParallelLoopsCarryTheFlagToTheirThreads) {
  for (const int threads : {1, 4}) {
    StopFlag stop{false};
    const StopScope scope(&stop);
    std::atomic<int> done{0};
    const auto loop = [&] {
      parallel_for(1'000'000, {threads}, [&](std::size_t) {
        if (++done == 10) stop = true;
      });
    };
    EXPECT_THROW(loop(), Interrupted);
    EXPECT_LT(done, 1'000'000) << threads << " threads";
  }
}

// The threads of the parent are not there; waiting for them would last for ever.
TEST(Parallel, AForkedProcessHasThreadsOfItsOwn) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's allocator keeps a lock that a thread held when it was forked";
#endif
  const auto sum = [] {
    std::atomic<int> total{0};
    parallel_for(1000, {4}, [&](std::size_t i) { total += static_cast<int>(i); });
    return total.load();
  };
  ASSERT_EQ(sum(), 499'500);
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    alarm(60);
    std::exit(sum() == 499'500 ? 0 : 1);  // runs the destructors of the pool, too
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace oas
