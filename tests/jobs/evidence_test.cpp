#include "oas/estimation/evidence.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "oas/jobs/log_estimation.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/temporary_directory.hpp"

/// Rows in memory and rows in files, however they are cut: the same estimate to the bit, error bars
/// included, over several runs.
namespace oas {
namespace {

void expect_same(const TransitionEstimate& one, const TransitionEstimate& other) {
  EXPECT_EQ(one.transition, other.transition);
  EXPECT_EQ(one.num_batches, other.num_batches);
  EXPECT_EQ(one.lower, other.lower);
  EXPECT_EQ(one.upper, other.upper);
  EXPECT_EQ(one.row_region.lower, other.row_region.lower);
  EXPECT_EQ(one.joint_region.upper, other.joint_region.upper);
  EXPECT_EQ(one.rows, other.rows);
  EXPECT_EQ(one.runs, other.runs);
}

class EvidenceOfName : public testing::TestWithParam<const char*> {};

TEST_P(EvidenceOfName, SaysWhatTheCommandSays) {
  const std::string name = GetParam();
  const Pomdp model = make_problem("pest-control");
  test::TemporaryDirectory directory;
  EvidenceOptions settings;
  settings.stream = {1, 0, Role::bootstrap};
  Evidence evidence = make_evidence(name, model, settings);
  const std::vector<std::string> paths = {directory.file("log.csv")};
  LogWriter writer(paths.front(), model, {.run = true, .propensity = true});
  for (std::uint32_t run = 0; run < 3; ++run) {
    ClosedLoop loop(model, {.name = "belief"}, 9, run);
    Trajectory rows;
    loop.advance(1500, rows);
    evidence.start_run();
    evidence.add(rows);
    writer.write(rows, run);
  }
  writer.commit();
  Estimation how;
  how.estimator = name;
  how.estimate.confidence = 0.9;
  const TransitionEstimate files = estimate_from_logs(model, paths, how);
  const TransitionEstimate memory = evidence.estimate(how.estimate);
  EXPECT_EQ(memory.rows, files.rows);
  EXPECT_EQ(memory.runs, files.runs);
  EXPECT_EQ(memory.confidence, files.confidence);
  ASSERT_EQ(memory.lower.size(), files.lower.size());
  ASSERT_FALSE(memory.joint_region.lower.empty());
  expect_same(memory, files);
}

// Seven runs in one file, a file for each, and files of several runs; one thread and three.
TEST_P(EvidenceOfName, SaysTheSameHoweverRunsAreDealtOutToFiles) {
  const Pomdp model = make_problem("robot-corridor");
  test::TemporaryDirectory directory;
  std::vector<Trajectory> runs(7);
  for (std::uint32_t run = 0; run < runs.size(); ++run) {
    ClosedLoop(model, {.name = "belief"}, 9, run).advance(30 + 211 * (run % 4), runs[run]);
  }
  const auto written = [&](const std::string& name, std::size_t first, std::size_t end) {
    LogWriter writer(directory.file(name), model, {.run = end - first > 1, .propensity = true});
    for (std::size_t run = first; run < end; ++run) writer.write(runs[run], static_cast<long>(run));
    writer.commit();
    return directory.file(name);
  };
  std::vector<std::string> each;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    each.push_back(written("run" + std::to_string(run) + ".csv", run, run + 1));
  }
  Estimation how;
  how.estimator = GetParam();
  how.estimate.parallelism = {1};
  const TransitionEstimate whole =
      estimate_from_logs(model, std::vector{written("all.csv", 0, 7)}, how);
  EXPECT_EQ(whole.runs, 7);
  for (const int threads : {1, 3}) {
    how.estimate.parallelism = {threads};
    expect_same(estimate_from_logs(model, each, how), whole);
    const std::vector<std::string> some = {written("a.csv", 0, 3), each[3],
                                           written("b.csv.gz", 4, 7)};
    expect_same(estimate_from_logs(model, some, how), whole);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EvidenceOfName,
                         testing::Values("oas", "oas-overlap", "oas-weighted", "oas-soft", "oas-ml",
                                         "em", "particle", "gibbs"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace oas
