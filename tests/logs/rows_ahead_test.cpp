#include <fmt/format.h>

#include <random>

#include "logs/log_support.hpp"
#include "oas/core/contracts.hpp"
#include "oas/logs/detail/line_buffer.hpp"

/// Rows that several threads read ahead are those that one thread reads, block by block and fault
/// by fault.
namespace oas::test {
namespace {

// All that can be seen of a log.
struct Read {
  std::vector<LogBlock> blocks;
  std::vector<long> lines;  // of the first row of each block, and of the last
  std::string error;

  friend bool operator==(const Read&, const Read&) = default;
};

Read read_with(LogReader reader, int threads, std::size_t max_rows) {
  Read read;
  reader.use({threads});
  try {
    for (LogBlock block; reader.read_block(block, max_rows);) {
      read.blocks.push_back(block);
      read.lines.push_back(reader.line_of(0));
      read.lines.push_back(reader.line_of(block.rows.size() - 1));
    }
  } catch (const std::exception& error) {
    read.error = error.what();
  }
  return read;
}

void expect_same(const std::string& text, const Pomdp& model, const LogOptions& options = {}) {
  const Read one = read_with(reader_of(text, model, options), 1, 7);
  const Read many = read_with(reader_of(text, model, options), 3, 7);
  ASSERT_EQ(one.error, many.error);
  // What was read just before a fault may end elsewhere.
  if (one.error.empty()) {
    ASSERT_EQ(one, many);
  }
}

class Lines {
 public:
  explicit Lines(unsigned seed) : random_(seed) {}

  int below(int count) { return std::uniform_int_distribution(0, count - 1)(random_); }

  std::string good(int row, bool runs) {
    const std::string line =
        fmt::format("{},{},{},{}", below(3), below(5) == 0 ? "" : std::to_string(below(4)),
                    below(2) == 0 ? "0.25" : "1", below(1000) / 8.0);
    return runs ? fmt::format("{},{}", line, run_of(row)) : line;
  }

  // Lines that no log may hold, or only a certain one.
  std::string odd(int row, bool runs) {
    switch (below(9)) {
      case 0:
        return "";
      case 1:
        return "1";
      case 2:
        return "7,0,1,0" + std::string(runs ? ",a" : "");
      case 3:
        return good(row, runs) + ",more";
      case 4:
        return "1,\"0,1,2" + std::string(runs ? ",a" : "");
      case 5:
        return "0,1,0,3" + std::string(runs ? ",a" : "");
      case 6:
        return "stay,1,1,3" + std::string(runs ? ",a" : "");
      case 7:
        return good(0, runs);  // a run that comes back
      default:
        return good(row, runs) + "\r";
    }
  }

 private:
  static std::string run_of(int row) { return fmt::format("unit \"\"{}", row / 10); }
  std::mt19937 random_;
};

std::string log_of(unsigned seed) {
  Lines lines(seed);
  const bool runs = lines.below(2) == 0;
  const int rows = 1 + lines.below(200);
  const int odd = lines.below(3) == 0 ? -1 : lines.below(rows);
  std::string text = std::string("action,observation,propensity,reward") + (runs ? ",run" : "");
  for (int row = 0; row < rows; ++row) {
    text += "\n" + (row == odd ? lines.odd(row, runs) : lines.good(row, runs));
  }
  return text + std::string(static_cast<std::size_t>(lines.below(4)), '\n');
}

TEST(RowsAhead, AreThoseOfOneThread) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    expect_same(log_of(seed), index_model());
    if (HasFatalFailure()) return;
  }
}

TEST(RowsAhead, AreReadWithManyThreads) {
  std::string text = "action,observation\n";
  for (int row = 0; row < 1000; ++row) text += fmt::format("{},{}\n", row % 3, row % 4);
  const Read many = read_with(reader_of(text, index_model()), 16, 10);
  EXPECT_EQ(many.blocks.size(), 100U);
  EXPECT_EQ(many, read_with(reader_of(text, index_model()), 1, 10));
}

// The first name or index of a column may come late, and to several threads at once.
TEST(RowsAhead, NamesAndIndicesThatBeginLate) {
  for (const std::string late : {"red", "3"}) {
    for (const std::string later : {"green", "1"}) {
      std::string text = "action,observation\n";
      for (int row = 0; row < 90; ++row) {
        text += "go," + (row == 40 ? late : row == 61 ? later : "") + "\n";
      }
      expect_same(text, name_model());
      EXPECT_EQ(read_with(reader_of(text, name_model()), 4, 7).error.empty(),
                (late == "red") == (later == "green"));
    }
  }
}

TEST(RowsAhead, UnitsThatAreInterleavedOrHaveTimes) {
  std::string mixed = "action,observation,run\n";
  std::string timed = "action,observation,run,time\n";
  for (int row = 0; row < 300; ++row) {
    mixed += fmt::format("{},{},{}\n", row % 3, row % 4, row % 5);
    timed += fmt::format("{},{},{},{}\n", row % 3, row % 4, row % 5, row / 5);
  }
  expect_same(mixed, index_model());
  expect_same(timed, index_model());
}

// Whoever reads a later stretch must not take its first row for one of the run that it read last.
TEST(RowsAhead, InterleavedUnitsOfManyStretches) {
  std::mt19937 random(1);
  std::string text = "action,observation,run\n";
  for (int row = 0; row < 14 << 16; ++row) {
    text += fmt::format("{},{},{}\n", row % 3, row % 4, random() % 2);
  }
  const Read one = read_with(reader_of(text, index_model()), 1, 1 << 20);
  const Read many = read_with(reader_of(text, index_model()), 2, 1 << 20);
  EXPECT_TRUE(one == many);
}

TEST(RowsAhead, LinesThatAreTooLongAreFoundInTheirTurn) {
  const std::string tall(detail::LineBuffer::kMaxLine, '1');
  std::string start = "action,observation\n";
  for (int row = 0; row < 100; ++row) start += "1,2\n";
  for (const char* after : {"\n1,2\n", "", "\n9,9\n"}) {
    expect_same(start + "1," + tall + after, index_model());
    expect_same(start + "9,9\n1," + tall + after, index_model());
  }
  const Read read = read_with(reader_of(start + "1," + tall, index_model()), 4, 7);
  EXPECT_EQ(read.error, "log.csv:102: longer than the limit of 1048576 bytes");
}

// A source that fails after some lines; what is wrong in these comes first.
class Failing final : public ByteSource {
 public:
  explicit Failing(std::string text) : text_(std::move(text)) {}
  std::size_t read(char* out, std::size_t size) override {
    if (used_ == text_.size()) throw IoError("log.csv: read failed: broken");
    const std::size_t count = text_.copy(out, size, used_);
    used_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t used_ = 0;
};

TEST(RowsAhead, ASourceThatFailsDoesSoAfterTheLinesBefore) {
  for (const bool wrong : {false, true}) {
    std::string text = "action,observation\n";
    for (int row = 0; row < 100; ++row) text += wrong && row == 90 ? "9,9\n" : "1,2\n";
    const auto read = [&](int threads) {
      return read_with(
          LogReader(std::make_unique<Failing>(text), "log.csv", index_model(), LogOptions{}),
          threads, 7);
    };
    EXPECT_EQ(read(1).error, read(4).error);
    EXPECT_EQ(read(4).error.find("read failed") == std::string::npos, wrong);
  }
}

}  // namespace
}  // namespace oas::test
