#include "logs/log_support.hpp"

namespace oas::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two units; b begins later and ends earlier.
constexpr const char* kTimed =
    "time,run,action,observation\n"
    "1,a,0,1\n2,a,1,1\n3,a,2,1\n3,b,0,2\n4,a,0,1\n4,b,1,2\n5,a,1,1\n";

LogBlock window(const std::string& from, const std::string& until, std::size_t max_rows = 1000) {
  return read_text(kTimed, index_model(), max_rows, {.from = from, .until = until});
}

TEST(TimeWindow, HoldsRowsFromAndBeforeItsEnds) {
  for (const std::size_t size : {1UL, 2UL, 1000UL}) {
    const LogBlock block = window("2", "4", size);
    EXPECT_THAT(values(block.rows.actions), ElementsAre(1, 2, 0));
    EXPECT_THAT(block.run_names, ElementsAre("a", "b"));
    EXPECT_THAT(block.run_starts, ElementsAre(0, 2));
  }
  EXPECT_THAT(values(window("", "3").rows.actions), ElementsAre(0, 1));
  EXPECT_THAT(values(window("4.5", "").rows.actions), ElementsAre(1));
  EXPECT_EQ(window("1", "6").rows, window("", "").rows);
}

// What ran before the window is in an unknown state; what begins within it, in the model's start.
TEST(TimeWindow, UnitsThatRanBeforeStartUnknown) {
  EXPECT_THAT(window("2", "").starts, ElementsAre(RunStart::unknown(), RunStart()));
  EXPECT_THAT(window("1", "4").starts, ElementsAre(RunStart(), RunStart()));
  EXPECT_THAT(window("4", "").starts, ElementsAre(RunStart::unknown(), RunStart::unknown()));
}

// A gap across an end of the window is none, and times are compared within it only.
TEST(TimeWindow, StepsAreCountedWithin) {
  const std::string text = "time,action,observation\n1,0,1\n7,0,1\n8,1,1\n9,2,1\n40,2,1\n";
  const LogOptions options{.step = "1", .from = "7", .until = "10"};
  EXPECT_THAT(values(read_text(text, index_model(), 10, options).rows.actions),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(error_of(text, index_model(), {.step = "1", .until = "10"}),
              HasSubstr("a gap of 5 steps"));
}

TEST(TimeWindow, TakesDatesAsLogsDo) {
  const std::string days = "time,action,observation\n2026-03-01,0,1\n2026-03-02,1,1\n";
  EXPECT_THAT(values(read_text(days, index_model(), 9, {.from = "2026-03-01 06:00"}).rows.actions),
              ElementsAre(1));
  const std::string zoned =
      "time,action,observation\n2026-03-01T10:00+02:00,0,1\n2026-03-01T11:00+02:00,1,1\n";
  for (const char* from : {"2026-03-01T11:00+02:00", "2026-03-01T09:00Z", "2026-03-01T08:30"}) {
    EXPECT_THAT(values(read_text(zoned, index_model(), 9, {.from = from}).rows.actions),
                ElementsAre(1))
        << from;
  }
}

TEST(TimeWindow, KnownStatesStartTheRunThatIsCut) {
  const std::string text = "time,action,observation,state\n1,0,1,0\n2,0,1,1\n3,1,1,\n";
  const LogOptions options{.from = "2", .known_states = true};
  EXPECT_THAT(read_text(text, index_model(Timing::after), 9, options).starts,
              ElementsAre(RunStart::known(State{1})));
}

TEST(TimeWindow, FaultsNameOptionAndValue) {
  const auto fault = [](const LogOptions& options) {
    return error_of(kTimed, index_model(), options);
  };
  EXPECT_EQ(fault({.from = "10"}), "log.csv: no row has a time from 10");
  EXPECT_EQ(fault({.from = "1.5", .until = "1.7"}),
            "log.csv: no row has a time from 1.5 until 1.7");
  EXPECT_EQ(fault({.from = "3", .until = "3"}), "until: 3 is not later than from, 3");
  EXPECT_THAT(fault({.from = "noon"}), HasSubstr("from: "));
  EXPECT_THAT(fault({.until = "inf"}), HasSubstr("until: time 'inf' is not finite"));
  EXPECT_THAT(fault({.from = "2026-03-01"}),
              HasSubstr("from: '2026-03-01' is a date, but the times of the log are numbers"));
  EXPECT_THAT(fault({.from = "1", .until = "2026-03-01"}), HasSubstr("both must be dates"));
  EXPECT_EQ(error_of("action,observation\n0,1\n", index_model(), {.from = "1"}),
            "log.csv:1: from: the log has no column 'time'");
  EXPECT_THAT(
      error_of("time,action,observation\n2026-03-01 10:00,0,1\n", index_model(),
               {.until = "2026-03-01T10:00Z"}),
      HasSubstr("until: '2026-03-01T10:00Z' has a zone, but the times of the log have none"));
  // A fault outside of the window is one, too.
  EXPECT_THAT(error_of("time,action,observation\n1,9,1\n2,0,1\n", index_model(), {.from = "2"}),
              HasSubstr("log.csv:2:2: action '9'"));
}

}  // namespace
}  // namespace oas::test
