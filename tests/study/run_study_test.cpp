#include "oas/study/run_study.hpp"

#include <gmock/gmock.h>

#include <atomic>

#include "oas/core/contracts.hpp"
#include "study/study_support.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using test::small_study;
using testing::HasSubstr;

class RunStudyTest : public testing::Test {
 protected:
  ResultStore open(const std::string& folder, const std::string& text = small_study()) {
    return ResultStore::open(directory_.file(folder), parse_study(text, "s.toml"));
  }

  test::TemporaryDirectory directory_;
};

TEST_F(RunStudyTest, SameBytesForAnyNumberOfThreads) {
  std::string first;
  for (const int threads : {1, 2, 4}) {
    ResultStore store = open("t" + std::to_string(threads));
    StudyRunOptions options;
    options.parallelism.threads = threads;
    const StudyRun run = run_study(store, options);
    EXPECT_EQ(run.status, StudyRun::Status::complete);
    EXPECT_EQ(run.finished, 12);
    const std::string csv = store.table("estimation").csv();
    if (first.empty()) first = csv;
    EXPECT_EQ(csv, first);
  }
  EXPECT_THAT(first, HasSubstr(",2000,4000,"));
}

TEST_F(RunStudyTest, StopsAndGoesOn) {
  ResultStore whole = open("whole");
  static_cast<void>(run_study(whole));
  std::int64_t skipped = 0;
  for (int round = 0; round < 100; ++round) {
    ResultStore store = open("parts");
    std::atomic<int> asked{0};
    StudyRunOptions options;
    options.parallelism.threads = 2;
    options.stop = [&] { return ++asked > 20; };
    const StudyRun run = run_study(store, options);
    EXPECT_EQ(run.skipped, skipped);
    skipped += run.finished;
    EXPECT_EQ(run.remaining, 12 - skipped);
    if (run.status == StudyRun::Status::complete) break;
    EXPECT_EQ(run.status, StudyRun::Status::stopped);
  }
  EXPECT_EQ(skipped, 12);
  EXPECT_EQ(ResultStore::open_existing(directory_.file("parts")).table("estimation").csv(),
            whole.table("estimation").csv());
}

// A study that is stopped half-way is a smaller one of all its tasks.
TEST_F(RunStudyTest, AllTasksHaveAReplicationBeforeOneHasTwo) {
  ResultStore store = open("r");
  const auto tasks = static_cast<std::int64_t>(store.study().tasks.size());
  ASSERT_GT(tasks, 1);
  bool enough = false;
  StudyRunOptions options;
  options.parallelism.threads = 1;
  options.progress = [&](const StudyProgress& progress) { enough = progress.done == tasks; };
  options.stop = [&] { return enough; };
  EXPECT_EQ(run_study(store, options).finished, tasks);
  for (const std::int64_t number : store.finished()) {
    EXPECT_EQ(store.study().unit(number).replication, 0U) << number;
  }
}

TEST_F(RunStudyTest, FailedTasksAreRecordedAndTheRestGoesOn) {
  // No sensors of this generator reach α = 1.
  ResultStore store = open("r", small_study("alpha = [0.05, 1.0]"));
  const StudyRun run = run_study(store);
  EXPECT_EQ(run.status, StudyRun::Status::failed);
  EXPECT_EQ(run.finished, 12);
  EXPECT_EQ(run.failed, 12);
  EXPECT_EQ(run.remaining, 12);
  EXPECT_THAT(run.first_failure, HasSubstr("alpha is 1"));
  EXPECT_EQ(store.failures().size(), 12U);
  EXPECT_EQ(run_study(store).skipped, 12);
}

TEST_F(RunStudyTest, ProgressEndsAtOne) {
  ResultStore store = open("r");
  double last = 0.0;
  StudyRunOptions options;
  options.progress = [&](const StudyProgress& progress) {
    EXPECT_GT(progress.work_done, last);
    last = progress.work_done;
  };
  static_cast<void>(run_study(store, options));
  EXPECT_NEAR(last, 1.0, 1e-12);
}

TEST_F(RunStudyTest, ReplayGivesTheSameBytes) {
  ResultStore store = open("r");
  static_cast<void>(run_study(store));
  const Replay replay = replay_unit(store, 7);
  EXPECT_TRUE(replay.equal);
  EXPECT_FALSE(replay.stored.empty());
  EXPECT_THROW(static_cast<void>(replay_unit(store, 12)), InvalidArgument);
}

TEST_F(RunStudyTest, LearningTasks) {
  const std::string learning = R"(
[[sweep]]
name = "b"
kind = "learning"
size = "3x3x3"
epsilon = 0.01
steps = 600
checkpoints = 3
agent = ["uniform", "oracle"]
)";
  ResultStore store = open("r", small_study(learning, 1));
  EXPECT_EQ(run_study(store).status, StudyRun::Status::complete);
  const ResultTable table = store.table("learning");
  ASSERT_EQ(table.rows.size(), 6U);
  const std::size_t regret = table.column("expected_regret");
  EXPECT_GT(to_number(table.rows[2][regret]), to_number(table.rows[5][regret]) + 1.0);
  EXPECT_NEAR(to_number(table.rows[5][regret]), 0.0, 2.0);
  // What regret is measured from is known better than what it shows.
  const std::size_t error = table.column("oracle_gain_error");
  for (const auto& row : table.rows) EXPECT_LT(600.0 * to_number(row[error]), 1.5);
}

}  // namespace
}  // namespace oas
