#include "oas/jobs/oracle_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "oas/core/files.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/core/json_text.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

namespace fs = std::filesystem;

Pomdp small_model(std::uint64_t seed) {
  test::RandomModelOptions sizes;
  sizes.num_states = 2;
  sizes.num_actions = 2;
  sizes.num_observations = 2;
  return test::random_model(sizes, seed);
}

class OracleCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(testing::TempDir()) /
        ("oracles-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    if (!fs::exists(folder_ / "oracles")) return found;
    for (const auto& each : fs::directory_iterator(folder_ / "oracles")) {
      found.push_back(each.path());
    }
    return found;
  }
  [[nodiscard]] OracleCache cache() const { return OracleCache(folder_.string()); }

  fs::path folder_;
};

constexpr RegretOracleOptions kRough{.floor = 0.05, .gap = 1e-2};

std::string text_of(const RegretOracle& oracle) {
  return plan_to_json(oracle.plan).dump() + plan_to_json(oracle.floor_plan).dump() +
         fmt::format("{} {} {} {} {}", oracle.gain, oracle.gain_error, oracle.floor,
                     oracle.floor_gain, oracle.floor_gain_error);
}

TEST_F(OracleCacheTest, GivesBackWhatWasPlannedToTheLastBit) {
  for (const double floor : {0.0, 0.05}) {
    const Pomdp model = small_model(1);
    const RegretOracleOptions options{.floor = floor, .gap = 1e-2};
    const std::string planned = text_of(RegretOracle(model, options));
    EXPECT_EQ(text_of(cache().get(model, options)), planned);
    EXPECT_EQ(text_of(cache().get(model, options)), planned);
  }
  EXPECT_EQ(entries().size(), 2U);
}

// Writes into the plan of an entry what no planner said, with a checksum that holds.
void forge(const fs::path& file, const std::string& field, const nlohmann::ordered_json& value) {
  nlohmann::ordered_json entry = parse_json(read_text_file(file.string()), file.string());
  entry.at("plan").at(field) = value;
  entry.erase("checksum");
  entry["checksum"] = fmt::format("{:016x}", fingerprint(entry.dump()));
  write_text_file(file.string(), entry.dump());
}

TEST_F(OracleCacheTest, DoesNotPlanTwice) {
  const Pomdp model = small_model(1);
  static_cast<void>(cache().get(model, kRough));
  ASSERT_EQ(entries().size(), 1U);
  forge(entries()[0], "message", "from the file");
  EXPECT_EQ(cache().get(model, kRough).plan.message, "from the file");
}

TEST_F(OracleCacheTest, CrossedBoundsArePlannedAnew) {
  const Pomdp model = small_model(1);
  const RegretOracle planned = cache().get(model, kRough);
  forge(entries().at(0), "gain_lower", planned.plan.gain_upper + 0.5);
  EXPECT_EQ(text_of(cache().get(model, kRough)), text_of(planned));
}

// Plans are full of digits: most changes of them are plans as well.
TEST_F(OracleCacheTest, EntriesWithOneWrongByteArePlannedAnew) {
  const Pomdp model = small_model(1);
  const RegretOracleOptions rough{.floor = 0.0, .gap = 1e-2};
  const std::string planned = text_of(cache().get(model, rough));
  const fs::path entry = entries().at(0);
  const std::string whole = read_text_file(entry.string());
  const std::size_t begin = whole.find("\"plan\"");
  for (std::size_t at = begin; at < whole.size(); at += 1 + (whole.size() - begin) / 40) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_text_file(entry.string(), damaged);
    EXPECT_EQ(text_of(cache().get(model, rough)), planned) << at;
  }
}

TEST_F(OracleCacheTest, TellsModelsFloorsAndGapsApart) {
  static_cast<void>(cache().get(small_model(1), kRough));
  static_cast<void>(cache().get(small_model(2), kRough));
  static_cast<void>(cache().get(small_model(1), {.floor = 0.06, .gap = 1e-2}));
  static_cast<void>(cache().get(small_model(1), {.floor = 0.05, .gap = 2e-2}));
  EXPECT_EQ(entries().size(), 4U);
}

// The name of an entry is a hash, which may fall on another one's: what is inside decides.
TEST_F(OracleCacheTest, DamagedAndForeignEntriesArePlannedAnew) {
  const Pomdp model = small_model(1);
  const std::string planned = text_of(cache().get(model, kRough));
  const fs::path entry = entries().at(0);
  const std::string whole = read_text_file(entry.string());
  for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 20) {
    write_text_file(entry.string(), whole.substr(0, length));
    EXPECT_EQ(text_of(cache().get(model, kRough)), planned) << length;
  }
  static_cast<void>(cache().get(small_model(2), kRough));
  for (const fs::path& other : entries()) {
    if (other != entry) fs::rename(other, entry);
  }
  EXPECT_EQ(text_of(cache().get(model, kRough)), planned);
}

TEST_F(OracleCacheTest, AFolderThatCannotBeIsNoError) {
  std::ofstream(folder_) << "a file";
  const Pomdp model = small_model(1);
  EXPECT_EQ(text_of(cache().get(model, kRough)), text_of(RegretOracle(model, kRough)));
}

TEST_F(OracleCacheTest, ManyAtOnce) {
  const Pomdp model = small_model(1);
  const std::string planned = text_of(RegretOracle(model, kRough));
  std::vector<std::string> found(8);
  std::vector<std::thread> threads;
  for (std::string& each : found) {
    threads.emplace_back([&, this] { each = text_of(cache().get(model, kRough)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(found, testing::Each(planned));
  EXPECT_EQ(entries().size(), 1U);
}

TEST(OracleCache, FolderOfTheUser) {
  const char* const home = std::getenv("HOME");
  const std::string kept = home == nullptr ? "" : home;
  ::setenv("HOME", "/home/somebody", 1);
  ::unsetenv("OAS_CACHE");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(OracleCache::of_user().folder(), "/home/somebody/.cache/oas");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(OracleCache::of_user().folder(), "/home/somebody/.cache/oas");
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(OracleCache::of_user().folder(), "/cache/oas");
  ::setenv("OAS_CACHE", "here", 1);
  EXPECT_EQ(OracleCache::of_user().folder(), "here");
  ::setenv("OAS_CACHE", "", 1);
  EXPECT_EQ(OracleCache::of_user().folder(), "");
  ::unsetenv("OAS_CACHE");
  ::unsetenv("XDG_CACHE_HOME");
  ::setenv("HOME", kept.c_str(), 1);
}

}  // namespace
}  // namespace oas
