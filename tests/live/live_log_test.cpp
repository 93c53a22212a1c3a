#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/live_fleet.hpp"
#include "oas/core/contracts.hpp"
#include "oas/logs/byte_source.hpp"
#include "oas/logs/log_files.hpp"
#include "oas/problems/named.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using test::ask;

std::string text_of(const std::string& folder) {
  const std::unique_ptr<ByteSource> bytes = open_bytes(folder);
  std::string text(1 << 16, '\0');
  std::size_t size = 0;
  while (const std::size_t got = bytes->read(text.data() + size, 7)) size += got;
  text.resize(size);
  return text;
}

LiveOptions uniform(const std::string& folder) {
  LiveOptions options;
  options.journal = folder;
  options.agent = "uniform";
  return options;
}

TEST(LiveLogTest, ARowForEveryStepThatWasObserved) {
  const test::TemporaryDirectory folder;
  const Pomdp model = make_problem("machine-maintenance");
  const LiveOptions options = uniform(folder.file("j"));
  {
    LiveAgent agent(model, options);
    ask(agent, {{"call", "observe"},
                {"unit", "a,b"},
                {"step", 0},
                {"observation", 1},
                {"action", 1},
                {"propensity", 0.25}});
    ask(agent, {{"call", "observe"},
                {"unit", "c"},
                {"step", 0},
                {"observation", nullptr},
                {"action", 0},
                {"propensity", 1}});
    ask(agent, {{"call", "act"}, {"unit", "a,b"}, {"step", 1}});
    ask(agent, {{"call", "end"}, {"unit", "c"}, {"step", 1}});
    ask(agent, {{"call", "observe"},
                {"unit", "c"},
                {"step", 0},
                {"observation", 0},
                {"action", 0},
                {"propensity", 0.5}});
    // While the agent runs.
    EXPECT_EQ(
        text_of(options.journal),
        "# oas-log/1 timing=" + std::string(model.timing() == Timing::after ? "after" : "before") +
            "\nrun,action,observation,propensity\n"
            "\"a,b\",1,1,0.25\nc,0,,1\nc run 2,0,0,0.5\n");
    ask(agent,
        {{"call", "observe"}, {"unit", "c"}, {"step", 1}, {"observation", 0}, {"action", 0}});
  }
  EXPECT_THAT(text_of(options.journal),
              testing::HasSubstr("\nrun,action,observation\n\"a,b\",1,1\n"));
  const std::vector<std::string> logs = {options.journal};
  LogFiles files(model, logs);
  EXPECT_EQ(files.cannot_rewind(), "");
  for (int again = 0; again < 2; ++again) {
    RowBlock rows;
    ASSERT_TRUE(files.next(rows));
    EXPECT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows.run_starts.size(), 3u);
    EXPECT_FALSE(files.next(rows));
    files.rewind();
  }
  EXPECT_THROW(static_cast<void>(open_bytes(folder.path().string())), InvalidArgument);
}

// Units far apart in the journal are sorted, though that is not seen in its first rows.
TEST(LiveLogTest, UnitsAreInterleavedAnywhere) {
  const test::TemporaryDirectory folder;
  const Pomdp model = make_problem("machine-maintenance");
  LiveOptions options = uniform(folder.file("j"));
  options.sync = LiveSync::never;
  std::int64_t rows_of_first = 0;
  {
    LiveAgent agent(model, options);
    for (const char* unit : {"a", "b", "a"}) {
      const std::int64_t begin = unit[0] == 'a' ? rows_of_first : 0;
      for (std::int64_t t = begin; t < begin + 70'000; ++t) {
        const std::string body = R"({"unit":")" + std::string(unit) + R"(","step":)" +
                                 std::to_string(t) + R"(,"observation":0,"action":0})";
        ASSERT_EQ(agent.call("observe", body).status, 200);
      }
      if (unit[0] == 'a') rows_of_first += 70'000;
    }
  }
  const std::vector<std::string> logs = {options.journal};
  LogFiles files(model, logs);
  std::size_t runs = 0;
  std::size_t rows = 0;
  for (RowBlock block; files.next(block); rows += block.size()) runs += block.run_starts.size();
  EXPECT_EQ(runs, 2u);
  EXPECT_EQ(rows, 210'000u);
}

}  // namespace
}  // namespace oas
