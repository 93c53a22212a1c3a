// Parts of a study on machines that share nothing, and one folder made of them.
#include "oas/study/merge_stores.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "oas/core/contracts.hpp"
#include "oas/study/run_study.hpp"
#include "study/study_support.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using test::small_study;
using testing::HasSubstr;
using testing::ThrowsMessage;

class MergeStoresTest : public testing::Test {
 protected:
  ResultStore open(const std::string& folder, const std::string& text = small_study()) {
    return ResultStore::open(directory_.file(folder), parse_study(text, "s.toml"));
  }

  // Runs part `part` of `parts`, and returns its folder.
  std::string run_part(int part, int parts, const std::string& text = small_study()) {
    const std::string name = std::to_string(part) + "-of-" + std::to_string(parts);
    ResultStore store = open(name, text);
    StudyRunOptions options;
    options.units = units_of_part(store.study(), part, parts);
    const StudyRun run = run_study(store, options);
    EXPECT_EQ(run.finished, static_cast<std::int64_t>(options.units->size()));
    return directory_.file(name);
  }

  StoreMerge merge(ResultStore& whole, const std::vector<std::string>& parts) {
    return merge_stores(whole, parts);
  }

  test::TemporaryDirectory directory_;
};

TEST_F(MergeStoresTest, PartsTogetherAreTheStudyToTheByte) {
  ResultStore at_once = open("at-once");
  static_cast<void>(run_study(at_once));
  for (const int parts : {1, 2, 5, 12, 15}) {  // some of 15 are empty
    std::vector<std::string> folders;
    for (int part = 1; part <= parts; ++part) folders.push_back(run_part(part, parts));
    ResultStore whole = open("whole-" + std::to_string(parts));
    const StoreMerge merged = merge(whole, folders);
    EXPECT_EQ(merged.added, 12);
    EXPECT_EQ(merged.missing, 0);
    EXPECT_EQ(whole.table("estimation").csv(), at_once.table("estimation").csv());
    EXPECT_EQ(whole.sessions().size(), std::min(parts, 12));
  }
}

TEST_F(MergeStoresTest, EveryUnitIsInOnePartAndPartsAreAlike) {
  const Study study = parse_study(small_study({}, 30), "s.toml");
  for (const int parts : {1, 2, 7, 120, 500}) {
    std::multiset<std::int64_t> units;
    for (int part = 1; part <= parts; ++part) {
      const auto mine = units_of_part(study, part, parts);
      EXPECT_LE(std::abs(static_cast<double>(mine.size()) - 120.0 / parts), 1.0);
      units.insert(mine.begin(), mine.end());
    }
    EXPECT_EQ(units.size(), 120U);
    EXPECT_EQ(std::set(units.begin(), units.end()).size(), 120U);
  }
  EXPECT_THROW(static_cast<void>(units_of_part(study, 0, 3)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(units_of_part(study, 4, 3)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(units_of_part(study, 1, 0)), InvalidArgument);
}

// Killed, repeated, in another order: what is there stays.
TEST_F(MergeStoresTest, MergingAgainAddsNothing) {
  const std::string one = run_part(1, 3);
  const std::string two = run_part(2, 3);
  ResultStore whole = open("whole");
  EXPECT_EQ(merge(whole, {one}).missing, 8);
  EXPECT_EQ(merge(whole, {two, one}).added, 4);
  const StoreMerge again = merge(whole, {one, two, one});
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.there, 12);
  EXPECT_EQ(again.missing, 4);
  EXPECT_EQ(whole.sessions().size(), 2U);
  EXPECT_EQ(run_study(whole).finished, 4);  // and a run does the rest
}

TEST_F(MergeStoresTest, NothingIsStoredWhereAPartIsNotOfTheStudy) {
  const std::string one = run_part(1, 2);
  const std::string other = run_part(1, 4, small_study({}, 4));
  ResultStore whole = open("whole");
  const auto message_of = [&](const std::string& part) {
    try {
      static_cast<void>(merge(whole, {one, part}));
      return std::string("merged");
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(message_of(other), HasSubstr("holds results of another study"));
  EXPECT_THAT(message_of(directory_.file("nowhere")), HasSubstr("no such file"));
  EXPECT_THAT(message_of(directory_.file("whole")), HasSubstr("cannot be one of them"));
  EXPECT_TRUE(whole.finished().empty());
}

TEST_F(MergeStoresTest, OtherRowsOfTheSameUnitAreAnError) {
  const std::string one = run_part(1, 2);
  ResultStore honest = ResultStore::open_existing(one);
  UnitResult unit = honest.unit(honest.finished().front());
  unit.rows.front().back() = 0.125;
  ResultStore whole = open("whole");
  whole.record(unit);
  EXPECT_THAT([&] { static_cast<void>(merge(whole, {one})); },
              ThrowsMessage<InvalidArgument>(HasSubstr("has other rows")));
}

// A failure says nothing about other machines: whoever finished the unit wins.
TEST_F(MergeStoresTest, FinishedUnitsTakeThePlaceOfFailedOnes) {
  ResultStore failing = open("failing");
  failing.record({3, true, "no memory", 1.0, {}});
  failing.record({4, true, "no memory", 1.0, {}});
  ResultStore finished = open("finished");
  StudyRunOptions options;
  options.units = {{3}};
  EXPECT_EQ(run_study(finished, options).finished, 1);
  for (const bool failure_first : {true, false}) {
    ResultStore whole = open(failure_first ? "a" : "b");
    const std::string one = directory_.file(failure_first ? "failing" : "finished");
    const std::string two = directory_.file(failure_first ? "finished" : "failing");
    EXPECT_EQ(merge(whole, {one, two}).missing, 11);
    EXPECT_EQ(whole.finished(), std::vector<std::int64_t>{3});
    ASSERT_EQ(whole.failures().size(), 1U);
    EXPECT_EQ(whole.failures().front().number, 4);
  }
}

}  // namespace
}  // namespace oas
