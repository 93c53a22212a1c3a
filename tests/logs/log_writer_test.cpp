#include "oas/logs/log_writer.hpp"

#include <unistd.h>

#include <cmath>

#include "logs/log_support.hpp"
#include "support/allocations.hpp"
#include "support/temporary_directory.hpp"

namespace oas::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Trajectory two_rows() {
  Trajectory rows;
  rows.actions = {Action{2}, Action{0}};
  rows.observations = {Observation{2}, kMissing};
  rows.propensities = {0.1, 1.0};
  rows.rewards = {-2.0, 1e-7};
  rows.states = {State{1}, State{0}};
  return rows;
}

std::string written(const Pomdp& model, LogColumns columns, const Trajectory& rows) {
  const TemporaryDirectory folder;
  LogWriter writer(folder.file("log.csv"), model, columns);
  writer.write(rows, 5);
  writer.commit();
  return slurp(folder.file("log.csv"));
}

// What the writer says about a block it refuses.
std::string refusal(LogColumns columns, const Trajectory& rows) {
  try {
    static_cast<void>(written(index_model(), columns, rows));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(LogWriter, WritesIndices) {
  EXPECT_EQ(written(index_model(), {}, two_rows()),
            "# oas-log/1 timing=before\naction,observation\n2,2\n0,\n");
}

TEST(LogWriter, WritesAllColumnsWithNamesAndQuotes) {
  EXPECT_EQ(written(name_model(Timing::after), {true, true, true, true}, two_rows()),
            "# oas-log/1 timing=after\n"
            "run,action,observation,propensity,reward,state\n"
            "5,\"turn, left\",\"say \"\"blue\"\"\",0.1,-2,wet\n"
            "5,go,,1,1e-07,dry\n");
}

TEST(LogWriter, BlocksOfOneRunContinueIt) {
  const TemporaryDirectory folder;
  const std::string path = folder.file("log.csv");
  LogWriter writer(path, index_model(), {.run = true});
  writer.write(two_rows(), 0);
  writer.write(two_rows(), 0);
  writer.write(two_rows(), 1);
  writer.commit();
  EXPECT_THAT(read_all(LogReader(path, index_model())).run_starts, ElementsAre(0, 4));
}

TEST(LogWriter, RunsNeedTheirColumn) {
  const TemporaryDirectory folder;
  LogWriter writer(folder.file("log.csv"), index_model(), {});
  writer.write(two_rows(), 0);
  EXPECT_THROW(writer.write(two_rows(), 1), InvalidArgument);
}

TEST(LogWriter, SameBytesEveryTime) {
  const TemporaryDirectory folder;
  for (const std::string ending : {".csv", ".csv.gz", ".csv.zst"}) {
    for (const std::string name : {"a", "b"}) {
      LogWriter writer(folder.file(name + ending), index_model(), {.propensity = true});
      writer.write(two_rows(), 0);
      writer.commit();
    }
    EXPECT_EQ(slurp(folder.file("a" + ending)), slurp(folder.file("b" + ending))) << ending;
  }
  const std::string gzip = slurp(folder.file("a.csv.gz"));
  EXPECT_EQ(gzip.substr(0, 8), std::string("\x1f\x8b\x08\0\0\0\0\0", 8));  // no name, no date
}

TEST(LogWriter, RefusesWhatTheReaderWould) {
  const auto changed = [](auto change) {
    Trajectory rows = two_rows();
    change(rows);
    return rows;
  };
  const LogColumns all{true, true, true, true};
  EXPECT_EQ(refusal({}, changed([](Trajectory& rows) { rows.actions[1] = Action{3}; })),
            "row 1: action 3 is out of range; the model has 3");
  EXPECT_EQ(refusal({}, changed([](Trajectory& rows) { rows.actions[0] = Action{-1}; })),
            "row 0: action -1 is out of range; the model has 3");
  EXPECT_EQ(refusal({}, changed([](Trajectory& rows) { rows.observations[0] = Observation{-2}; })),
            "row 0: observation -2 is out of range; the model has 4");
  EXPECT_EQ(refusal(all, changed([](Trajectory& rows) { rows.propensities[1] = 0.0; })),
            "row 1: propensity 0 is not in (0, 1]");
  EXPECT_EQ(refusal(all, changed([](Trajectory& rows) { rows.rewards[0] = -INFINITY; })),
            "row 0: reward -inf is not finite");
  EXPECT_EQ(refusal(all, changed([](Trajectory& rows) { rows.states.clear(); })),
            "0 states for 2 rows");
  EXPECT_EQ(refusal({}, changed([](Trajectory& rows) { rows.observations.pop_back(); })),
            "1 observations for 2 rows");
  EXPECT_EQ(refusal({}, Trajectory()), "a log without rows");
}

TEST(LogWriter, NothingWithoutCommit) {
  const TemporaryDirectory folder;
  const std::string path = folder.file("log.csv");
  spill(path, "old");
  {
    LogWriter writer(path, index_model(), {});
    writer.write(two_rows(), 0);
  }
  EXPECT_EQ(slurp(path), "old");
  EXPECT_THAT(folder.entries(), ElementsAre("log.csv"));
}

TEST(LogWriter, LastCallIsCommit) {
  const TemporaryDirectory folder;
  LogWriter writer(folder.file("log.csv"), index_model(), {});
  writer.write(two_rows(), 0);
  writer.commit();
  EXPECT_THROW(writer.write(two_rows(), 0), InvalidArgument);
  EXPECT_THROW(writer.commit(), InvalidArgument);
}

TEST(LogWriter, FullDisk) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  LogWriter small("/dev/full", index_model(), {});
  small.write(two_rows(), 0);
  EXPECT_THROW(small.commit(), IoError);

  Trajectory rows;
  rows.actions.resize(1'000'000);
  rows.observations.resize(1'000'000);
  LogWriter large("/dev/full", index_model(), {});
  try {
    large.write(rows, 0);
    FAIL() << "written";
  } catch (const IoError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/dev/full: write failed: No space left on device"));
  }
}

TEST(LogWriter, PlaceThatCannotBeWritten) {
  const TemporaryDirectory folder;
  for (const std::string& path : {std::string(), folder.path().string(),
                                  folder.file("none/log.csv"), std::string("/proc/log.csv")}) {
    EXPECT_THROW(LogWriter(path, index_model(), {}), InvalidArgument) << path;
  }
  EXPECT_THAT(folder.entries(), IsEmpty());
}

TEST(LogWriter, NamesTooLongForALine) {
  const Pomdp model = log_model(Labels(1, "state"), Labels({std::string(1 << 20, 'x')}, "action"),
                                Labels(2, "observation"));
  const TemporaryDirectory folder;
  EXPECT_THROW(LogWriter(folder.file("log.csv"), model, {}), InvalidArgument);
  EXPECT_THAT(folder.entries(), IsEmpty());
}

TEST(LogWriter, StandardOutput) {
  const std::string expected = written(index_model(), {}, two_rows());
  for (const std::string path : {"-", "/dev/stdout"}) {
    testing::internal::CaptureStdout();  // a regular file, which must not be replaced
    LogWriter writer(path, index_model(), {});
    writer.write(two_rows(), 0);
    writer.commit();
    EXPECT_EQ(testing::internal::GetCapturedStdout(), expected) << path;
  }
}

TEST(LogWriter, AllocatesNothingPerBlock) {
  const TemporaryDirectory folder;
  LogWriter writer(folder.file("log.csv"), name_model(), {true, true, true, true});
  Trajectory rows;
  rows.actions.resize(50'000, Action{2});
  rows.observations.resize(50'000, Observation{3});
  rows.propensities.resize(50'000, 0.3);
  rows.rewards.resize(50'000, 7.25);
  rows.states.resize(50'000);
  writer.write(rows, 0);
  const std::size_t before = allocations();
  for (int i = 0; i < 3; ++i) writer.write(rows, 0);
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace oas::test
