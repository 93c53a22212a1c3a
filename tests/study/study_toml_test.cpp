#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "oas/core/contracts.hpp"
#include "oas/study/kinds.hpp"
#include "oas/study/study.hpp"
#include "study/study_support.hpp"

namespace oas {
namespace {

using test::small_study;
using testing::AllOf;
using testing::HasSubstr;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::string error_of(const std::string& text, bool quick = false) {
  try {
    static_cast<void>(parse_study(text, "s.toml", quick));
  } catch (const ParseError& error) {
    EXPECT_GT(error.line(), 0) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(StudyToml, TasksAreTheCrossProductInTheOrderOfTheFile) {
  const Study study = parse_study(small_study(), "s.toml");
  ASSERT_EQ(study.tasks.size(), 4U);
  EXPECT_EQ(study.tasks[0].name, "a/size=2x2x2/iota=1/(10A)");
  EXPECT_EQ(study.tasks[1].name, "a/size=2x2x2/iota=0.25");
  EXPECT_EQ(study.tasks[2].name, "a/size=3x2x4/iota=1/(10A)");
  EXPECT_EQ(study.num_units(), 12);
  EXPECT_EQ(study.unit(7).task, 2U);
  EXPECT_EQ(study.unit(7).replication, 1U);
  EXPECT_EQ(study.tasks[0].settings.integer("pairs", 0), 2000);
}

TEST(StudyToml, KeysOfVeryManyPartsAreAnErrorNotACrash) {
  for (const std::string part : {"a", "\"a\"", "'a'"}) {
    std::string path = part;
    for (int i = 0; i < 60'000; ++i) path += "." + part;
    EXPECT_THAT(error_of("[" + path + "]\n"), HasSubstr("60001 parts"));
    EXPECT_THAT(error_of("\n" + path + " = 1\n"), HasSubstr("s.toml:2:1: a key of 60001 parts"));
  }
}

TEST(StudyToml, NamesDoNotLeadOutOfTheFolder) {
  for (const std::string name : {"..", ".", ".hidden", "a/b", ""}) {
    EXPECT_THAT(error_of("format = \"oas-study/1\"\nname = \"" + name + "\"\n"),
                HasSubstr("name must be"));
  }
}

TEST(StudyToml, QuickOverridesOnlyWhenAsked) {
  const Study quick = parse_study(small_study(), "s.toml", true);
  EXPECT_EQ(quick.num_units(), 2);
  EXPECT_NE(quick.hash(), parse_study(small_study(), "s.toml").hash());
  EXPECT_EQ(quick.tasks[0].name, "a/iota=1/(10A)");
}

TEST(StudyToml, HashIsOfWhatResultsDependOn) {
  const std::string text = small_study();
  const std::string hash = parse_study(text, "s.toml").hash();
  EXPECT_EQ(parse_study(replaced(text, "Does it work?", "Well?"), "t.toml").hash(), hash);
  EXPECT_EQ(parse_study(replaced(text, "pairs = 2000", "pairs=2_000 # same"), "t").hash(), hash);
  EXPECT_NE(parse_study(replaced(text, "pairs = 2000", "pairs = 2001"), "s").hash(), hash);
  EXPECT_NE(parse_study(replaced(text, "seed = 7", "seed = 8"), "s").hash(), hash);
}

TEST(StudyToml, ErrorsNameFileLineAndColumn) {
  const std::string text = small_study();
  EXPECT_THAT(error_of("x = = 1"), HasSubstr("s.toml:1:"));
  EXPECT_THAT(error_of(replaced(text, "seed = 7", "sead = 7")),
              AllOf(HasSubstr("s.toml:6:1:"), HasSubstr("unknown key 'sead'")));
  EXPECT_THAT(error_of(replaced(text, "first_pairs", "fist_pairs")),
              AllOf(HasSubstr("s.toml:12:1:"), HasSubstr("unknown setting 'fist_pairs'")));
  EXPECT_THAT(error_of(replaced(text, "pairs = 2000", "pairs = 2000.5")),
              AllOf(HasSubstr("s.toml:11:"), HasSubstr("an integer")));
  EXPECT_THAT(error_of(replaced(text, "\"estimation\"", "\"estimating\"")),
              HasSubstr("unknown kind 'estimating'; known are estimation, efficiency, learning, "
                        "continuous"));
  EXPECT_THAT(error_of(replaced(text, "oas-study/1", "oas-study/2")), HasSubstr("oas-study/2"));
  EXPECT_THAT(error_of(replaced(text, "y = \"error\"", "y = \"errors\"")),
              HasSubstr("no column 'errors'"));
  EXPECT_THAT(error_of(replaced(text, "error.slope", "error.slop")), HasSubstr("no statistic"));
  EXPECT_THAT(error_of(replaced(text, "{error.count", "{errors.count")),
              HasSubstr("no figure is called 'errors'"));
}

TEST(StudyToml, ErrorsOfTheKindNameTheTask) {
  const std::string text = small_study();
  EXPECT_THAT(error_of(replaced(text, "\"3x2x4\"", "\"3x2\"")),
              AllOf(HasSubstr("task a/size=3x2/"), HasSubstr("SxAxO")));
  EXPECT_THAT(error_of(replaced(text, "0.25]", "0.75]")), HasSubstr("0.75"));
  EXPECT_THAT(error_of(replaced(text, "\"3x2x4\"", "\"4x2x3\"")), HasSubstr("4 states"));
  EXPECT_THAT(error_of(small_study("estimators = [\"oas\", \"oars\"]")), HasSubstr("'oars'"));
  EXPECT_THAT(error_of(small_study("policy = \"greedy\"")), HasSubstr("unknown policy 'greedy'"));
  EXPECT_THAT(error_of(small_study("[[sweep]]\nname = \"b\"\nkind = \"efficiency\"\n"
                                   "policy = \"greedy\"\n")),
              HasSubstr("unknown policy 'greedy'"));
  EXPECT_THAT(error_of(small_study("", 60'000)), HasSubstr("100000"));
}

TEST(StudyToml, QuickMustExistAndBeSound) {
  const std::string text = small_study();
  EXPECT_THAT(error_of(replaced(text, "[quick.settings]", "[quick.setings]")),
              HasSubstr("unknown key 'setings'"));
  const std::string none = text.substr(0, text.find("[quick]"));
  EXPECT_EQ(error_of(none), "no error");
  EXPECT_THAT(error_of(none, true), HasSubstr("no [quick] table"));
}

TEST(StudyToml, AgentsHaveTablesOfTheirOwn) {
  const std::string learning = R"(
[[sweep]]
name = "b"
kind = "learning"
steps = 1000
checkpoints = 2
agent = ["careful", "uniform"]
[agents.careful]
agent = "oas-ucrl"
radius_scale = 0.5
)";
  const Study study = parse_study(small_study(learning), "s.toml");
  const Task& careful = study.tasks[4];
  EXPECT_EQ(careful.name, "b/agent=careful");
  EXPECT_EQ(careful.agent.text("agent", ""), "oas-ucrl");
  EXPECT_EQ(careful.agent.number("radius_scale", 0.0), 0.5);
  EXPECT_EQ(study.tasks[5].agent.text("agent", ""), "uniform");
  EXPECT_THAT(error_of(small_study(replaced(learning, "radius_scale", "radius"))),
              HasSubstr("oas-ucrl has no setting 'radius'"));
  EXPECT_THAT(error_of(small_study(replaced(learning, "0.5", "-0.5"))), HasSubstr("radius_scale"));
  EXPECT_THAT(error_of(small_study(replaced(learning, "\"uniform\"]", "\"unifrom\"]"))),
              HasSubstr("unifrom"));
}

const char* const kTwoAgents = R"(
[[sweep]]
name = "b"
kind = "learning"
steps = 1000
checkpoints = 2
agent = ["careful", "uniform"]
[agents.careful]
agent = "oas-ucrl"
[[figure]]
name = "regret"
title = "Regret"
kind = "learning"
x = "step"
y = "expected_regret"
series = "agent"
)";

TEST(StudyToml, SeriesHaveLabels) {
  const Study plain = parse_study(small_study(kTwoAgents), "s.toml");
  EXPECT_EQ(plain.figures[0].words_for("careful"), "oas-ucrl (careful)");
  EXPECT_EQ(plain.figures[0].words_for("uniform"), "uniform");
  const std::string labels =
      "[labels.agent]\ncareful = \"a careful one\"\n[labels.size]\n2x2x2 = \"tiny\"\n";
  const Study study = parse_study(small_study(kTwoAgents + labels), "s.toml");
  EXPECT_EQ(study.figures[0].words_for("careful"), "a careful one");
  EXPECT_EQ(study.figures[1].words_for("careful"), "careful");  // labels are of one column
  EXPECT_EQ(study.figures[1].words_for("2x2x2"), "tiny");
  EXPECT_EQ(study.hash(), plain.hash());
}

TEST(StudyToml, BadLabelsAreErrors) {
  const auto with = [](const std::string& labels) {
    return error_of(small_study(std::string(kTwoAgents) + labels));
  };
  EXPECT_THAT(with("[labels.agent]\ncarefree = \"x\"\n"), HasSubstr("no task has the value"));
  EXPECT_THAT(with("[labels.agent]\ncareful = \"x\"\nuniform = \"x\"\n"), HasSubstr("another's"));
  EXPECT_THAT(with("[labels.agent]\ncareful = 1\n"), HasSubstr("careful must be a text"));
  EXPECT_THAT(with("[labels]\nagent = 1\n"), HasSubstr("labels.agent must be a table"));
}

// Tables of agents have names for the file; what a reader sees has words.
TEST(StudyToml, EveryAgentTableOfTheTreeHasALabel) {
  for (const auto& entry : std::filesystem::directory_iterator(OAS_SOURCE_DIR "/studies")) {
    if (entry.path().extension() != ".toml") continue;
    const Study study = read_study(entry.path().string());
    for (const Task& task : study.tasks) {
      const std::string name = task.settings.text("agent", "");
      if (task.agent.text("agent", "") == name) continue;
      for (const FigureSpec& figure : study.figures) {
        if (figure.series != "agent") continue;
        const std::string words = figure.words_for(name);
        EXPECT_NE(words, name) << study.name;
        EXPECT_EQ(words.find("(" + name + ")"), std::string::npos) << study.name;
      }
    }
  }
}

// The studies of the tree, full and quick.
TEST(StudyToml, AllStudiesOfTheTreeAreSound) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(OAS_SOURCE_DIR "/studies")) {
    if (entry.path().extension() != ".toml") continue;
    ++count;
    const Study full = read_study(entry.path().string());
    const Study quick = read_study(entry.path().string(), true);
    EXPECT_EQ(full.name, entry.path().stem());
    EXPECT_FALSE(full.answer.empty());
    EXPECT_FALSE(full.figures.empty());
    EXPECT_LT(quick.num_units(), full.num_units());
  }
  EXPECT_GE(count, 1);
}

// Whoever runs a study may want it otherwise: that is another study, and nothing else changes.
TEST(StudyToml, InsteadReplacesSettingsOfAllSweeps) {
  const std::string two = small_study(R"toml(
[[sweep]]
name = "b"
kind = "estimation"
size = "2x2x2"
)toml");
  const Study plain = parse_study(two, "s.toml");
  const Study same = parse_study(two + "[instead]\n", "s.toml");
  EXPECT_EQ(plain.hash(), same.hash());
  const std::string instead = two + R"toml(
[instead]
replications = 2
answer = ""
only = ["a"]
[instead.settings]
pairs = 500
iota = 0.1
agent = "psrl"
)toml";
  const Study study = parse_study(instead, "s.toml");
  EXPECT_EQ(study.replications, 2);
  EXPECT_EQ(study.answer, "");
  ASSERT_EQ(study.tasks.size(), 2U);  // the two sizes
  for (const Task& task : study.tasks) {
    EXPECT_EQ(task.sweep, "a");
    EXPECT_EQ(task.settings.integer("pairs", 0), 500);
    EXPECT_DOUBLE_EQ(task.settings.number("iota", 0.0), 0.1);
    EXPECT_FALSE(task.settings.has("agent")) << "a setting of another kind";
  }
  EXPECT_EQ(parse_study(instead, "s.toml", true).tasks[0].settings.integer("pairs", 0), 500)
      << "after [quick]";
  EXPECT_THAT(error_of(two + "[instead]\nonly = [\"c\"]\n"), HasSubstr("no sweep c"));
  EXPECT_THAT(error_of(two + "[instead]\nseed = 3\n"), HasSubstr("seed"));
  EXPECT_THAT(error_of(two + "[instead.settings]\nnothing = 3\n"), HasSubstr("nothing"));
}

// What a file of 200 kB asks for would be gigabytes: each task holds the text of its model.
TEST(StudyToml, ModelsOfAllTasksAreLimited) {
  constexpr int kStates = 60;
  std::string row = "[1.0";
  for (int s = 1; s < kStates; ++s) row += ", 0.0";
  row += "]";
  const auto repeated = [](const std::string& item, int times) {
    std::string list = item;
    for (int i = 1; i < times; ++i) list += ", " + item;
    return "[" + list + "]";
  };
  const std::string head =
      "format = \"oas-study/1\"\nname = \"s\"\ntitle = \"T\"\nquestion = \"Q\"\n[models.m]\n"
      "format = \"oas-model/1\"\ntiming = \"after\"\nstates = 60\nactions = 1\n"
      "observations = 2\ntransition = [" +
      repeated(row, kStates) + "]\nobservation = [" + repeated("[0.5, 0.5]", kStates) + "]\n";
  const auto with_tasks = [&](int tasks) {
    std::string rows = "[100";
    for (int i = 1; i < tasks; ++i) rows += fmt::format(", {}", 100 + i);
    return head + "[[sweep]]\nname = \"a\"\nkind = \"coverage\"\nmodel = \"m\"\nrows = " + rows +
           "]\nlogs = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n";
  };
  EXPECT_EQ(error_of(with_tasks(3)), "no error");
  EXPECT_THAT(error_of(with_tasks(900)), HasSubstr("model m takes"));
}

// Error bars of so many entries would take all the memory there is.
TEST(StudyToml, CoverageIsForSmallModels) {
  std::string list;
  for (int s = 0; s < 500; ++s) list += fmt::format("[{}, 1.0], ", (s + 1) % 500);
  std::string sensors;
  for (int s = 0; s < 500; ++s) sensors += "[0.5, 0.5], ";
  EXPECT_THAT(error_of("format = \"oas-study/1\"\nname = \"s\"\ntitle = \"T\"\nquestion = \"Q\"\n"
                       "[models.m]\nformat = \"oas-model/1\"\ntiming = \"after\"\nstates = 500\n"
                       "actions = 1\nobservations = 2\ntransition_list = [[" +
                       list + "]]\nobservation = [[" + sensors +
                       "]]\n[[sweep]]\nname = \"a\"\nkind = \"coverage\"\nmodel = \"m\"\n"),
              HasSubstr("250000 entries"));
}

}  // namespace
}  // namespace oas
