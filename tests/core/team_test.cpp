#include "oas/core/team.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <new>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/task_farm.hpp"
#include "support/thread_team.hpp"

namespace oas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;
using testing::ThrowsMessage;
using testing_support::run_team;
using testing_support::ThreadTeam;

constexpr int kSizes[] = {1, 2, 3, 5, 8, 13};

TEST(Team, ABroadcastReachesAllRanks) {
  for (const int size : kSizes) {
    std::atomic<int> heard = 0;
    EXPECT_TRUE(run_team(size, [&](ThreadTeam& team) {
      heard += team.broadcast(team.leads() ? "hear, hear" : "") == "hear, hear";
    }));
    EXPECT_EQ(heard, size);
  }
}

TEST(Team, OrdersComeInTheirOrderAndThenDismissal) {
  std::atomic<int> right = 0;
  EXPECT_TRUE(run_team(5, [&](ThreadTeam& team) {
    if (team.leads()) {
      team.give_order("one");
      team.give_order("two");
      return;
    }
    right += team.order() == "one";
    right += team.order() == "two";
    EXPECT_THROW(static_cast<void>(team.order()), Dismissed);
    throw Dismissed();
  }));
  EXPECT_EQ(right, 8);
}

TEST(Team, GatheringGivesSharesInTheOrderOfRanks) {
  for (const int size : kSizes) {
    std::string all;
    EXPECT_TRUE(run_team(size, [&](ThreadTeam& team) {
      gather(
          team, [&] { return std::string(1, static_cast<char>('a' + team.rank())); },
          [&](const std::string& bytes) { all += bytes; });
    }));
    EXPECT_EQ(all, std::string("abcdefghijklm").substr(0, static_cast<std::size_t>(size)));
  }
}

TEST(Team, TheFirstShareThatFailsIsReportedWhicheverIsReadyFirst) {
  const auto failing = [](ThreadTeam& team) {
    gather(
        team,
        [&]() -> std::string {
          if (team.rank() >= 2) throw ParseError("log.csv", team.rank(), 3, "is not a number");
          return "x";
        },
        [](const std::string&) {});
  };
  EXPECT_THAT([&] { run_team(5, failing); },
              ThrowsMessage<InvalidArgument>(
                  StartsWith("log.csv:2:3: is not a number (found by rank 2 on ")));
}

TEST(Team, AFailureOfOneMachineNamesIt) {
  const auto no_memory = [](ThreadTeam& team) {
    gather(
        team,
        [&]() -> std::string {
          if (team.rank() == 1) throw std::bad_alloc();
          return {};
        },
        [](const std::string&) {});
  };
  EXPECT_THAT([&] { run_team(3, no_memory); },
              ThrowsMessage<IoError>(testing::AllOf(HasSubstr("rank 1 on "), HasSubstr("memory"))));
}

TEST(Team, WhoLeavesAnExchangeByAnExceptionBreaksTheTeam) {
  run_team(1, [](ThreadTeam& team) {
    { const Exchange exchange(team); }
    EXPECT_FALSE(team.broken());
    try {
      const Exchange exchange(team);
      throw IoError("x");
    } catch (const IoError&) {
    }
    EXPECT_TRUE(team.broken());
  });
}

TEST(ShareOf, DealsOutAllItemsInTheirOrder) {
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{},
                                                 {5},
                                                 {0, 0, 0},
                                                 {1, 1, 1, 1, 1, 1},
                                                 {1000, 1, 1, 1},
                                                 {1, 1, 1, 1000}}) {
    for (const int ranks : kSizes) {
      std::size_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Stretch own = share_of(sizes, rank, ranks);
        EXPECT_EQ(own.first, next);
        EXPECT_LE(own.first, own.end);
        next = own.end;
      }
      EXPECT_EQ(next, sizes.size());
    }
  }
}

TEST(ShareOf, SharesAreOfAboutEqualSize) {
  std::vector<std::int64_t> sizes(1000);
  std::iota(sizes.begin(), sizes.end(), 1);
  const double fair = 500.5 * 1000.0 / 8.0;
  for (int rank = 0; rank < 8; ++rank) {
    const Stretch own = share_of(sizes, rank, 8);
    const double size = std::accumulate(sizes.begin() + static_cast<std::ptrdiff_t>(own.first),
                                        sizes.begin() + static_cast<std::ptrdiff_t>(own.end), 0.0);
    EXPECT_NEAR(size, fair, 1001.0);
  }
}

// Tasks 0 … 99, whose results are their squares.
TaskFarm squares(std::vector<std::int64_t>& results) {
  TaskFarm farm;
  farm.tasks.resize(results.size());
  std::iota(farm.tasks.begin(), farm.tasks.end(), 0);
  farm.here = [&results](std::int64_t task) {
    results[static_cast<std::size_t>(task)] = task * task;
  };
  farm.away = [](std::int64_t task) {
    ByteWriter out;
    out.put(task * task);
    return out.take();
  };
  farm.take = [&results](std::int64_t task, const std::string& bytes) {
    results[static_cast<std::size_t>(task)] = ByteReader(bytes).get<std::int64_t>();
  };
  return farm;
}

TEST(TaskFarm, DoesEveryTaskOnce) {
  for (const int size : kSizes) {
    for (const int threads : {1, 3}) {
      std::vector<std::int64_t> results(100, -1);
      EXPECT_TRUE(run_team(size, [&](ThreadTeam& team) {
        std::vector<std::int64_t> others(100, -1);
        run_farm(squares(team.leads() ? results : others), {threads, &team});
      }));
      for (std::int64_t i = 0; i < 100; ++i) {
        ASSERT_EQ(results[static_cast<std::size_t>(i)], i * i) << size << ' ' << threads;
      }
    }
  }
}

TEST(TaskFarm, WorksWithoutATeam) {
  std::vector<std::int64_t> results(100, -1);
  run_farm(squares(results), {2});
  EXPECT_EQ(results[99], 99 * 99);
}

TEST(TaskFarm, AFailureElsewhereEndsTheWorkAndComesOut) {
  const auto failing = [](ThreadTeam& team) {
    std::vector<std::int64_t> results(1000);
    TaskFarm farm = squares(results);
    farm.away = [](std::int64_t) -> std::string { throw InvalidArgument("cannot be"); };
    farm.here = [](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
    run_farm(farm, {1, &team});
  };
  EXPECT_THAT(
      [&] { run_team(3, failing); },
      ThrowsMessage<InvalidArgument>(MatchesRegex("cannot be \\(found by rank [12] on .*")));
}

TEST(TaskFarm, StopsWhenItIsTold) {
  std::atomic<int> done = 0;
  EXPECT_TRUE(run_team(3, [&](ThreadTeam& team) {
    TaskFarm farm;
    farm.tasks.assign(100'000, 7);
    farm.here = [&](std::int64_t) { ++done; };
    farm.away = [](std::int64_t) { return std::string(); };
    farm.take = [&](std::int64_t, const std::string&) { ++done; };
    farm.stop = [&] { return done >= 10; };
    run_farm(farm, {1, &team});
  }));
  EXPECT_GE(done, 10);
  EXPECT_LT(done, 20);
}

}  // namespace
}  // namespace oas
