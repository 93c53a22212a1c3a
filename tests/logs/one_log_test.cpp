// A log over several files: units go on in the next one.
#include "oas/logs/one_log.hpp"

#include "log_support.hpp"
#include "oas/logs/log_files.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "support/temporary_directory.hpp"

namespace oas::test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

const std::string kHeader = "run,time,action,observation,state,propensity\n";

// Three units whose rows are mixed, with gaps, missing readings and rows in which the state is
// known; 'c' ends early and 'b' begins late.
std::vector<std::string> fleet_rows() {
  std::vector<std::string> rows;
  for (int t = 0; t < 12; ++t) {
    for (const char unit : {'a', 'b', 'c'}) {
      if ((unit == 'b' && t < 4) || (unit == 'c' && t > 6) || (unit == 'a' && t == 5)) continue;
      const std::string seen = (t + unit) % 5 == 0 ? "" : std::to_string((t * t + unit) % 4);
      const std::string state = (t + unit) % 4 == 0 ? std::to_string(t % 2) : "";
      rows.push_back(fmt::format("{},{},{},{},{},0.5\n", unit, t, (t + unit) % 3, seen, state));
    }
  }
  return rows;
}

std::string text_of(const std::vector<std::string>& rows, std::size_t first, std::size_t last) {
  std::string text = kHeader;
  for (std::size_t i = first; i < last; ++i) text += rows[i];
  return text;
}

struct Reading {
  const char* name;
  Timing timing;
  LogOptions options;
};

void PrintTo(const Reading& reading, std::ostream* out) { *out << reading.name; }

class CutAnywhere : public testing::TestWithParam<Reading> {};

TEST_P(CutAnywhere, GivesTheRowsOfTheWholeLog) {
  const TemporaryDirectory folder;
  const Pomdp model = index_model(GetParam().timing);
  const std::vector<std::string> rows = fleet_rows();
  const LogBlock whole = read_text(text_of(rows, 0, rows.size()), model, 1000, GetParam().options);
  ASSERT_GT(whole.rows.size(), 15U);
  for (std::size_t cut = 0; cut <= rows.size(); ++cut) {
    const std::size_t second = (cut + rows.size()) / 2;
    const std::vector<std::string> files = {folder.file("1.csv"), folder.file("2.csv"),
                                            folder.file("3.csv")};
    spill(files[0], text_of(rows, 0, cut));
    spill(files[1], text_of(rows, cut, second) + "\n");  // a blank line may end a file
    spill(files[2], text_of(rows, second, rows.size()));
    for (const std::size_t block : {3UL, 1000UL}) {
      ASSERT_TRUE(read_all(LogReader(OneLog(files), model, GetParam().options), block) == whole)
          << "cut behind row " << cut;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    OneLog, CutAnywhere,
    testing::Values(Reading{"Before", Timing::before, {.step = "1", .gaps = "repeat"}},
                    Reading{"After", Timing::after, {.step = "1", .gaps = "repeat"}},
                    Reading{"NewRun", Timing::after, {.step = "1", .gaps = "new-run"}},
                    Reading{"Window",
                            Timing::before,
                            {.step = "1", .gaps = "repeat", .from = "2", .until = "9"}},
                    Reading{"KnownStates",
                            Timing::after,
                            {.step = "1", .gaps = "repeat", .known_states = true}},
                    Reading{"ReadingFirst",
                            Timing::after,
                            {.step = "1", .gaps = "repeat", .rows = "reading-first"}}),
    [](const auto& reading) { return std::string(reading.param.name); });

TEST(OneLogFiles, ColumnsMayStandInAnotherOrder) {
  const TemporaryDirectory folder;
  spill(folder.file("1.csv"), "run,time,action,observation\na,1,0,1\nb,1,1,2\n");
  spill(folder.file("2.csv"), "time,observation,run,action\n2,3,a,2\n2,0,b,1\n");
  const std::vector<std::string> files = {folder.file("1.csv"), folder.file("2.csv")};
  const LogBlock log = read_all(LogReader(OneLog(files), index_model()));
  EXPECT_THAT(values(log.rows.actions), ElementsAre(0, 2, 1, 1));
  EXPECT_THAT(values(log.rows.observations), ElementsAre(1, 3, 2, 0));
  EXPECT_THAT(log.run_names, ElementsAre("a", "b"));
}

TEST(OneLogFiles, FaultsNameTheirOwnFileLineAndColumn) {
  const TemporaryDirectory folder;
  const std::string first = folder.file("1.csv");
  const std::string second = folder.file("2.csv");
  spill(first, "run,time,action,observation\na,1,0,1\na,2,1,2\n");
  const auto error = [&](const std::string& text) {
    spill(second, text);
    const std::vector<std::string> files = {first, second};
    try {
      static_cast<void>(read_all(LogReader(OneLog(files), index_model())));
    } catch (const ParseError& fault) {
      return std::string(fault.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(error("time,run,action,observation\n3,a,0,1\n3,a,1,1\n"), HasSubstr("2.csv:3:1: "));
  EXPECT_THAT(error("time,run,action,observation\n1,a,0,1\n"), HasSubstr("2.csv:2:1: "));
  EXPECT_THAT(error("# x\ntime,run,action,observation\n3,a,9,1\n"), HasSubstr("2.csv:3:3: action"));
  EXPECT_THAT(error("run,action,observation\na,0,1\n"),
              HasSubstr("2.csv:1: there is no column for time, unlike "));
  EXPECT_THAT(error("run,time,action,observation,reward\na,3,0,1,2\n"),
              HasSubstr("2.csv:1: there is a column for reward, unlike "));
  EXPECT_THAT(error(""), HasSubstr("2.csv: the file is empty"));
  EXPECT_THAT(error("run,time,action,observation\na,2026-03-01,0,1\n"),
              HasSubstr("2.csv:2:2: time '2026-03-01' is a date without zone, but line 2 of " +
                        first + " has a number"));
  EXPECT_THAT(error("run,time,action,observation\na,5,0,1\n"),
              HasSubstr("1.csv to " + second + ": the times of consecutive rows differ"));
}

TEST(OneLogFiles, RowsKnowTheirFileAndLine) {
  const TemporaryDirectory folder;
  const std::vector<std::string> files = {folder.file("1.csv"), folder.file("2.csv")};
  spill(files[0], "run,time,action,observation\na,1,0,1\nb,1,1,2\n");
  spill(files[1], "run,time,action,observation\nb,2,1,2\na,2,1,2\n");
  const Pomdp model = index_model();
  LogFiles rows(model, files);
  EXPECT_TRUE(rows.parts(Parallelism(), {}).empty());
  RowBlock block;
  ASSERT_TRUE(rows.next(block));
  const auto place = [&](std::size_t row) {
    try {
      rows.fail(row, "here");
    } catch (const ParseError& fault) {
      return std::string(fault.what());
    }
  };
  EXPECT_THAT(place(0), HasSubstr("1.csv:2: here"));
  EXPECT_THAT(place(1), HasSubstr("2.csv:3: here"));
  EXPECT_THAT(place(2), HasSubstr("1.csv:3: here"));
  EXPECT_THAT(place(3), HasSubstr("2.csv:2: here"));
}

// Runs of simulations are numbered anew in each file, and where there is no unit there may be one
// file for each.
TEST(OneLogFiles, NeedUnitsAndTimes) {
  const TemporaryDirectory folder;
  const auto logs = [&](const std::string& header, const LogOptions& options = {}) {
    const std::vector<std::string> files = {folder.file("1.csv"), folder.file("2.csv")};
    spill(files[0], header + "\n");
    return logs_of(files, options);
  };
  EXPECT_THAT(logs("run,time,action,observation"), SizeIs(1));
  EXPECT_THAT(logs("run,action,observation"), SizeIs(2));
  EXPECT_THAT(logs("time,action,observation"), SizeIs(2));
  EXPECT_THAT(logs("pump,ts,action,observation", {.columns = "run=pump,time=ts"}), SizeIs(1));
  EXPECT_THAT(logs("run,time,action,observation", {.columns = "time="}), SizeIs(2));
  EXPECT_THAT(logs_of(std::vector<std::string>{"none.csv", "other.csv"}), SizeIs(2));
  EXPECT_TRUE(one_log_of(std::vector<std::string>{"none.csv", "other.csv"}).starts_runs());
  spill(folder.file("2.csv"), "action,observation\n0,0\n");
  const std::vector<std::string> untimed = {folder.file("2.csv"), folder.file("2.csv")};
  EXPECT_THROW(LogReader(OneLog(untimed), index_model()), ParseError);
}

// The files of a log each of which starts a run.
class FilesInARow : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    spill(folder_.file(name), text);
    names_.push_back(folder_.file(name));
  }
  [[nodiscard]] OneLog log() const { return one_log_of(names_); }
  [[nodiscard]] LogBlock read(std::size_t max_rows = 1000) const {
    return read_all(LogReader(log(), index_model()), max_rows);
  }
  [[nodiscard]] std::string unit(std::size_t file, const std::string& run) const {
    return names_[file] + ":" + run;
  }
  void write_list(const std::vector<std::int64_t>& runs) const {
    std::vector<LogShard> list;
    for (std::size_t i = 0; i < names_.size(); ++i) list.push_back(shard_of(names_[i], 3, runs[i]));
    write_shard_list(folder_.path().string(), list);
  }

  TemporaryDirectory folder_;
  std::vector<std::string> names_;
};

TEST_F(FilesInARow, GiveTheRowsOfAllAndARunForEach) {
  write("a.csv", "action,observation\n0,1\n1,2\n");
  write("b.csv", "observation,action\n3,2\n");
  write("c.csv", "action,observation\n0,0\n2,2\n1,1\n");
  for (const std::size_t max_rows : {1, 2, 1000}) {
    const LogBlock all = read(max_rows);
    EXPECT_THAT(all.rows.actions, ElementsAre(0, 1, 2, 0, 2, 1));
    EXPECT_THAT(all.rows.observations, ElementsAre(1, 2, 3, 0, 2, 1));
    EXPECT_THAT(all.run_starts, ElementsAre(0, 2, 3));
    EXPECT_THAT(all.run_names, ElementsAreArray(names_));
  }
}

TEST_F(FilesInARow, NumbersAreCountedAnewInEachFileUnlessTheyAreShardsOfOneLog) {
  write("a.csv", "run,action,observation\n0,0,1\n1,0,1\n1,0,1\n");
  write("b.csv", "run,action,observation\n2,0,1\n3,0,1\n3,0,1\n");
  EXPECT_THAT(read().run_names,
              ElementsAre(unit(0, "0"), unit(0, "1"), unit(1, "2"), unit(1, "3")));
  write_list({2, 2});
  EXPECT_THAT(read().run_names, ElementsAre("0", "1", "2", "3"));
}

TEST_F(FilesInARow, AUnitThatComesAgainIsNoLongerOneThatAnybodyKnows) {
  write("a.csv", "run,action,observation\nx,0,1\ny,0,1\n");
  write("b.csv", "run,action,observation\nz,0,1\nx,0,1\n");
  EXPECT_THAT([&] { static_cast<void>(read()); },
              ThrowsMessage<ParseError>(HasSubstr("b.csv: run 'x' was in an earlier file, too")));
}

TEST_F(FilesInARow, HaveTheColumnsOfTheFirst) {
  write("a.csv", "action,observation,reward\n0,1,1\n");
  write("b.csv", "action,observation\n0,1\n");
  EXPECT_THAT([&] { static_cast<void>(read()); },
              ThrowsMessage<ParseError>(HasSubstr("b.csv:1: there is no column for the reward")));
}

TEST_F(FilesInARow, KnowTheFileAndLineOfARow) {
  write("a.csv", "action,observation\n0,1\n0,2\n");
  write("b.csv", "# a comment\naction,observation\n0,3\n");
  LogReader reader(log(), index_model());
  LogBlock block;
  ASSERT_TRUE(reader.read_block(block, 100));
  EXPECT_EQ(reader.file_of(1), 0U);
  EXPECT_EQ(reader.line_of(1), 3);
  ASSERT_TRUE(reader.read_block(block, 100));
  EXPECT_EQ(reader.file_of(0), 1U);
  EXPECT_EQ(reader.line_of(0), 3);
  EXPECT_EQ(reader.rows_read(), 3U);
  EXPECT_FALSE(reader.read_block(block, 100));
}

TEST_F(FilesInARow, AnEmptyOneIsNamed) {
  write("a.csv", "action,observation\n0,1\n");
  write("b.csv", "");
  EXPECT_THAT([&] { static_cast<void>(read()); },
              ThrowsMessage<ParseError>(HasSubstr("b.csv: the file is empty")));
}

// Whichever way a log is read, the list beside its files is believed about their bytes.
TEST_F(FilesInARow, ChangedBytesAreFoundHoweverFilesFollowEachOther) {
  for (const std::string header : {"run,time,action,observation\n", "run,n,action,observation\n"}) {
    for (const std::size_t changed : {0U, 1U}) {
      names_.clear();
      write("a.csv", header + "x,1,0,1\nx,2,0,1\n");
      write("b.csv", header + "y,1,0,1\ny,2,0,1\n");
      write_list({1, 1});
      const std::string text = slurp(names_[changed]);
      spill(names_[changed], text.substr(0, text.size() - 2) + "2\n");
      const LogOptions options{.columns = header.find(",n,") == std::string::npos
                                              ? ""
                                              : "run=run,action=action,observation=observation"};
      const auto reading = [&] {
        static_cast<void>(read_all(LogReader(one_log_of(names_, options), index_model(), options)));
      };
      EXPECT_THAT(reading, ThrowsMessage<ParseError>(HasSubstr("these are not the bytes")));
      const auto each = [&] {
        const Pomdp model = index_model();
        LogFiles rows(model, names_, {}, options);
        for (RowBlock block; rows.next(block);) {
        }
      };
      EXPECT_THAT(each, ThrowsMessage<ParseError>(HasSubstr("these are not the bytes")));
    }
  }
}

}  // namespace
}  // namespace oas::test
