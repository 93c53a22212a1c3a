#include "oas/logs/log_reader.hpp"

#include <unistd.h>

#include "logs/log_support.hpp"
#include "oas/logs/detail/cells.hpp"
#include "oas/logs/detail/line_buffer.hpp"
#include "support/allocations.hpp"
#include "support/temporary_directory.hpp"

namespace oas::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LogReader, ReadsIndices) {
  const LogBlock log = read_text("action,observation\n2,3\n0,\n", index_model());
  EXPECT_THAT(values(log.rows.actions), ElementsAre(2, 0));
  EXPECT_THAT(values(log.rows.observations), ElementsAre(3, kMissing.value()));
  EXPECT_THAT(log.run_starts, ElementsAre(0));
  EXPECT_THAT(log.rows.propensities, IsEmpty());
  EXPECT_THAT(log.rows.rewards, IsEmpty());
  EXPECT_THAT(log.rows.states, IsEmpty());
}

TEST(LogReader, ReadsNamesWithQuotes) {
  const LogBlock log = read_text(
      "action,observation,state\n"
      "\"turn, left\",\"say \"\"blue\"\"\",wet\n\"go\",\"\",\"dry\"\n",
      name_model());
  EXPECT_THAT(values(log.rows.actions), ElementsAre(2, 0));
  EXPECT_THAT(values(log.rows.observations), ElementsAre(2, -1));
  EXPECT_THAT(values(log.rows.states), ElementsAre(1, 0));
}

TEST(LogReader, NamedModelMayBeLoggedByIndex) {
  const LogBlock log = read_text("action,observation\n2,red\n1,ocker\n", name_model());
  EXPECT_THAT(values(log.rows.actions), ElementsAre(2, 1));
  EXPECT_THAT(values(log.rows.observations), ElementsAre(0, 3));
}

TEST(LogReader, ColumnsInAnyOrder) {
  const LogBlock log = read_text(
      "reward,state,observation,propensity,run,action\n-1.5,1,2,0.25,x,0\n1e3,0,3,1,y,2\n",
      index_model());
  EXPECT_THAT(values(log.rows.actions), ElementsAre(0, 2));
  EXPECT_THAT(values(log.rows.observations), ElementsAre(2, 3));
  EXPECT_THAT(values(log.rows.states), ElementsAre(1, 0));
  EXPECT_THAT(log.rows.propensities, ElementsAre(0.25, 1.0));
  EXPECT_THAT(log.rows.rewards, ElementsAre(-1.5, 1000.0));
  EXPECT_THAT(log.run_starts, ElementsAre(0, 1));
}

TEST(LogReader, SaysWhichColumnsItHas) {
  const LogReader all =
      reader_of("action,observation,run,propensity,reward,state\n", index_model());
  EXPECT_TRUE(all.has_run() && all.has_propensity() && all.has_reward() && all.has_state());
  const LogReader few = reader_of("action,observation\n", index_model());
  EXPECT_FALSE(few.has_run() || few.has_propensity() || few.has_reward() || few.has_state());
  EXPECT_EQ(few.name(), "log.csv");
}

TEST(LogReader, AcceptsCommentsByteOrderMarkAndCarriageReturns) {
  const LogBlock log = read_text(
      "\xef\xbb\xbf# oas-log/1 timing=after\r\n# made by "
      "hand\r\naction,observation\r\n1,\r\n2,0\r\n"
      "\r\n\r\n",
      index_model(Timing::after));
  EXPECT_THAT(values(log.rows.actions), ElementsAre(1, 2));
  EXPECT_THAT(values(log.rows.observations), ElementsAre(-1, 0));
}

TEST(LogReader, LastLineNeedsNoLineFeed) {
  EXPECT_EQ(read_text("action,observation\n1,2", index_model()),
            read_text("action,observation\n1,2\n\n\n", index_model()));
}

TEST(LogReader, RunChangesStartRuns) {
  const LogBlock log = read_text(
      "run,action,observation\na,0,0\n\"a\",0,0\n\"b, c\",0,0\n\"b, c\",0,0\nb,0,0\nb,0,0\n-,0,0\n",
      index_model());
  EXPECT_THAT(log.run_starts, ElementsAre(0, 2, 4, 6));
}

TEST(LogReader, IndicesOfSeveralDigits) {
  const Pomdp model =
      log_model(Labels(2, "state"), Labels(12, "action"), Labels(1500, "observation"));
  const LogBlock log = read_text("action,observation\n11,1499\n0,000000000007\n\"3\",10\n", model);
  EXPECT_THAT(values(log.rows.actions), ElementsAre(11, 0, 3));
  EXPECT_THAT(values(log.rows.observations), ElementsAre(1499, 7, 10));
}

TEST(LogReader, RememberedNumbersAreExact) {
  // Texts that begin like one another, in an order that fills and empties what is remembered.
  const std::string text = "0.1,0.12,0.1,0.123,1,0.1,0.125,0.12,1e-5,1e-20,0.1,0.123,1e-5,1,";
  std::string log = "action,observation,propensity\n";
  std::vector<double> expected;
  for (std::size_t i = 0; i < text.size(); i = text.find(',', i) + 1) {
    const std::string cell = text.substr(i, text.find(',', i) - i);
    log += "0,0," + cell + "\n";
    expected.push_back(std::stod(cell));
  }
  EXPECT_EQ(read_text(log, index_model()).rows.propensities, expected);
}

TEST(LogReader, BlocksAreFullAndCountLines) {
  LogReader reader =
      reader_of("# note\naction,observation\n0,0\n1,1\n2,2\n0,3\n1,0\n", index_model());
  EXPECT_EQ(reader.line(), 2);
  LogBlock block;
  ASSERT_TRUE(reader.read_block(block, 2));
  EXPECT_EQ(block.rows.size(), 2U);
  EXPECT_EQ(reader.line(), 4);
  ASSERT_TRUE(reader.read_block(block, 2));
  EXPECT_THAT(block.run_starts, IsEmpty());
  ASSERT_TRUE(reader.read_block(block, 2));
  EXPECT_EQ(block.rows.size(), 1U);
  EXPECT_EQ(reader.rows_read(), 5U);
  EXPECT_FALSE(reader.read_block(block, 2));
  EXPECT_EQ(block, LogBlock());
  EXPECT_FALSE(reader.read_block(block, 2));
  EXPECT_THROW(static_cast<void>(reader.read_block(block, 0)), InvalidArgument);
}

TEST(LogReader, ReadsStandardInput) {
  const TemporaryDirectory folder;
  const std::string path = folder.file("log.csv");
  spill(path, "action,observation\n1,2\n");
  const int saved = dup(STDIN_FILENO);
  ASSERT_NE(std::freopen(path.c_str(), "rb", stdin), nullptr);
  const LogBlock log = read_all(LogReader("-", index_model()));
  EXPECT_THAT(values(log.rows.actions), ElementsAre(1));
  dup2(saved, STDIN_FILENO);
  close(saved);
}

TEST(LogReader, LongestLineIsRead) {
  const std::string reward = "1." + std::string(detail::LineBuffer::kMaxLine - 8, '0');
  const LogBlock log =
      read_text("run,action,observation,reward\nx,0,0," + reward + "\ny,1,1,2\nz,2,2," + reward,
                index_model());
  EXPECT_THAT(log.run_starts, ElementsAre(0, 1, 2));
  EXPECT_THAT(log.rows.rewards, ElementsAre(1.0, 2.0, 1.0));
}

TEST(LogReader, NamesOfRunsHaveALimit) {
  const std::string longest(detail::kMostBytesOfName, 'x');
  EXPECT_THAT(read_text("run,action,observation\n" + longest + ",0,0\n", index_model()).run_names,
              ElementsAre(longest));
  EXPECT_THAT([&] { read_text("run,action,observation\n" + longest + "x,0,0\n", index_model()); },
              testing::Throws<ParseError>());
}

std::string long_log(std::size_t rows) {
  std::string text = "run,action,observation,propensity,reward,state\n";
  for (std::size_t i = 0; i < rows; ++i) {
    text += fmt::format("{},{},{},{},{},{}\n", i / 1000, i % 3, i % 4, 1.0 / double(1 + i % 7),
                        double(i % 11) - 5.0, i % 2);
  }
  return text;
}

TEST(LogReader, BlockSizeChangesNothing) {
  const std::string text = long_log(20'000);  // several fills of the line buffer
  const LogBlock whole = read_text(text, index_model(), 1'000'000);
  ASSERT_EQ(whole.rows.size(), 20'000U);
  ASSERT_EQ(whole.run_starts.size(), 20U);
  for (const std::size_t max_rows : {1U, 7U, 1000U, 19'999U, 20'000U}) {
    EXPECT_EQ(read_text(text, index_model(), max_rows), whole) << max_rows;
  }
}

TEST(LogReader, AllocatesNothingOnceWarm) {
  const std::string text = long_log(60'000);
  LogReader reader = reader_of(text, index_model());
  LogBlock block;
  ASSERT_TRUE(reader.read_block(block, 1024));
  // A block may touch one run start more than the first, so warm up over a few.
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reader.read_block(block, 1024));
  const std::size_t capacity = block.rows.actions.capacity();
  const std::size_t before = allocations();
  while (reader.read_block(block, 1024)) {
  }
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(block.rows.actions.capacity(), capacity);
  EXPECT_EQ(reader.rows_read(), 60'000U);
}

TEST(LogReader, CanBeMoved) {
  LogReader first = reader_of("action,observation\n1,2\n", index_model());
  LogReader second = std::move(first);
  LogBlock block;
  EXPECT_TRUE(second.read_block(block, 10));
}

}  // namespace
}  // namespace oas::test
