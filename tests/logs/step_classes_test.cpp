// Steps in classes: which action a row has by the time of the next one.
#include <cmath>

#include "logs/log_support.hpp"
#include "oas/logs/detail/step_classes.hpp"

namespace oas::test {
namespace {

using detail::ClassActions;
using detail::StepClasses;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string class_fault(const std::string& text) {
  try {
    static_cast<void>(StepClasses(text));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(StepClasses, EndsCountAndASharedOneIsThatOfTheLongerClass) {
  const StepClasses classes("long=4..10,short=1..4,month=30");
  const auto in = [&](double length) -> int {
    const auto found = classes.find(length);
    return found ? static_cast<int>(*found) : -1;
  };
  EXPECT_EQ(in(0.99), -1);
  EXPECT_EQ(in(1.0), 1);
  EXPECT_EQ(in(3.99), 1);
  EXPECT_EQ(in(4.0), 0);
  EXPECT_EQ(in(10.0), 0);
  EXPECT_EQ(in(10.01), -1);
  EXPECT_EQ(in(26.9), -1);  // one length is within a tenth
  EXPECT_EQ(in(27.1), 2);
  EXPECT_EQ(in(32.9), 2);
  EXPECT_EQ(in(33.1), -1);
  EXPECT_EQ(in(-1.0), -1);
  EXPECT_FALSE(StepClasses("now=5..5").find(5.01).has_value());
  EXPECT_TRUE(StepClasses("now=5..5").find(5.0).has_value());
  EXPECT_DOUBLE_EQ(StepClasses("day=20h..1d").classes()[0].least, 20.0 * 3600.0);
  EXPECT_TRUE(StepClasses("").empty());
}

TEST(StepClasses, FaultsNameTheClass) {
  EXPECT_EQ(class_fault("day"),
            "step_classes: 'day' is not of the form NAME=LENGTH or NAME=FROM..TO");
  EXPECT_THAT(class_fault("=1d"), HasSubstr("'=1d' is not of the form"));
  EXPECT_THAT(class_fault("day=1d,"), HasSubstr("'' is not of the form"));
  EXPECT_THAT(class_fault("day="), HasSubstr("step_classes: '' is not a length of time"));
  EXPECT_THAT(class_fault("day=0h..2h"), HasSubstr("'0h' is not a length of time"));
  EXPECT_THAT(class_fault("day=-1d"), HasSubstr("'-1d' is not a length of time"));
  EXPECT_THAT(class_fault("day=1w"), HasSubstr("unknown unit of time 'w'"));
  EXPECT_EQ(class_fault("day=28h..20h"), "step_classes: 'day=28h..20h' ends before it begins");
  EXPECT_EQ(class_fault("day=1d,day=7d"), "step_classes: class 'day' is named twice");
  EXPECT_THAT(class_fault("a@b=1d"), HasSubstr("holds no @, unlike 'a@b'"));
  EXPECT_THAT(class_fault("day=1d,week=7"), HasSubstr("all lengths have a unit"));
  EXPECT_THAT(class_fault("day=1d..7"), HasSubstr("all lengths have a unit"));
  EXPECT_THAT(class_fault("week=1d..8d,day=20h..28h"),
              HasSubstr("'day=20h..28h' and 'week=1d..8d' overlap"));
  EXPECT_THAT(class_fault("a=1..3,b=1..1"), HasSubstr("overlap"));
  EXPECT_THAT(class_fault("a=2..2,b=2..2"), HasSubstr("overlap"));
}

TEST(StepClasses, ActionsAreThoseOfTheClassElsePlainOnes) {
  const Labels names({"repair", "wait@week", "run@50Hz", "wait@day", "look", "look@week"},
                     "action");
  const ClassActions actions(names, StepClasses("day=1d,week=7d"));
  EXPECT_THAT(actions.logged().names(), ElementsAre("repair", "wait", "run@50Hz", "look"));
  const auto of = [&](int logged, std::size_t c) {
    return static_cast<int>(actions.in_class(Action{logged}, c));
  };
  EXPECT_EQ(of(0, 0), 0);
  EXPECT_EQ(of(0, 1), 0);
  EXPECT_EQ(of(1, 0), 3);
  EXPECT_EQ(of(1, 1), 1);
  EXPECT_EQ(of(2, 1), 2);
  EXPECT_EQ(of(3, 0), 4);
  EXPECT_EQ(of(3, 1), 5);
  EXPECT_THAT(values(actions.candidates(Action{1})), ElementsAre(3, 1));
  EXPECT_THAT(values(actions.candidates(Action{0})), ElementsAre(0));
}

TEST(StepClasses, ModelsMustNameTheClasses) {
  const auto fault = [](const Labels& names, const char* classes) -> std::string {
    try {
      static_cast<void>(ClassActions(names, StepClasses(classes)));
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  const Labels plain({"wait", "repair"}, "action");
  EXPECT_EQ(fault(plain, "day=1d"), "");  // one class: lengths are checked, nothing else
  EXPECT_EQ(fault(plain, "day=1d,week=7d"),
            "step_classes: no action of the model is for class 'day', as 'wait@day' would be");
  EXPECT_EQ(fault(Labels({"wait@day"}, "action"), "day=1d,wek=7d"),
            "step_classes: no action of the model is for class 'wek', as 'wait@wek' would be");
  EXPECT_THAT(fault(Labels(2, "action"), "day=1d"), HasSubstr("have no names"));
}

// wait in three classes and repair in none; the sensor is `shared` by all, or each action has its
// own.
Pomdp visits(Timing timing, bool shared = true, Rows rows = Rows::action_first) {
  PomdpParts parts;
  parts.timing = timing;
  parts.rows = rows;
  parts.states = Labels({"good", "bad"}, "state");
  parts.actions = Labels({"wait@day", "wait@week", "repair", "wait@month"}, "action");
  parts.observations = Labels({"low", "high"}, "observation");
  std::vector<double> sensors;
  for (int a = 0; a < 4; ++a) {
    const double p = shared ? 0.75 : 0.6 + 0.05 * a;
    sensors.insert(sensors.end(), {p, 1.0 - p, 1.0 - p, p});
  }
  parts.sensors = ObservationModel(2, 4, 2, sensors);
  return Pomdp(std::move(parts));
}

// Of two units, mixed: p is visited after 1, 7, 30, 1 days; q after 7, 90, 1.
constexpr const char* kVisits =
    "time,run,action,observation\n"
    "0,p,wait,low\n1,p,wait,high\n2,q,wait,low\n8,p,wait,low\n9,q,repair,high\n38,p,repair,low\n"
    "39,p,wait,high\n99,q,wait,low\n100,q,wait,high\n";

LogOptions classes_of(const char* from = "", const char* until = "") {
  return {.step_classes = "day=0.8..1.2,week=6..8,month=27..32",
          .gaps = "new-run",
          .from = from,
          .until = until};
}

TEST(StepClasses, TheTimeOfTheNextRowDecides) {
  for (const std::size_t size : {1UL, 2UL, 1000UL}) {
    const LogBlock block = read_text(kVisits, visits(Timing::before), size, classes_of());
    // 0 wait@day, 1 wait@week, 2 repair, 3 wait@month; the last of a run are of the first class.
    EXPECT_THAT(values(block.rows.actions), ElementsAre(0, 1, 3, 2, 0, 1, 2, 0, 0)) << size;
    EXPECT_THAT(values(block.rows.observations), ElementsAre(0, 1, 0, 0, 1, 0, 1, 0, 1));
    EXPECT_THAT(block.run_names, ElementsAre("p", "q", "q"));
    EXPECT_THAT(block.run_starts, ElementsAre(0, 5, 7));
    EXPECT_THAT(block.starts, ElementsAre(RunStart(), RunStart(), RunStart::unknown()));
    EXPECT_THAT(block.first_steps, ElementsAre(0, 0, 3));  // a row at least is not there
  }
}

TEST(StepClasses, TheClassNamedFirstIsThatOfTheLastRow) {
  LogOptions options = classes_of();
  options.step_classes = "week=6..8,month=27..32,day=0.8..1.2";
  const LogBlock block = read_text(kVisits, visits(Timing::before), 1000, options);
  EXPECT_EQ(block.rows.actions[4], Action{1});
  EXPECT_EQ(block.rows.actions[8], Action{1});
}

// The step behind the last row is of unknown length, and so is what depends on it.
TEST(StepClasses, TheLastReadingCountsWhereItDoesNotDependOnTheClass) {
  const auto readings = [](const Pomdp& model) {
    return values(read_text(kVisits, model, 1000, classes_of()).rows.observations);
  };
  EXPECT_THAT(readings(visits(Timing::before)), ElementsAre(0, 1, 0, 0, 1, 0, 1, 0, 1));
  // Row 6, repair before 90 days, is the same in all classes.
  EXPECT_THAT(readings(visits(Timing::before, false)), ElementsAre(0, 1, 0, 0, -1, 0, 1, 0, -1));
  EXPECT_THAT(readings(visits(Timing::after)), ElementsAre(0, 1, 0, 0, -1, 0, 1, 0, -1));
}

TEST(StepClasses, ReadingFirstRowsKeepAllReadings) {
  const Pomdp model = visits(Timing::after, true, Rows::reading_first);
  const LogBlock block = read_text(kVisits, model, 1000, classes_of());
  EXPECT_THAT(values(block.rows.actions), ElementsAre(0, 1, 3, 2, 1, 0));
  EXPECT_THAT(values(block.rows.observations), ElementsAre(1, 0, 0, 1, 1, 1));
  const std::string open = "time,action,observation\n0,wait,low\n7,,high\n";
  EXPECT_THAT(values(read_text(open, model, 9, classes_of()).rows.actions), ElementsAre(1));
}

// Where the file has the next time, the class is known, also behind the end of the window.
TEST(StepClasses, RowsBehindTheWindowTellTheClassOfItsLastRow) {
  const LogBlock block = read_text(kVisits, visits(Timing::after), 1000, classes_of("1", "39"));
  EXPECT_THAT(block.run_names, ElementsAre("p", "q"));
  EXPECT_THAT(values(block.rows.actions), ElementsAre(1, 3, 2, 1, 2));
  EXPECT_THAT(values(block.rows.observations), ElementsAre(1, 0, 0, 0, 1));
  const LogBlock early = read_text(kVisits, visits(Timing::after), 1000, classes_of("", "8"));
  EXPECT_THAT(values(early.rows.actions), ElementsAre(0, 1, 1));
  EXPECT_THAT(values(early.rows.observations), ElementsAre(0, 1, 0));
}

TEST(StepClasses, KnownStatesGoWithThem) {
  const std::string text =
      "time,action,observation,state\n0,wait,low,good\n7,wait,,bad\n8,wait,high,bad\n";
  LogOptions options = classes_of();
  options.known_states = true;
  const LogBlock before = read_text(text, visits(Timing::before, false), 2, options);
  EXPECT_THAT(before.likelihoods, ElementsAre(0.65, 0.0, 0.0, 1.0, 0.0, 1.0));
  const LogBlock after = read_text(text, visits(Timing::after, false), 2, options);
  EXPECT_NEAR(after.likelihoods[1], 1.0 - 0.65, 1e-15);  // wait@week led to bad
  EXPECT_THAT(std::vector<double>(after.likelihoods.begin() + 2, after.likelihoods.end()),
              ElementsAre(0.0, 1.0, 1.0, 1.0));
}

// Where all actions are one in the log, it needs no column for them.
TEST(StepClasses, OneActionNeedsNoColumn) {
  const Pomdp model = log_model(Labels(2, "state"), Labels({"wait@day", "wait@week"}, "action"),
                                Labels(4, "observation"));
  const LogOptions options{.step_classes = "day=1,week=7"};
  EXPECT_THAT(
      values(read_text("time,observation\n0,1\n7,1\n8,2\n", model, 9, options).rows.actions),
      ElementsAre(1, 0, 0));
}

// A density for each class: the reading is judged by that of its row.
TEST(StepClasses, ReadingsAreJudgedUnderTheActionOfTheirClass) {
  const auto normal = [](double mean) { return VectorDensity({Density::gaussian(mean, 1.0)}); };
  std::vector<VectorDensity> densities;
  for (int a = 0; a < 4; ++a) {
    densities.push_back(normal(a));
    densities.push_back(normal(10.0 * a));
  }
  const auto model = [&](Timing timing) {
    return ContinuousPomdp(visits(timing), DensitySensors(2, 4, densities));
  };
  const std::string text = "time,action,observation\n0,wait,1.5\n7,repair,\n8,wait,2\n38,wait,9\n";
  const auto read = [&](Timing timing, LogOptions options = classes_of()) {
    return read_all(LogReader(bytes_of(text), "log.csv", model(timing), options), 2);
  };
  const auto density = [](double x) { return std::exp(-0.5 * x * x) / std::sqrt(2.0 * M_PI); };
  for (const Timing timing : {Timing::before, Timing::after}) {
    const LogBlock block = read(timing);
    EXPECT_THAT(values(block.rows.actions), ElementsAre(1, 2, 3, 0));
    EXPECT_THAT(values(block.rows.observations), ElementsAre(0, -1, 0, -1));
    ASSERT_EQ(block.likelihoods.size(), 8U);
    EXPECT_DOUBLE_EQ(block.likelihoods[0], density(0.5));
    EXPECT_NEAR(block.likelihoods[1] / density(8.5), 1.0, 1e-12);
    EXPECT_EQ(block.likelihoods[2], 1.0);
    EXPECT_DOUBLE_EQ(block.likelihoods[4], density(1.0));
    EXPECT_NEAR(block.likelihoods[5] / density(28.0), 1.0, 1e-12);
    EXPECT_EQ(block.likelihoods[6], 1.0);
    EXPECT_THAT(block.readings, ElementsAre(1.5, 0.0, 2.0, 0.0));
  }
}

// Likelihoods that the log brings stay, unless they came over a step of unknown length.
TEST(StepClasses, GivenLikelihoodsStay) {
  const std::string text =
      "time,action,likelihood_1,likelihood_2\n0,wait,0.5,0.25\n7,wait,0.1,0.2\n";
  const auto read = [&](Timing timing) {
    return read_all(
        LogReader(bytes_of(text), "log.csv", ContinuousPomdp(visits(timing)), classes_of()));
  };
  EXPECT_THAT(read(Timing::before).likelihoods, ElementsAre(0.5, 0.25, 0.1, 0.2));
  EXPECT_THAT(read(Timing::after).likelihoods, ElementsAre(0.5, 0.25, 1.0, 1.0));
  EXPECT_THAT(values(read(Timing::after).rows.observations), ElementsAre(0, -1));
}

TEST(StepClasses, FaultsOfALogNameLineAndTimes) {
  const Pomdp model = visits(Timing::before);
  const auto fault = [&](const std::string& rows, LogOptions options) {
    return error_of("time,run,action,observation\n" + rows, model, options);
  };
  LogOptions options = classes_of();
  options.gaps = "";
  EXPECT_EQ(fault("0,p,wait,low\n3,p,wait,low\n", options),
            "log.csv:3:1: 3 lie between 0 and 3 of unit 'p', which is in no class of "
            "--step-classes day=0.8..1.2,week=6..8,month=27..32: widen one, or let another run "
            "begin there with --gaps new-run");
  EXPECT_THAT(fault("0,p,wait,low\n0,p,wait,low\n", options),
              HasSubstr("log.csv:3:1: time 0 of unit 'p' occurs twice"));
  EXPECT_THAT(fault("7,p,wait,low\n0,p,wait,low\n", options), HasSubstr("is earlier than"));
  EXPECT_THAT(fault("0,p,wait@day,low\n", options),
              HasSubstr("log.csv:2:3: unknown action 'wait@day'; known are 'wait', 'repair'"));
  EXPECT_THAT(error_of("action,observation\nwait,low\n", model, {}),
              HasSubstr("unknown action 'wait'; known are 'wait@"));
  EXPECT_THAT(error_of("action,observation\nwait,low\n", model, {}), HasSubstr("--step-classes"));
  EXPECT_THAT(fault("0,p,0,low\n", options), HasSubstr("log.csv:2:3: action '0' is an index"));
  EXPECT_THAT(fault("2026-03-01,p,wait,low\n2026-03-02,p,wait,low\n", options),
              HasSubstr("log.csv:3:1: the times are dates, so that the step needs a unit"));
  options.step_classes = "day=1d,week=7d,month=30d";
  EXPECT_THAT(fault("0,p,wait,low\n1,p,wait,low\n", options),
              HasSubstr("log.csv:3:1: the times are numbers"));
  EXPECT_THAT(
      fault("2026-03-01,p,wait,low\n2026-03-05,p,wait,low\n", options),
      HasSubstr("log.csv:3:1: 4 d lie between 2026-03-01T00:00:00 and 2026-03-05T00:00:00"));
  EXPECT_EQ(error_of("action,observation\nwait,low\n", model, options),
            "log.csv:1: step_classes: the log has no column 'time'");
}

// 2.8 - 2 < 0.8 and 1.7e9 + 0.2 is no multiple of anything in binary.
TEST(StepClasses, EndsCountInDecimalsToo) {
  const Pomdp model = visits(Timing::before);
  const LogOptions options{.step_classes = "day=0.8..1.2,week=6.8..7.2,month=30"};
  for (const char* rows : {"2,wait,low\n2.8,wait,low\n", "2.8,wait,low\n4,wait,low\n",
                           "1700000000.2,wait,low\n1700000001,wait,low\n"}) {
    EXPECT_EQ(error_of(std::string("time,action,observation\n") + rows, model, options), "");
  }
}

TEST(StepClasses, LengthsAreShownToThreeDigits) {
  EXPECT_EQ(about_seconds(0.5), "0.5 s");
  EXPECT_EQ(about_seconds(59.0), "59 s");
  EXPECT_EQ(about_seconds(90.0), "1.5 min");
  EXPECT_EQ(about_seconds(3600.0), "1 h");
  EXPECT_EQ(about_seconds(540780.0), "6.26 d");
}

TEST(StepClasses, AnActionThatTheModelLacksInAClass) {
  const Pomdp model =
      log_model(Labels(2, "state"), Labels({"wait@day", "wait@week", "oil@week"}, "action"),
                Labels(4, "observation"));
  const LogOptions options{.step_classes = "day=1,week=7"};
  const std::string header = "time,action,observation\n";
  EXPECT_EQ(error_of(header + "0,oil,1\n1,wait,1\n", model, options),
            "log.csv:2:2: action 'oil' was taken for a step of class 'day', but the model has no "
            "action 'oil@day'");
  EXPECT_THAT(values(read_text(header + "0,oil,1\n7,oil,1\n", model, 9, options).rows.actions),
              ElementsAre(2, 2));  // the last one is of the first class that has it
}

TEST(StepClasses, OptionsThatDoNotGoTogether) {
  const Pomdp model = visits(Timing::before);
  LogOptions options = classes_of();
  options.step = "1";
  EXPECT_EQ(error_of(kVisits, model, options),
            "step: 1 and step_classes: day=0.8..1.2,week=6..8,month=27..32: steps are equal or in "
            "classes");
  options = classes_of();
  for (const char* gaps : {"repeat", "action=repair"}) {
    options.gaps = gaps;
    EXPECT_THAT(error_of(kVisits, model, options), HasSubstr("puts in rows of one step each"));
  }
}

}  // namespace
}  // namespace oas::test
