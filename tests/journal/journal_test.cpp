#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "oas/core/contracts.hpp"
#include "oas/journal/journal_lock.hpp"
#include "oas/journal/journal_reader.hpp"
#include "oas/journal/journal_writer.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using test::slurp;
using test::spill;
using testing::HasSubstr;

constexpr const char* kFirst = "journal-00000001.oasj";
constexpr std::size_t kOneFile = std::size_t{1} << 20;

JournalHeader header() {
  JournalHeader made;
  made.model = "0123456789abcdef";
  made.agent = "uniform seed=1";
  made.num_states = 3;
  return made;
}

JournalRecord begin(std::uint64_t run, const std::string& name) {
  JournalRecord record;
  record.kind = JournalKind::begin;
  record.run = run;
  record.text = name;
  return record;
}

JournalRecord step(std::uint64_t run, std::int64_t number) {
  JournalRecord record;
  record.kind = JournalKind::step;
  record.run = run;
  record.step = number;
  record.row.action = Action{1};
  record.row.propensity = 0.25;
  record.row.observation = number % 3 == 0 ? kMissing : Observation{300};
  record.choice = Action{2};
  record.choice_propensity = 0.125;
  return record;
}

std::vector<JournalRecord> some_records() {
  std::vector<JournalRecord> records = {begin(0, "pump, \"7\""), begin(1, "x")};
  for (int i = 0; i < 4; ++i) records.push_back(step(0, i));
  JournalRecord plan;
  plan.kind = JournalKind::plan;
  plan.text = std::string(150, '\0');
  records.push_back(plan);
  JournalRecord others;
  others.kind = JournalKind::observe;
  others.run = 1;
  others.step = -1;
  others.row.by_others = true;
  others.row.reading = {1.5, -2.0};
  others.row.likelihoods = {0.0, 1.0, 0.5};
  records.push_back(others);
  JournalRecord end;
  end.run = 1;
  end.step = 7;
  records.push_back(end);
  return records;
}

void write_all(const std::string& folder, const std::vector<JournalRecord>& records,
               std::size_t segment_bytes = kOneFile) {
  JournalWriter writer(folder, header(), {}, segment_bytes);
  for (const JournalRecord& record : records) writer.append(record);
  writer.sync();
}

std::vector<JournalRecord> read_all(const std::string& folder) {
  std::vector<JournalRecord> records;
  JournalReader reader(folder);
  for (JournalRecord record; reader.next(record);) records.push_back(record);
  return records;
}

TEST(JournalTest, GivesBackWhatWasWritten) {
  const test::TemporaryDirectory folder;
  EXPECT_FALSE(holds_journal(folder.path().string()));
  write_all(folder.path().string(), some_records());
  EXPECT_TRUE(holds_journal(folder.path().string()));
  EXPECT_EQ(read_all(folder.path().string()), some_records());
}

TEST(JournalTest, GoesOnFromAnyPlaceAndInSeveralFiles) {
  const test::TemporaryDirectory folder;
  std::vector<JournalRecord> records;
  std::vector<JournalPlace> places;
  {
    JournalWriter writer(folder.path().string(), header(), {}, 4096);
    for (int i = 0; i < 400; ++i) {
      places.push_back(writer.place());
      records.push_back(step(0, i));
      writer.append(records.back());
    }
  }
  EXPECT_GT(folder.entries().size(), 3u);
  EXPECT_EQ(read_all(folder.path().string()), records);
  for (std::size_t from = 0; from < places.size(); from += 7) {
    JournalReader reader(folder.path().string(), places[from]);
    JournalRecord record;
    for (std::size_t i = from; i < records.size(); ++i) {
      ASSERT_TRUE(reader.next(record));
      ASSERT_EQ(record, records[i]);
      ASSERT_EQ(reader.place().sequence, i + 1);
    }
    EXPECT_FALSE(reader.next(record));
  }
}

// A process that is killed leaves a prefix of what it wrote, whatever the prefix.
TEST(JournalTest, CutsATornEndAtEveryByte) {
  const test::TemporaryDirectory whole;
  write_all(whole.path().string(), some_records());
  const std::string bytes = slurp(whole.file(kFirst));
  const std::vector<JournalRecord> records = some_records();
  std::size_t had = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const test::TemporaryDirectory torn;
    spill(torn.file(kFirst), bytes.substr(0, size));
    JournalReader reader(torn.path().string());
    std::vector<JournalRecord> read;
    for (JournalRecord record; reader.next(record);) read.push_back(record);
    ASSERT_GE(read.size(), had);
    had = read.size();
    ASSERT_TRUE(std::equal(read.begin(), read.end(), records.begin())) << size;
    if (size % 5 != 0) continue;
    {
      JournalWriter writer(torn.path().string(), header(), reader.place(), kOneFile);
      writer.append(step(0, 99));
    }
    const std::vector<JournalRecord> after = read_all(torn.path().string());
    ASSERT_EQ(after.size(), read.size() + 1) << size;
    ASSERT_EQ(after.back(), step(0, 99));
  }
  EXPECT_EQ(had, records.size());
}

// As a power cut may leave them: pages that were never written.
TEST(JournalTest, CutsAnEndOfZeros) {
  const test::TemporaryDirectory folder;
  write_all(folder.path().string(), some_records());
  const std::string bytes = slurp(folder.file(kFirst));
  for (const std::size_t lost : {1u, 5u, 11u, 12u, 13u, 40u}) {
    spill(folder.file(kFirst), bytes.substr(0, bytes.size() - lost) + std::string(5000, '\0'));
    const std::vector<JournalRecord> read = read_all(folder.path().string());
    EXPECT_LT(read.size(), some_records().size()) << lost;
    EXPECT_GE(read.size(), some_records().size() - 2) << lost;
  }
}

TEST(JournalTest, RefusesEveryChangedByte) {
  const test::TemporaryDirectory folder;
  write_all(folder.path().string(), some_records());
  const std::string bytes = slurp(folder.file(kFirst));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int bit : {1, 128}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ bit);
      spill(folder.file(kFirst), damaged);
      EXPECT_THROW(static_cast<void>(read_all(folder.path().string())), InvalidArgument) << i;
    }
  }
}

// The reader must not take the file before for the last one: what follows would be lost, and new
// records would be written in its place.
TEST(JournalTest, RefusesToGoOnWithoutAnyFileButTheLast) {
  const test::TemporaryDirectory folder;
  std::vector<JournalRecord> records;
  for (int i = 0; i < 400; ++i) records.push_back(step(0, i));
  write_all(folder.path().string(), records, 4096);
  const auto files = static_cast<int>(folder.entries().size());
  ASSERT_GT(files, 3);
  for (int missing = 1; missing < files; ++missing) {
    const std::string file = folder.file(fmt::format("journal-{:08}.oasj", missing));
    const std::string bytes = slurp(file);
    std::filesystem::remove(file);
    EXPECT_TRUE(holds_journal(folder.path().string())) << missing;
    try {
      static_cast<void>(read_all(folder.path().string()));
      FAIL() << "a journal without its file " << missing << " was taken";
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr(file));
    }
    spill(file, bytes);
  }
  EXPECT_EQ(read_all(folder.path().string()), records);
}

TEST(JournalTest, RefusesAnExchangedAndACutFile) {
  const test::TemporaryDirectory folder;
  std::vector<JournalRecord> records;
  for (int i = 0; i < 400; ++i) records.push_back(step(0, i));
  write_all(folder.path().string(), records, 4096);
  const std::string second = folder.file("journal-00000002.oasj");
  const std::string third = folder.file("journal-00000003.oasj");
  const std::string bytes = slurp(second);
  spill(second, slurp(third));
  EXPECT_THROW(static_cast<void>(read_all(folder.path().string())), InvalidArgument);
  spill(second, bytes.substr(0, bytes.size() - 3));
  try {
    static_cast<void>(read_all(folder.path().string()));
    FAIL() << "a file that is cut off in the middle of the journal was taken";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("journal-00000002.oasj"));
  }
  EXPECT_THROW(JournalReader(folder.path().string(), {5, 1u << 20, 390}), InvalidArgument);
}

// However little of the last file is left, its header included.
TEST(JournalTest, RefusesToGoOnFromBeyondTheEnd) {
  for (const std::size_t segment_bytes : {kOneFile, std::size_t{4096}}) {
    const test::TemporaryDirectory folder;
    std::vector<JournalRecord> records;
    for (int i = 0; i < 200; ++i) records.push_back(step(0, i));
    write_all(folder.path().string(), records, segment_bytes);
    JournalReader reader(folder.path().string());
    for (JournalRecord record; reader.next(record);) {
    }
    const JournalPlace end = reader.place();
    const std::string file = folder.file(fmt::format("journal-{:08}.oasj", end.segment));
    const std::string bytes = slurp(file);
    for (std::size_t left = 0; left < bytes.size(); ++left) {
      spill(file, bytes.substr(0, left));
      EXPECT_THROW(JournalReader(folder.path().string(), end), InvalidArgument) << left;
    }
    spill(file, std::string(bytes.size(), '\0'));
    EXPECT_THROW(JournalReader(folder.path().string(), end), InvalidArgument);
    spill(file, bytes);
    EXPECT_EQ(JournalReader(folder.path().string(), end).place(), end);
  }
}

TEST(JournalTest, AFileThatCannotGrowIsAsItWas) {
  const test::TemporaryDirectory folder;
  JournalWriter writer(folder.path().string(), header(), {}, kOneFile);
  writer.append(step(0, 0));
  const std::string before = slurp(folder.file(kFirst));
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{before.size() + 20, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::vector<JournalRecord> two = {step(0, 1), step(0, 2)};
  EXPECT_THROW(writer.append(two), IoError);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(slurp(folder.file(kFirst)), before);
  EXPECT_FALSE(writer.broken());
  writer.append(two);
  EXPECT_EQ(read_all(folder.path().string()).size(), 3u);
}

// Writing to a file that nobody can open again goes well: what syncs has to notice.
TEST(JournalTest, AFileThatWasRemovedIsNoticed) {
  const test::TemporaryDirectory folder;
  JournalWriter writer(folder.path().string(), header(), {}, kOneFile);
  writer.append(step(0, 0));
  writer.sync();
  std::filesystem::remove(folder.file(kFirst));
  writer.append(step(0, 1));
  EXPECT_THAT([&] { writer.sync(); }, testing::ThrowsMessage<IoError>(testing::AllOf(
                                          HasSubstr(kFirst), HasSubstr("was removed"))));
  EXPECT_TRUE(writer.broken());
  EXPECT_THROW(writer.append(step(0, 2)), IoError);
}

TEST(JournalTest, OneWriterAtATime) {
  const test::TemporaryDirectory folder;
  const std::string journal = folder.file("deep/journal");
  {
    const JournalLock lock(journal);
    try {
      const JournalLock second(journal);
      FAIL() << "two writers";
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr("has this journal open"));
      EXPECT_THAT(error.what(), HasSubstr(std::to_string(getpid())));
    }
  }
  const JournalLock again(journal);
  spill(folder.file("file"), "");
  EXPECT_THROW(JournalLock(folder.file("file")), IoError);
}

}  // namespace
}  // namespace oas
