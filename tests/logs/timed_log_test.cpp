// Times of rows: how they are read, what a step is, and what becomes of steps without a row.
#include "log_support.hpp"
#include "oas/logs/detail/time_cell.hpp"

namespace oas::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

double seconds(std::string_view text) {
  bool zoned = false;
  return detail::parse_iso_time(text, zoned);
}

TEST(TimedLog, DatesAsPeopleWriteThem) {
  EXPECT_EQ(seconds("1970-01-01"), 0.0);
  EXPECT_EQ(seconds("2026-03-01T10:00:00Z"), 1772359200.0);
  EXPECT_EQ(seconds("2026-03-01 10:00"), 1772359200.0);
  EXPECT_EQ(seconds("2026-03-01T12:00:00+02:00"), 1772359200.0);
  EXPECT_EQ(seconds("2026-03-01T12:30+0230"), 1772359200.0);
  EXPECT_EQ(seconds("2026-03-01t05:00:00-05"), 1772359200.0);
  EXPECT_EQ(seconds("2026-03-01T10:00:00.25z"), 1772359200.25);
  EXPECT_EQ(seconds("2024-02-29"), 1709164800.0);
  EXPECT_EQ(seconds("2026-03-01T24:00"), seconds("2026-03-02"));
  EXPECT_EQ(seconds("1969-12-31T23:59:59Z"), -1.0);
  EXPECT_EQ(detail::iso_time(1772359200.0), "2026-03-01T10:00:00");
  EXPECT_EQ(detail::iso_time(-0.5), "1969-12-31T23:59:59.500");
}

TEST(TimedLog, WhatIsNoDateIsAFault) {
  for (const char* text :
       {"2026-13-01", "2026-02-30", "2025-02-29", "2026-3-1", "26-03-01", "2026-03-01T25:00",
        "2026-03-01T10", "2026-03-01T10:60", "2026-03-01T10:00:61", "2026-03-01X10:00",
        "2026-03-01T10:00+2", "2026-03-01T10:00:00Zx", "2026-03-01T24:00:01", "2026-03-01T10:00.",
        "yesterday", "01/03/2026", "2026-03-01T10:00:00.Z"}) {
    EXPECT_THROW(static_cast<void>(seconds(text)), InvalidArgument) << text;
    const std::string log = fmt::format("time,action,observation\n{},0,0\n", text);
    EXPECT_THAT(error_of(log, index_model()), StartsWith("log.csv:2:1: time '")) << text;
  }
}

TEST(TimedLog, LengthsOfTime) {
  EXPECT_EQ(parse_duration("90s").value, 90.0);
  EXPECT_EQ(parse_duration("15m").value, 900.0);
  EXPECT_EQ(parse_duration("15min").value, 900.0);
  EXPECT_EQ(parse_duration("1.5h").value, 5400.0);
  EXPECT_EQ(parse_duration("2d").value, 172800.0);
  EXPECT_FALSE(parse_duration("2").has_unit);
  for (const char* text : {"", "h", "-1h", "0", "1w", "1 h", "1hh", "nan", "inf"}) {
    EXPECT_THROW(static_cast<void>(parse_duration(text)), InvalidArgument) << text;
  }
  EXPECT_EQ(error_of("", index_model(), {.step = "1w"}),
            "step: '1w': unknown unit of time 'w'; known are s, m, min, h, d");
}

// Rows of unit u at these times, actions 0, 1, 2, 0, …, observations 3.
std::string log_at(const std::vector<std::string>& times) {
  std::string text = "time,run,action,observation\n";
  int row = 0;
  for (const std::string& time : times) text += fmt::format("{},u,{},3\n", time, row++ % 3);
  return text;
}

TEST(TimedLog, TheOneDifferenceIsTheStep) {
  EXPECT_EQ(error_of(log_at({"1", "2", "3"}), index_model()), "");
  EXPECT_EQ(error_of(log_at({"0", "99.5", "200"}), index_model()), "");  // within 1 %
  EXPECT_EQ(error_of(log_at({"7"}), index_model()), "");
  EXPECT_EQ(error_of(log_at({"1", "2", "4", "5", "8", "8.5"}), index_model()),
            "log.csv: the times of consecutive rows differ by 1 (2 times), 0.5 (once), 2 (once), "
            "3 (once): say with --step how long a step is, and with --gaps what "
            "happened where rows are missing; or give classes of steps, --step-classes");
  // Units may run on different clocks, as long as they tick alike.
  EXPECT_EQ(error_of("time,run,action,observation\n1,a,0,0\n1.3,b,0,0\n2,a,0,0\n2.3,b,0,0\n",
                     index_model()),
            "");
}

TEST(TimedLog, TimesGrow) {
  EXPECT_EQ(error_of(log_at({"1", "2", "2"}), index_model()),
            "log.csv:4:1: time 2 of unit 'u' occurs twice");
  EXPECT_EQ(error_of(log_at({"2026-03-01T10:00Z", "2026-03-01T09:00Z"}), index_model()),
            "log.csv:3:1: time 2026-03-01T09:00:00Z of unit 'u' is earlier than the one of the row "
            "before it, 2026-03-01T10:00:00Z");
  EXPECT_THAT(error_of(log_at({"1", "2026-03-01"}), index_model()),
              HasSubstr("is a date without zone, but line 2 has a number"));
  EXPECT_THAT(error_of(log_at({"2026-03-01T10:00", "2026-03-01T11:00Z"}), index_model()),
              HasSubstr("is a date with a zone, but line 2 has a date without zone"));
  EXPECT_THAT(error_of(log_at({"-1.7e308", "1.7e308"}), index_model()),
              HasSubstr("too long a time lies between -1.7e+308 and 1.7e+308 of unit 'u'"));
  EXPECT_THAT(error_of(log_at({"0", "1e200"}), index_model(), {.step = "1", .gaps = "new-run"}),
              HasSubstr("too long a time"));
  EXPECT_THAT(error_of(log_at({"1", ""}), index_model()), StartsWith("log.csv:3:1: the time is"));
}

TEST(TimedLog, StepsAreMultiples) {
  const auto error = [](const std::vector<std::string>& times, const std::string& step) {
    return error_of(log_at(times), index_model(), {.step = step, .gaps = "repeat"});
  };
  EXPECT_EQ(error({"0", "1.005", "2", "4"}, "1"), "");
  EXPECT_EQ(error({"0", "100.2"}, "1"), "");  // a clock that drifts over a long gap
  EXPECT_EQ(error({"0", "1.4"}, "1"),
            "log.csv:3:1: 1.4 lie between 0 and 1.4 of unit 'u', which is not a "
            "multiple of the step of 1");
  EXPECT_THAT(error({"0", "0.3"}, "1"), HasSubstr("not a multiple"));
  EXPECT_THAT(error({"0", "100.4"}, "1"), HasSubstr("not a multiple"));
  EXPECT_THAT(error({"0", "1"}, "1h"), HasSubstr("the times are numbers"));
  EXPECT_THAT(error({"2026-03-01", "2026-03-02"}, "1"), HasSubstr("the step needs a unit"));
}

TEST(TimedLog, GapsAreWhatTheUserSays) {
  const std::string text = log_at({"2026-03-01T10:00Z", "2026-03-01T11:00Z", "2026-03-01T14:00Z"});
  const auto read = [&](const std::string& gaps, std::size_t size = 100) {
    return read_text(text, index_model(), size, {.step = "1h", .gaps = gaps});
  };
  EXPECT_EQ(error_of(text, index_model(), {.step = "1h"}),
            "log.csv:4:1: a gap of 2 steps of unit 'u': there are no rows between "
            "2026-03-01T11:00:00Z and "
            "2026-03-01T14:00:00Z. Only you know what was done there; say it with --gaps "
            "action=NAME, repeat or new-run");
  for (const std::size_t size : {1UL, 2UL, 100UL}) {
    EXPECT_THAT(values(read("repeat", size).rows.actions), ElementsAre(0, 1, 1, 1, 2));
    EXPECT_THAT(values(read("repeat", size).rows.observations), ElementsAre(3, 3, -1, -1, 3));
    EXPECT_THAT(values(read("action=0", size).rows.actions), ElementsAre(0, 1, 0, 0, 2));
    EXPECT_THAT(read("repeat", size).run_starts, ElementsAre(0));
    const LogBlock cut = read("new-run", size);
    EXPECT_THAT(values(cut.rows.actions), ElementsAre(0, 1, 2));
    EXPECT_THAT(cut.run_starts, ElementsAre(0, 2));
    EXPECT_THAT(cut.starts, ElementsAre(RunStart(), RunStart::unknown()));
    EXPECT_THAT(cut.first_steps, ElementsAre(0, 4));
    EXPECT_THAT(cut.run_names, ElementsAre("u", "u"));
  }
  EXPECT_EQ(error_of(text, index_model(), {.gaps = "action=5"}),
            "gaps: there is no action '5'; there are 0, 1, 2");
  EXPECT_EQ(error_of(text, index_model(), {.gaps = "skip"}),
            "gaps: 'skip' is not one of error, action=NAME, repeat, new-run");
  EXPECT_THAT(error_of(log_at({"0", "1e8"}), index_model(), {.step = "1", .gaps = "repeat"}),
              StartsWith("log.csv:3:1: a gap of 99999999 steps of unit 'u' between 0 and"));
  EXPECT_EQ(error_of(log_at({"0", "1e8"}), index_model(), {.step = "1", .gaps = "new-run"}), "");
}

// `rows` rows, `length` seconds apart but for one longer gap.
std::vector<std::string> times_apart(double length, int rows) {
  std::vector<std::string> times;
  for (int row = 0; row < rows; ++row) {
    times.push_back(detail::iso_time(1.7e9 + length * (row < 7 ? row : row + 3)) + "Z");
  }
  return times;
}

// Whatever the unit was that the step should have had: all rows would lie in gaps.
TEST(TimedLog, StepsOfAWrongUnitAreNoticed) {
  const std::pair<double, std::string> kWrong[] = {
      {86400.0, "1h"}, {3600.0, "1s"}, {3600.0, "1min"}, {60.0, "1s"}, {7 * 86400.0, "2h"}};
  for (const auto& [length, step] : kWrong) {
    for (const std::string gaps : {"repeat", "action=1", "new-run"}) {
      SCOPED_TRACE(step + " " + gaps);
      std::vector<std::string> times = times_apart(length, 14);
      LogOptions options{.step = step, .gaps = gaps};
      const std::string error = error_of(log_at(times), index_model(), options);
      EXPECT_THAT(error, StartsWith("log.csv:3:1: rows of a unit are never less than "));
      EXPECT_THAT(error, HasSubstr("--sparse"));
      EXPECT_EQ(error_of(log_at(times_apart(length, 9)), index_model(), options), "");  // too few
      options.sparse = true;
      EXPECT_EQ(error_of(log_at(times), index_model(), options), "");
      options.sparse = false;
      const double after_the_last = 1.7e9 + length * 16 + parse_duration(step).value;
      times.push_back(detail::iso_time(after_the_last) + "Z");  // neighbours once are enough
      EXPECT_EQ(error_of(log_at(times), index_model(), options), "");
    }
  }
  EXPECT_THAT(error_of("action,observation\n0,0\n", index_model(), {.sparse = true}),
              HasSubstr("sparse: the log has no column 'time'"));
}

}  // namespace
}  // namespace oas::test
