#include "oas/logs/log_shards.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/logs/one_log.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Shards : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    test::spill(path_of(name), text);
    return path_of(name);
  }
  [[nodiscard]] std::string path_of(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] std::string folder() const { return folder_.path().string(); }
  // Two files and their list, the second one first.
  void write_list() const {
    const std::vector<LogShard> list = {shard_of(write("b.csv", "bytes of b"), 5, 2),
                                        shard_of(write("a.csv", "bytes of a!"), 7, 1)};
    write_shard_list(folder(), list);
  }
  [[nodiscard]] static std::string read(const OneLog& log) {
    const auto bytes = checked(open_bytes(log.name()), log.name(), *log.shard());
    std::string text;
    char block[4];
    while (const std::size_t count = bytes->read(block, sizeof block)) text.append(block, count);
    return text;
  }

  test::TemporaryDirectory folder_;
};

TEST_F(Shards, AListReadsBack) {
  write_list();
  const auto list = read_shard_list(folder());
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0], shard_of(path_of("b.csv"), 5, 2));
  EXPECT_EQ(list[1].file, "a.csv");
  EXPECT_EQ(list[1].rows, 7);
  EXPECT_EQ(list[1].bytes, 11);
}

TEST_F(Shards, AFolderStandsForItsListedFilesInTheOrderOfTheList) {
  write_list();
  write("c.csv", "not listed");
  EXPECT_THAT(log_files({{folder()}}), ElementsAre(path_of("b.csv"), path_of("a.csv")));
}

TEST_F(Shards, WithoutAListForItsLogsByName) {
  for (const char* const name : {"b.csv", "a.csv.gz", "c.tsv.zst", "notes.md", "model.json"}) {
    write(name, "x");
  }
  std::filesystem::create_directory(path_of("d.csv"));
  EXPECT_THAT(log_files({{folder()}}),
              ElementsAre(path_of("a.csv.gz"), path_of("b.csv"), path_of("c.tsv.zst")));
}

TEST_F(Shards, PatternsStandForWhatFits) {
  for (const char* const name : {"a1.csv", "a2.csv", "b1.csv", "odd[1].csv"}) write(name, "x");
  EXPECT_THAT(log_files({{path_of("a?.csv"), path_of("b1.csv")}}),
              ElementsAre(path_of("a1.csv"), path_of("a2.csv"), path_of("b1.csv")));
  EXPECT_THAT(log_files({{path_of("odd[1].csv")}}), ElementsAre(path_of("odd[1].csv")))
      << "a file of that very name is no pattern";
  EXPECT_THAT([&] { static_cast<void>(log_files({{path_of("z*.csv")}})); },
              ThrowsMessage<InvalidArgument>(HasSubstr("z*.csv: no file fits")));
}

TEST_F(Shards, MissingAndCutFilesAreNamed) {
  write_list();
  write("a.csv", "bytes of a");
  EXPECT_THAT([&] { static_cast<void>(log_files({{folder()}})); },
              ThrowsMessage<InvalidArgument>(HasSubstr("a.csv: has 10 bytes, but 11")));
  std::filesystem::remove(path_of("a.csv"));
  EXPECT_THAT([&] { static_cast<void>(log_files({{folder()}})); },
              ThrowsMessage<InvalidArgument>(HasSubstr("a.csv: is listed")));
}

// By a pattern as by the folder: what the list says must be there is there.
TEST_F(Shards, APatternStandsForListedFilesThatAreMissingToo) {
  write_list();
  const std::string pattern = path_of("?.csv");
  EXPECT_THAT(log_files({{pattern}}), ElementsAre(path_of("a.csv"), path_of("b.csv")));
  write("a.csv", "bytes of a");
  EXPECT_THAT([&] { static_cast<void>(log_files({{pattern}})); },
              ThrowsMessage<InvalidArgument>(HasSubstr("a.csv: has 10 bytes, but 11")));
  EXPECT_THAT([&] { static_cast<void>(log_files({{path_of("a.csv")}})); },
              ThrowsMessage<InvalidArgument>(HasSubstr("a.csv: has 10 bytes, but 11")));
  std::filesystem::remove(path_of("a.csv"));
  EXPECT_THAT([&] { static_cast<void>(log_files({{pattern}})); },
              ThrowsMessage<InvalidArgument>(HasSubstr("a.csv: is listed")));
  EXPECT_THAT(log_files({{path_of("b*.csv")}}), ElementsAre(path_of("b.csv")));
}

TEST_F(Shards, WhatAnEarlierSimulationHasLeftIsNoPartOfTheLog) {
  write_list();
  const std::string left = write(shard_name(7), "old rows");
  const std::string other = write("c.csv", "somebody's own");
  const auto refused = [&](const std::string& name) {
    EXPECT_THAT([&] { static_cast<void>(log_files({{name}})); },
                ThrowsMessage<InvalidArgument>(
                    HasSubstr("shard-00007.csv.zst: is not in the oas-shards.json beside it")))
        << name;
  };
  refused(left);
  refused(path_of("*.zst"));
  refused(path_of("*"));
  EXPECT_THAT(log_files({{other}}), ElementsAre(other));
  EXPECT_THAT(log_files({{folder()}}), ElementsAre(path_of("b.csv"), path_of("a.csv")));
  std::filesystem::remove(shard_list_path(folder()));
  EXPECT_THAT(log_files({{left}}), ElementsAre(left));
}

TEST_F(Shards, AFolderWhoseSimulationDidNotEndIsNoLog) {
  const std::string first = write(shard_name(0), "rows");
  EXPECT_THAT([&] { static_cast<void>(log_files({{folder()}})); },
              ThrowsMessage<InvalidArgument>(HasSubstr("is unfinished: shard-00000.csv.zst is")));
  EXPECT_THAT(log_files({{first}}), ElementsAre(first));
  EXPECT_THAT(log_files({{path_of("*")}}), ElementsAre(first));
}

TEST_F(Shards, AFolderThatIsWrittenAnewKeepsNothingOfTheShardsBefore) {
  for (const int shard : {0, 3, 123456}) write(shard_name(shard), "old");
  write("c.csv", "somebody's own");
  write("shard-1.csv.zst", "too");
  const std::vector<LogShard> list = {shard_of(path_of(shard_name(3)), 1, 1)};
  write_shard_list(folder(), list);
  make_shard_folder(folder());
  std::vector<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    there.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(there, testing::UnorderedElementsAre("c.csv", "shard-1.csv.zst"));
}

TEST_F(Shards, AFolderOfSomebodyElsesListIsNotWrittenOver) {
  write_list();
  EXPECT_THAT([&] { make_shard_folder(folder()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("lists b.csv, which no simulation")));
  EXPECT_EQ(read_shard_list(folder()).size(), 2U);
}

TEST_F(Shards, ChangedBytesAreFoundAtTheirEnd) {
  write_list();
  const std::vector<std::string> names = {path_of("a.csv"), path_of("b.csv")};
  auto logs = logs_of(names);
  EXPECT_EQ(read(logs[0]), "bytes of a!");
  write("a.csv", "bytes of A!");
  EXPECT_THAT([&] { static_cast<void>(read(logs[0])); },
              ThrowsMessage<ParseError>(HasSubstr("a.csv: these are not the bytes")));
  EXPECT_EQ(read(logs[1]), "bytes of b");
}

TEST_F(Shards, DamagedListsAreRefused) {
  write_list();
  const std::string path = shard_list_path(folder());
  const std::string text = test::slurp(path);
  const auto refused = [&](const std::string& from, const std::string& to, const char* says) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    test::spill(path, changed);
    EXPECT_THAT([&] { static_cast<void>(read_shard_list(folder())); },
                ThrowsMessage<ParseError>(HasSubstr(says)));
  };
  refused("oas-shards/1", "oas-shards/9", "$.format");
  refused("\"rows\": 12", "\"rows\": 13", "$.rows: is not the sum");
  refused("b.csv", "../b.csv", "is not the name of a file in this folder");
  refused("\"checksum\": \"", "\"checksum\": \"x", "checksum");
  refused("\"runs\": 3,", "\"runs\": 3, \"more\": 1,", "more");
}

}  // namespace
}  // namespace oas
