#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <map>
#include <set>

#include "oas/core/contracts.hpp"
#include "oas/study/detail/coverage_report.hpp"
#include "oas/study/report.hpp"
#include "oas/study/run_study.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using detail::coverage_cells;
using detail::CoverageCell;
using detail::Verdict;
using testing::HasSubstr;

std::string coverage_study(const std::string& lines, int replications = 2) {
  return "format = \"oas-study/1\"\nname = \"small\"\ntitle = \"T\"\nquestion = \"Q\"\nseed = 5\n"
         "replications = " +
         std::to_string(replications) + "\n[[sweep]]\nname = \"a\"\nkind = \"coverage\"\n" + lines;
}

const char* const kSmall = R"(
model = ["corner/minimal", "corner/wear-out"]
run_length = 30
policy = "belief"
estimator = ["oas-overlap", "oas-ml"]
rows = 1500
logs = 4
)";

class CoverageKindTest : public testing::Test {
 protected:
  ResultStore open(const std::string& folder, const std::string& text) {
    return ResultStore::open(directory_.file(folder), parse_study(text, "s.toml"));
  }
  ResultTable table_of(const std::string& folder, const std::string& text) {
    ResultStore store = open(folder, text);
    EXPECT_EQ(run_study(store).status, StudyRun::Status::complete);
    return store.table("coverage");
  }

  test::TemporaryDirectory directory_;
};

double sum_of(const ResultTable& table, const char* column, const char* part) {
  double sum = 0.0;
  for (const ResultRow& row : table.rows) {
    if (to_text(row[table.column("part")]) != part) continue;
    const double value = to_number(row[table.column(column)]);
    sum += std::isfinite(value) ? value : 0.0;
  }
  return sum;
}

TEST_F(CoverageKindTest, SameBytesForAnyNumberOfThreads) {
  std::string first;
  for (const int threads : {1, 3}) {
    ResultStore store = open("t" + std::to_string(threads), coverage_study(kSmall));
    StudyRunOptions options;
    options.parallelism.threads = threads;
    EXPECT_EQ(run_study(store, options).status, StudyRun::Status::complete);
    const std::string csv = store.table("coverage").csv();
    if (first.empty()) first = csv;
    EXPECT_EQ(csv, first);
    EXPECT_TRUE(replay_unit(store, 3).equal);
  }
}

const char* const kOwnModel = R"(
model = ["own", "corner/minimal"]
rows = 1500
logs = 4
[models.own]
format = "oas-model/1"
timing = "before"
states = ["low", "high"]
actions = 1
observations = 2
transition = [[[0.7, 0.3], [0.4, 0.6]]]
observation = [[[0.8, 0.2], [0.3, 0.7]]]
)";

// corner/minimal, written into the study: the same logs, the same rows of the table.
TEST_F(CoverageKindTest, TakesModelsOfTheStudyItself) {
  const ResultTable table = table_of("own", coverage_study(kOwnModel));
  const std::size_t model = table.column("model");
  ASSERT_EQ(table.rows.size() % 2, 0U);
  const std::size_t half = table.rows.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const ResultRow& own = table.rows[i];
    EXPECT_EQ(to_text(own[model]), "own");
    for (std::size_t k = model + 1; k < own.size(); ++k) {
      EXPECT_EQ(to_text(own[k]), to_text(table.rows[half + i][k]));
    }
  }
}

TEST_F(CoverageKindTest, ResultsDependOnWhatAModelSays) {
  std::string other = kOwnModel;
  other.replace(other.find("0.7, 0.3"), 8, "0.6, 0.4");
  EXPECT_NE(parse_study(coverage_study(other), "s.toml").hash(),
            parse_study(coverage_study(kOwnModel), "s.toml").hash());
}

TEST_F(CoverageKindTest, WrongModelsAreErrorsWithFileAndLine) {
  const auto error_of = [](const std::string& from, const std::string& to) {
    std::string text = kOwnModel;
    text.replace(text.find(from), from.size(), to);
    try {
      static_cast<void>(parse_study(coverage_study(text), "s.toml"));
    } catch (const ParseError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(error_of("[0.7, 0.3]", "[0.7, 0.4]"),
              testing::AllOf(HasSubstr("s.toml:"), HasSubstr("own"), HasSubstr("1.1")));
  EXPECT_THAT(error_of("transition = [[[0.7, 0.3], [0.4, 0.6]]]", ""), HasSubstr("transition"));
  EXPECT_THAT(error_of("[models.own]", "[models.pest-control]"), HasSubstr("named problem"));
  EXPECT_THAT(error_of("[models.own]", "[models.others]"), HasSubstr("own"));
}

TEST_F(CoverageKindTest, StopsAndGoesOn) {
  const ResultTable whole = table_of("whole", coverage_study(kSmall));
  std::int64_t finished = 0;
  for (int round = 0; round < 100; ++round) {
    ResultStore store = open("parts", coverage_study(kSmall));
    std::atomic<int> asked{0};
    StudyRunOptions options;
    options.parallelism.threads = 1;
    options.stop = [&] { return ++asked > 400; };
    const StudyRun run = run_study(store, options);
    EXPECT_EQ(run.skipped, finished);
    finished += run.finished;
    if (run.status == StudyRun::Status::complete) break;
    EXPECT_EQ(run.status, StudyRun::Status::stopped);
    EXPECT_LT(finished, 8);
  }
  EXPECT_EQ(finished, 8);
  EXPECT_EQ(open("parts", coverage_study(kSmall)).table("coverage").csv(), whole.csv());
}

// Two chunks of four logs are the eight logs of one chunk.
TEST_F(CoverageKindTest, ChunksAddUp) {
  std::string whole = kSmall;
  whole.replace(whole.find("logs = 4"), 8, "logs = 8");
  const ResultTable parts = table_of("parts", coverage_study(kSmall, 2));
  const ResultTable all = table_of("all", coverage_study(whole, 1));
  for (const char* part : {"entry", "row", "all"}) {
    for (const char* column : {"trials", "hits", "ball_hits", "flagged", "determined",
                               "undetermined", "wrongly_flagged", "failures", "without_bars"}) {
      EXPECT_EQ(sum_of(parts, column, part), sum_of(all, column, part)) << part << " " << column;
    }
    EXPECT_EQ(sum_of(parts, "logs", part), sum_of(all, "logs", part));
  }
  EXPECT_NEAR(sum_of(parts, "entry_share", "all"), sum_of(all, "entry_share", "all"), 1e-9);
  const auto cells = coverage_cells(parts);
  const auto again = coverage_cells(all);
  ASSERT_EQ(cells.size(), 4U);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(cells[i].model, again[i].model);
    EXPECT_EQ(cells[i].logs, 8);
    EXPECT_NEAR(cells[i].entry.share, again[i].entry.share, 1e-12);
    EXPECT_EQ(cells[i].joint.share, again[i].joint.share);
    EXPECT_EQ(cells[i].worst_p, again[i].worst_p);
  }
}

// Trials, logs without bars and failures are all logs; every estimator sees the same logs.
TEST_F(CoverageKindTest, EveryLogIsAccountedFor) {
  const ResultTable table = table_of("r", coverage_study(R"(
model = "corner/dense-2"
policy = ["uniform", "round-robin"]
timing = ["before", "after"]
estimator = ["oas", "oas-overlap", "oas-weighted", "oas-ml", "em", "particle"]
rows = 300
logs = 3
)",
                                                         1));
  std::map<std::string, std::set<std::string>> visited;
  for (const ResultRow& row : table.rows) {
    const auto number = [&](const char* name) { return to_number(row[table.column(name)]); };
    const std::string part = to_text(row[table.column("part")]);
    if (part == "all") {
      EXPECT_LE(number("trials") + number("without_bars") + number("failures"), 3.0);
      EXPECT_EQ(number("failures"), 0.0) << to_text(row[table.column("message")]);
    }
    if (part != "row") continue;
    EXPECT_LE(number("trials") + number("flagged"), 3.0);
    EXPECT_LE(number("determined") + number("undetermined"), 3.0);
    const std::string cell =
        to_text(row[table.column("policy")]) + to_text(row[table.column("timing")]) +
        to_text(row[table.column("action")]) + to_text(row[table.column("state")]);
    visited[cell].insert(to_text(row[table.column("determined")]));
  }
  EXPECT_EQ(visited.size(), 16U);
  for (const auto& [cell, counts] : visited) EXPECT_EQ(counts.size(), 1U) << cell;
}

TEST_F(CoverageKindTest, WrongSettingsAreNamed) {
  const auto error_of = [](const std::string& lines) {
    try {
      static_cast<void>(parse_study(coverage_study(lines), "s.toml"));
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(error_of("model = \"corner/none\"\n"), HasSubstr("corner/none"));
  EXPECT_THAT(error_of("timing = \"never\"\n"), HasSubstr("timing is 'never'"));
  EXPECT_THAT(error_of("policy = \"none\"\n"), HasSubstr("unknown policy 'none'"));
  EXPECT_THAT(error_of("estimator = \"spectral\"\n"), HasSubstr("no error bars"));
  EXPECT_THAT(error_of("rows = 1\n"), HasSubstr("rows is 1"));
  EXPECT_THAT(error_of("run_length = 1\n"), HasSubstr("run_length is 1"));
  EXPECT_THAT(error_of("logs = 0\n"), HasSubstr("logs is 0"));
  EXPECT_THAT(error_of("confidence = 1.0\n"), HasSubstr("confidence is 1"));
  EXPECT_THAT(error_of("model = \"corner/blind\"\nestimator = \"oas\"\n"), HasSubstr("task a:"));
}

// Rows as the kind writes them, with the numbers that matter put in.
class Cells {
 public:
  Cells() {
    table_.kind = "coverage";
    for (const std::string_view name : find_task_kind("coverage").columns) {
      table_.columns.emplace_back(name);
    }
  }
  ResultRow& add(const std::string& model, const char* part) {
    ResultRow& row = table_.rows.emplace_back(table_.columns.size());
    set(row, "model", model);
    set(row, "part", std::string(part));
    set(row, "logs", std::int64_t{1000});
    return row;
  }
  void set(ResultRow& row, const char* name, Cell value) const {
    row[table_.column(name)] = std::move(value);
  }
  // A cell of 1000 logs and one entry.
  void add_cell(const std::string& model, double entries, double worst, double joint,
                std::int64_t wrong, std::int64_t failures = 0) {
    ResultRow& entry = add(model, "entry");
    set(entry, "trials", std::int64_t{1000});
    set(entry, "hits", static_cast<std::int64_t>(std::llround(1000 * worst)));
    ResultRow& row = add(model, "row");
    set(row, "determined", std::int64_t{1000});
    set(row, "wrongly_flagged", wrong);
    ResultRow& all = add(model, "all");
    set(all, "trials", std::int64_t{1000});
    set(all, "hits", static_cast<std::int64_t>(std::llround(1000 * joint)));
    for (const char* share : {"entry", "row"}) {
      set(all, (std::string(share) + "_logs").c_str(), std::int64_t{1000});
      set(all, (std::string(share) + "_share").c_str(), 1000.0 * entries);
      set(all, (std::string(share) + "_squares").c_str(), 1000.0 * entries);  // 0 or 1 in a log
    }
    set(all, "failures", failures);
    if (failures > 0) set(all, "message", std::string("it broke"));
  }
  [[nodiscard]] const ResultTable& table() const { return table_; }

 private:
  ResultTable table_;
};

TEST(CoverageReport, VerdictsTellMissedFromBadLuck) {
  Cells rows;
  rows.add_cell("good", 0.95, 0.94, 0.95, 0);
  rows.add_cell("low mean", 0.85, 0.94, 0.95, 0);
  rows.add_cell("bad entry", 0.95, 0.80, 0.95, 0);
  rows.add_cell("unlucky entry", 0.95, 0.89, 0.95, 0);
  rows.add_cell("low joint", 0.95, 0.94, 0.80, 0);
  rows.add_cell("unlucky joint", 0.95, 0.94, 0.925, 0);
  rows.add_cell("bad flags", 0.95, 0.94, 0.95, 50);
  rows.add_cell("unlucky flags", 0.95, 0.94, 0.95, 2);
  rows.add_cell("broken", 0.95, 0.94, 0.95, 0, 1);
  const std::vector<CoverageCell> cells = coverage_cells(rows.table());
  const std::vector<std::pair<Verdict, std::string>> expected = {
      {Verdict::pass, ""},      {Verdict::fail, "mean, row"}, {Verdict::fail, "entry"},
      {Verdict::pass, ""},      {Verdict::fail, "joint"},     {Verdict::open, "joint?"},
      {Verdict::fail, "flags"}, {Verdict::open, "flags?"},    {Verdict::fail, "failures"}};
  ASSERT_EQ(cells.size(), expected.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(cells[i].verdict, expected[i].first) << cells[i].model;
    EXPECT_EQ(cells[i].why, expected[i].second) << cells[i].model;
  }
  const KindReport report = detail::coverage_report(rows.table());
  EXPECT_THAT(report.section, HasSubstr("9 cells: 2 pass, 2 are open"));
  EXPECT_THAT(report.section, HasSubstr("1 of 1000 logs failed: it broke"));
  EXPECT_THAT(report.svg, HasSubstr("low mean"));
  EXPECT_THAT(report.csv, HasSubstr("bad entry"));
}

// One log in which a third was held is no proof of anything, though nothing varies.
TEST(CoverageReport, FewLogsLeaveDoubt) {
  Cells rows;
  ResultRow& entry = rows.add("few", "entry");
  rows.set(entry, "trials", std::int64_t{1});
  rows.set(entry, "hits", std::int64_t{0});
  ResultRow& all = rows.add("few", "all");
  rows.set(all, "entry_logs", std::int64_t{1});
  rows.set(all, "entry_share", 1.0 / 3.0);
  rows.set(all, "entry_squares", 1.0 / 9.0);
  const std::vector<CoverageCell> cells = coverage_cells(rows.table());
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].verdict, Verdict::open);
  EXPECT_EQ(cells[0].why, "mean?");
}

TEST(CoverageReport, RowsThatAreAlwaysFlaggedHaveNothingToMiss) {
  Cells rows;
  ResultRow& row = rows.add("blind", "row");
  rows.set(row, "undetermined", std::int64_t{1000});
  rows.set(row, "flagged", std::int64_t{1000});
  static_cast<void>(rows.add("blind", "entry"));
  static_cast<void>(rows.add("blind", "all"));
  const std::vector<CoverageCell> cells = coverage_cells(rows.table());
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].verdict, Verdict::pass);
  EXPECT_EQ(cells[0].flagged, 1.0);
  EXPECT_FALSE(detail::coverage_report(rows.table()).svg.empty());
}

TEST_F(CoverageKindTest, TheReportHasATableAPictureAndAFile) {
  ResultStore store = open("r", coverage_study(kSmall));
  static_cast<void>(run_study(store));
  const Report report = write_report(store);
  const auto has = [&](const std::string& end) {
    return std::any_of(report.files.begin(), report.files.end(),
                       [&](const std::string& file) { return file.ends_with(end); });
  };
  EXPECT_TRUE(has("cells.csv"));
  EXPECT_TRUE(has("figures/cells.svg"));
  EXPECT_THAT(report_html(store, {}), testing::Not(HasSubstr("id=\"cells\"")));
}

}  // namespace
}  // namespace oas
