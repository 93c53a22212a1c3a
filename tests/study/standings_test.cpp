#include "oas/study/detail/standings.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "oas/core/contracts.hpp"
#include "oas/problems/named.hpp"
#include "oas/study/run_study.hpp"
#include "study/study_support.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using detail::Standing;
using detail::standings;
using testing::HasSubstr;
using testing::Not;

// Rows as a study has them: a middle and a last one for each unit.
class Rows {
 public:
  Rows() {
    table_.kind = "learning";
    table_.columns = {"task",
                      "sweep",
                      "replication",
                      "seed",
                      "size",
                      "generator",
                      "candidate",
                      "instance",
                      "epsilon",
                      "iota",
                      "agent",
                      "step",
                      "expected_regret",
                      "expected_regret_floor"};
  }

  void add(const std::string& sweep, const std::string& agent, std::int64_t instance, double regret,
           double seconds = 1.0) {
    for (const double part : {0.5, 1.0}) {
      table_.rows.push_back({unit_, sweep, std::int64_t{0}, std::int64_t{1}, std::string("3x3x3"),
                             std::string("default"), instance, std::string("α 1"), 0.1, 0.05, agent,
                             part * 1000.0, part * regret, part * regret - 10.0});
    }
    seconds_[unit_++] = seconds;
  }

  [[nodiscard]] const ResultTable& table() const { return table_; }
  [[nodiscard]] const UnitSeconds& seconds() const { return seconds_; }

 private:
  ResultTable table_;
  UnitSeconds seconds_;
  std::int64_t unit_ = 0;
};

TEST(Standings, MeansAreOverInstancesAndOfTheLastRows) {
  Rows rows;
  for (const double regret : {10.0, 30.0}) rows.add("a", "psrl", 1, regret, 2.0);
  rows.add("a", "psrl", 2, 100.0, 5.0);
  for (const double regret : {50.0, 70.0}) rows.add("a", "oas-ucrl", 1, regret);
  rows.add("a", "oas-ucrl", 2, 40.0);
  const std::vector<Standing> found = standings({rows.table(), rows.seconds()});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].agent, "oas-ucrl");
  EXPECT_DOUBLE_EQ(found[0].regret.mean, 50.0);  // 60 and 40
  EXPECT_FALSE(found[0].behind.has_value());
  EXPECT_EQ(found[1].agent, "psrl");
  EXPECT_DOUBLE_EQ(found[1].regret.mean, 60.0);  // 20 and 100: not the mean over the three runs
  EXPECT_DOUBLE_EQ(found[1].median, 60.0);
  EXPECT_DOUBLE_EQ(found[1].worst_instance, 100.0);
  EXPECT_DOUBLE_EQ(found[1].worst_run, 100.0);
  EXPECT_DOUBLE_EQ(found[1].floor_regret, 50.0);
  EXPECT_DOUBLE_EQ(found[1].seconds, 3.0);
  EXPECT_EQ(found[1].instances, 2);
  EXPECT_EQ(found[1].runs, 3);
  ASSERT_TRUE(found[1].behind.has_value());
  EXPECT_DOUBLE_EQ(found[1].behind->mean, 10.0);  // -40 and 60
  EXPECT_EQ(found[1].behind->count, 2);
}

// An unfinished study must not set an agent on easy instances against one on hard ones.
TEST(Standings, OnlyInstancesThatAllAgentsHavePlayed) {
  Rows rows;
  rows.add("a", "psrl", 1, 5.0);
  rows.add("a", "oas-ucrl", 1, 7.0);
  rows.add("a", "oas-ucrl", 2, 900.0);
  rows.add("b", "psrl", 3, 1.0);
  rows.add("b", "uniform", 4, 1.0);
  const std::vector<Standing> found = standings({rows.table(), rows.seconds()});
  ASSERT_EQ(found.size(), 2U) << "sweep b has no common instance";
  EXPECT_DOUBLE_EQ(found[1].regret.mean, 7.0);
  EXPECT_TRUE(std::isnan(found[1].regret.lower)) << "one instance has no interval";
}

TEST(Standings, SweepsOfTheSameAgentsAreAlsoOne) {
  Rows rows;
  for (const char* sweep : {"a", "b"}) {
    const double regret = sweep == std::string("a") ? 10.0 : 30.0;
    rows.add(sweep, "psrl", 1, regret);
    rows.add(sweep, "oas-ucrl", 1, 2.0 * regret);
  }
  std::vector<Standing> found = standings({rows.table(), rows.seconds()});
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[0].sweep, "");
  EXPECT_EQ(found[0].instances, 2);  // the same numbers in another sweep are another instance
  EXPECT_DOUBLE_EQ(found[0].regret.mean, 20.0);
  rows.add("b", "uniform", 1, 100.0);
  found = standings({rows.table(), rows.seconds()});
  EXPECT_EQ(found.size(), 5U) << "no longer the same agents";
}

// Who knows the dynamics is no standard for who learns them.
TEST(Standings, BehindTheBestThatHasToLearn) {
  Rows rows;
  rows.add("a", "oracle", 1, -1.0);
  rows.add("a", "psrl", 1, 5.0);
  rows.add("a", "uniform", 1, 9.0);
  const std::vector<Standing> found = standings({rows.table(), rows.seconds()});
  EXPECT_EQ(found[0].agent, "oracle");
  EXPECT_DOUBLE_EQ(found[0].behind->mean, -6.0);
  EXPECT_FALSE(found[1].behind.has_value());
  EXPECT_DOUBLE_EQ(found[2].behind->mean, 4.0);
  const std::string svg = detail::standings_svg(found);
  EXPECT_THAT(svg, HasSubstr("oracle"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  const KindReport report = detail::standings_report({rows.table(), rows.seconds()});
  EXPECT_THAT(report.csv, HasSubstr("a,psrl,1,1,5,,,5,5,5,-5,,,,0\n"));
  EXPECT_THAT(report.section, HasSubstr("Who loses least?"));
}

// Who fails has no place, and takes no instance from the others.
TEST(Standings, WhoFailsHasNoPlace) {
  Rows rows;
  for (const std::int64_t instance : {1, 2}) {
    rows.add("a", "psrl", instance, 10.0);
    rows.add("a", "uniform", instance, 20.0);
  }
  rows.add("a", "mine", 1, 1.0);
  std::vector<FailedUnit> failed = {{"a", "mine", "it <hangs>"}, {"a", "never", "it ends"}};
  std::vector<Standing> found = standings({rows.table(), rows.seconds(), failed});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].agent, "psrl");
  EXPECT_EQ(found[0].instances, 2);
  EXPECT_EQ(found[0].failed, 0);
  EXPECT_FALSE(found[0].behind.has_value()) << "the best that has a place";
  for (const std::size_t i : {2U, 3U}) {
    EXPECT_FALSE(found[i].has_place());
    EXPECT_EQ(found[i].failed, 1);
  }
  EXPECT_EQ(found[2].agent, "mine");
  EXPECT_EQ(found[2].runs, 1);
  const KindReport report = detail::standings_report({rows.table(), rows.seconds(), failed});
  EXPECT_THAT(report.csv, HasSubstr("a,mine,0,1,,,,,,,,,,,1\n"));
  EXPECT_THAT(report.csv, HasSubstr("a,never,0,0,,,,,,,,,,,1\n"));
  EXPECT_THAT(report.section, HasSubstr("a, mine: 1 of 2 runs failed, so it has no place"));
  EXPECT_THAT(report.section, HasSubstr("it &lt;hangs&gt;"));
  EXPECT_THAT(report.svg, Not(HasSubstr("mine")));
  failed = {{"a", "mine", "x"}, {"a", "psrl", "x"}, {"a", "uniform", "x"}};
  found = standings({rows.table(), rows.seconds(), failed});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_TRUE(found[0].has_place()) << "all of them failed: then those runs are just missing";
}

TEST(Standings, NothingIsDrawnOfNothing) {
  const Rows rows;
  EXPECT_TRUE(standings({rows.table(), rows.seconds()}).empty());
  EXPECT_THAT(detail::standings_svg({}), Not(HasSubstr("nan")));
}

// The whole way from a file: named problems, both timings.
TEST(LearningKind, PlaysNamedProblemsInBothTimings) {
  constexpr const char* kStudy = R"toml(format = "oas-study/1"
name = "named"
title = "Named problems"
question = "Do they play?"
seed = 7
replications = 1
[defaults]
steps = 400
checkpoints = 2
[[sweep]]
name = "a"
kind = "learning"
model = ["network-link", "corner/flip", "random"]
timing = ["before", "after"]
agent = ["oas-ucrl-ml", "uniform"]
)toml";
  const test::TemporaryDirectory directory;
  ResultStore store = ResultStore::open(directory.file("r"), parse_study(kStudy, "s.toml"));
  const StudyRun run = run_study(store);
  EXPECT_EQ(run.failed, 0) << run.first_failure;
  const ResultTable table = store.table("learning");
  EXPECT_EQ(table.rows.size(), 24U);
  std::set<std::string> instances;
  for (const ResultRow& row : table.rows) {
    instances.insert(to_text(row[table.column("instance")]));
    if (to_text(row[table.column("instance")]) != "corner/flip, after") continue;
    EXPECT_EQ(to_text(row[table.column("size")]), "2x1x2");
    EXPECT_EQ(to_text(row[table.column("generator")]), "named");
    EXPECT_TRUE(std::isnan(to_number(row[table.column("epsilon")])));
  }
  EXPECT_EQ(instances.size(), 6U);
  EXPECT_TRUE(instances.contains("network-link, before"));
}

TEST(LearningKind, AModelOrTimingThatIsNotThereIsAnErrorOfTheFile) {
  const auto study = [](const std::string& line, const std::string& agent = "uniform") {
    return R"toml(format = "oas-study/1"
name = "n"
title = "t"
question = "q"
[[sweep]]
name = "a"
kind = "learning"
)toml" + fmt::format("agent = \"{}\"\n{}\n", agent, line);
  };
  EXPECT_NO_THROW(static_cast<void>(parse_study(study("model = \"network-link\""), "s.toml")));
  for (const char* line : {"model = \"nowhere\"", "timing = \"later\""}) {
    EXPECT_THROW(static_cast<void>(parse_study(study(line), "s.toml")), InvalidArgument) << line;
  }
  // Sensors that an agent cannot learn from are refused before anything runs.
  EXPECT_THROW(static_cast<void>(
                   parse_study(study("model = \"corner/few-observations\"", "oas-ucrl"), "s.toml")),
               InvalidArgument);
}

}  // namespace
}  // namespace oas
