// A run that comes back is noticed, whatever its name, in bounded memory.

#include "oas/logs/detail/run_names.hpp"

#include <gtest/gtest.h>

#include <set>

#include "log_support.hpp"
#include "oas/core/rng.hpp"

namespace oas::test {
namespace {

using detail::RunNames;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Numbers in and out of order, names, and texts that only look like numbers, against a plain set.
TEST(RunNames, KnowWhatAPlainSetKnows) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng({seed, 0, Role::test});
    RunNames names;
    std::set<std::string> known;
    for (int i = 0; i < 3000; ++i) {
      const auto number = std::to_string(rng.below(4) == 0 ? rng.below(3000) : std::uint32_t(i));
      const std::string name = rng.below(10) == 0   ? "0" + number
                               : rng.below(10) == 0 ? "unit " + number
                                                    : number;
      ASSERT_EQ(names.add(name), known.insert(name).second) << seed << " " << name;
    }
  }
}

TEST(RunNames, EveryByteOfANameCounts) {
  RunNames names;
  EXPECT_TRUE(names.add(""));
  EXPECT_FALSE(names.add(""));
  std::string text(40, 'x');
  EXPECT_TRUE(names.add(text));
  for (char& c : text) {
    c = 'y';
    EXPECT_TRUE(names.add(text));
  }
  EXPECT_TRUE(names.add(text.substr(1)));
  EXPECT_TRUE(names.add(std::string("a\0", 2)));
  EXPECT_TRUE(names.add("a"));
}

TEST(RunNames, MemoryIsBounded) {
  RunNames counted;
  for (int i = 7; i < 1'000'000; ++i) ASSERT_TRUE(counted.add(std::to_string(i)));
  EXPECT_EQ(counted.bytes(), 0U) << "numbers that count up take none";
  EXPECT_FALSE(counted.add("7"));
  EXPECT_FALSE(counted.add("999999"));
  EXPECT_TRUE(counted.add("6"));
  RunNames others;
  for (int i = 0; i < 1'000'000; ++i) ASSERT_TRUE(others.add("u" + std::to_string(i)));
  EXPECT_LE(others.bytes(), 22'000'000U);
  EXPECT_FALSE(others.add("u0"));
  RunNames few(100);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(few.add("u" + std::to_string(i)));
  EXPECT_FALSE(few.add("u99"));
  EXPECT_THROW(static_cast<void>(few.add("u100")), InvalidArgument);
}

// Beyond the rows that are looked at first, a run that comes back must be announced.
TEST(RunNames, ARunThatComesBackLateIsAFaultOfTheLog) {
  std::string far = "action,observation,run\n0,0,first\n";
  for (int i = 0; i < 100'000; ++i) far += "0,0," + std::to_string(i / 3) + "\n";
  EXPECT_EQ(error_of(far, index_model()), "");
  const std::string fault = error_of(far + "0,0,first\n", index_model());
  EXPECT_THAT(fault,
              StartsWith("log.csv:100003:3: run 'first' comes back after run '33333' began"));
  EXPECT_THAT(fault, HasSubstr("--interleaved, or sort it by run"));
  EXPECT_THAT(error_of(far + "0,0,17\n", index_model()), StartsWith("log.csv:100003:3: run '17'"));
  const LogBlock sorted = read_all(
      LogReader(bytes_of(far += "1,2,first\n"), "log.csv", index_model(), {.interleaved = true}));
  ASSERT_EQ(sorted.rows.size(), 100'002U);
  EXPECT_EQ(sorted.rows.actions[1], 1);  // the second row of `first`
  EXPECT_THAT(std::vector(sorted.run_starts.begin(), sorted.run_starts.begin() + 3),
              testing::ElementsAre(0, 2, 5));
}

}  // namespace
}  // namespace oas::test
