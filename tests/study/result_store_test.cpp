#include "oas/study/result_store.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "oas/core/contracts.hpp"
#include "oas/study/kinds.hpp"
#include "study/study_support.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using test::slurp;
using test::small_study;
using test::spill;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ResultStoreTest : public testing::Test {
 protected:
  ResultStoreTest() : study_(parse_study(small_study(), "s.toml")) {}

  [[nodiscard]] std::string folder() const { return directory_.file("results"); }
  [[nodiscard]] std::string file() const { return folder() + "/results.sqlite"; }

  // A row as wide as the kind wants, with every type of cell in it.
  static UnitResult result(std::int64_t number, double value) {
    ResultRow row(find_task_kind("estimation").columns.size());
    row[0] = std::string("a,\"b\"\n");
    row[1] = std::int64_t{-3};
    row[2] = value;
    row[3] = std::numeric_limits<double>::quiet_NaN();
    return {number, false, "", 0.5, {row, row}};
  }

  static std::string error_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no error";
  }
  [[nodiscard]] std::string error_of_open(const Study& study) const {
    return error_of([&] { static_cast<void>(ResultStore::open(folder(), study)); });
  }
  [[nodiscard]] std::string error_of_reading() const {
    return error_of(
        [&] { static_cast<void>(ResultStore::open_existing(folder()).table("estimation")); });
  }

  test::TemporaryDirectory directory_;
  Study study_;
};

TEST_F(ResultStoreTest, GivesBackWhatWasStored) {
  {
    ResultStore store = ResultStore::open(folder(), study_);
    store.record(result(4, 0.1));
    store.record(result(1, 1.0 / 3.0));
    store.record(UnitResult{2, true, "went wrong", 0.1, {}});
  }
  const ResultStore store = ResultStore::open_existing(folder());
  EXPECT_THAT(store.finished(), ElementsAre(1, 4));
  ASSERT_EQ(store.failures().size(), 1U);
  EXPECT_EQ(store.failures()[0].message, "went wrong");
  EXPECT_EQ(store.study().hash(), study_.hash());
  const ResultTable table = store.table("estimation");
  ASSERT_EQ(table.rows.size(), 4U);
  const std::string csv = table.csv();
  EXPECT_THAT(csv, HasSubstr("\n1,a,1,7,\"a,\"\"b\"\"\n\",-3,0.3333333333333333,,"));
  EXPECT_LT(csv.find("\n1,a"), csv.find("\n4,a"));
  EXPECT_DOUBLE_EQ(store.total_seconds(), 1.1);
}

TEST_F(ResultStoreTest, AFailureIsReplacedByTheNextTry) {
  ResultStore store = ResultStore::open(folder(), study_);
  store.record(UnitResult{2, true, "went wrong", 0.1, {}});
  store.record(result(2, 1.0));
  EXPECT_TRUE(store.failures().empty());
  EXPECT_THAT(store.finished(), ElementsAre(2));
  // A finished unit is never stored twice.
  EXPECT_THROW(store.record(result(2, 2.0)), std::exception);
  EXPECT_EQ(store.unit(2).rows, ResultStore::open_existing(folder()).unit(2).rows);
}

TEST_F(ResultStoreTest, AChangedStudyIsRefused) {
  ResultStore::open(folder(), study_).record(result(0, 1.0));
  const std::string before = slurp(file());
  std::string text = small_study();
  text.replace(text.find("pairs = 2000"), 12, "pairs = 4000");
  EXPECT_THAT(error_of_open(parse_study(text, "other.toml")),
              AllOf(HasSubstr("pairs = 2000\" there"), HasSubstr("pairs = 4000\" in other.toml")));
  EXPECT_THAT(error_of_open(parse_study(small_study(), "s.toml", true)),
              HasSubstr("another study"));
  EXPECT_EQ(slurp(file()), before);
}

TEST_F(ResultStoreTest, NewProseReplacesOld) {
  ResultStore::open(folder(), study_).record(result(0, 1.0));
  std::string text = small_study();
  text.replace(text.find("A small study"), 13, "Another title");
  static_cast<void>(ResultStore::open(folder(), parse_study(text, "s.toml")));
  EXPECT_EQ(ResultStore::open_existing(folder()).study().title, "Another title");
}

TEST_F(ResultStoreTest, OneWriterAtATime) {
  const ResultStore store = ResultStore::open(folder(), study_);
  EXPECT_THAT(error_of_open(study_), HasSubstr("another process"));
  EXPECT_EQ(error_of_reading(), "no error");
}

TEST_F(ResultStoreTest, ForeignAndDamagedFilesAreLeftAlone) {
  std::filesystem::create_directories(folder());
  spill(file(),
        "this is no database, and it is longer than a header of one would have to be....."
        "...................");
  EXPECT_THAT(error_of_open(study_), AllOf(HasSubstr(file()), HasSubstr("not a results file")));
  EXPECT_THAT(slurp(file()), HasSubstr("this is no database"));
  EXPECT_THAT(error_of_reading(), HasSubstr("not a results file"));
  std::filesystem::remove(file());
  EXPECT_THAT(error_of_reading(), HasSubstr("run the study first"));
}

TEST_F(ResultStoreTest, DamageIsFound) {
  {
    ResultStore store = ResultStore::open(folder(), study_);
    for (std::int64_t i = 0; i < study_.num_units(); ++i) store.record(result(i, 0.125 + i));
  }
  const std::string good = slurp(file());
  int found = 0;
  int harmless = 0;
  // One flipped byte in each stretch of the file: found, or without consequence for the results.
  for (std::size_t at = 100; at < good.size(); at += 577) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x55);
    spill(file(), bad);
    try {
      const ResultStore store = ResultStore::open_existing(folder());
      const std::string csv = store.table("estimation").csv();
      spill(file(), good);
      harmless += csv == ResultStore::open_existing(folder()).table("estimation").csv() ? 1 : 0;
    } catch (const std::exception&) {
      ++found;
    }
  }
  EXPECT_GT(found, 0);
  const auto tries = static_cast<int>((good.size() - 100 + 576) / 577);
  EXPECT_EQ(found + harmless, tries);
  spill(file(), good.substr(0, good.size() / 2));
  EXPECT_THAT(error_of_reading(), HasSubstr("damaged"));
}

TEST_F(ResultStoreTest, FoldersThatCannotBeMade) {
  spill(directory_.file("plain"), "x");
  EXPECT_THAT(error_of([&] {
                static_cast<void>(ResultStore::open(directory_.file("plain/results"), study_));
              }),
              HasSubstr("cannot be made"));
}

}  // namespace
}  // namespace oas
