#include <fmt/format.h>

#include <random>

#include "logs/log_support.hpp"
#include "oas/core/contracts.hpp"
#include "oas/logs/detail/line_buffer.hpp"
#include "oas/logs/log_files.hpp"
#include "support/temporary_directory.hpp"
#include "support/thread_team.hpp"

/// However a plain file is cut into parts, their rows and their first fault are those of the file.
namespace oas::test {
namespace {

// One row, with the run that it is of.
struct Row {
  std::int64_t run;
  int action;
  int observation;
  double propensity;

  friend bool operator==(const Row&, const Row&) = default;
};

struct Read {
  std::vector<Row> rows;
  std::string error;
};

// Adds the rows of a source whose first row is of run `run`, or starts it.
void read_rows(RowSource& source, std::int64_t run, bool goes_on, Read& read) {
  if (!goes_on) --run;
  try {
    for (RowBlock block; source.next(block);) {
      auto start = block.run_starts.begin();
      for (std::size_t row = 0; row < block.size(); ++row) {
        if (start != block.run_starts.end() && *start == row) {
          ++run;
          ++start;
        }
        read.rows.push_back({run, block.actions[row].value(), block.observations[row].value(),
                             block.propensities.empty() ? 1.0 : block.propensities[row]});
      }
    }
  } catch (const std::exception& error) {
    if (read.error.empty()) read.error = error.what();
  }
}

// Every `step` rows of a run; 0: runs stay whole.
RunCut every(std::int64_t step) {
  if (step == 0) return {};
  return
      [step](std::int64_t /*run*/, std::int64_t rows) { return (rows + step - 1) / step * step; };
}

struct Setting {
  int threads = 3;
  std::int64_t least = 1;
  std::int64_t step = 1;
  LogOptions options{};
};

class LogParts : public testing::Test {
 protected:
  LogFiles source(const Pomdp& model, const Setting& setting) {
    LogFiles files(model, paths_, {}, setting.options);
    files.split_from(setting.least);
    return files;
  }

  // As one, and by parts; returns how many of these there are.
  std::size_t expect_same(const std::vector<std::string>& texts, const Pomdp& model,
                          const Setting& setting) {
    paths_.clear();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      paths_.push_back(folder_.file(fmt::format("log-{}.csv", i)));
      spill(paths_.back(), texts[i]);
    }
    Read whole;
    LogFiles one = source(model, setting);
    read_rows(one, 0, false, whole);
    std::vector<RowPart> parts =
        source(model, setting).parts({setting.threads}, every(setting.step));
    if (parts.empty()) return 1;
    Read read;
    for (RowPart& part : parts) {
      const bool goes_on = part.rows_before > 0;
      if (goes_on && read.error.empty()) expect_behind(part, read, setting.step);
      read_rows(*part.rows, part.first_run, goes_on, read);
    }
    EXPECT_EQ(read.error, whole.error);
    if (whole.error.empty()) {
      EXPECT_EQ(read.rows, whole.rows);
    }
    return parts.size();
  }

  static void expect_behind(const RowPart& part, const Read& read, std::int64_t step) {
    std::int64_t rows = 0;
    for (const Row& row : read.rows) rows += row.run == part.first_run ? 1 : 0;
    EXPECT_EQ(part.rows_before, rows);
    EXPECT_EQ(rows % step, 0);
    ASSERT_EQ(part.before.size(), 1U);
    EXPECT_EQ(part.before.all().actions[0].value(), read.rows.back().action);
    EXPECT_EQ(part.before.all().observations[0].value(), read.rows.back().observation);
  }

  TemporaryDirectory folder_;
  std::vector<std::string> paths_;
};

class Lines {
 public:
  explicit Lines(unsigned seed) : random_(seed) {}

  int below(int count) { return std::uniform_int_distribution(0, count - 1)(random_); }

  // A file; `runs`: with a column of them, which begins with run `first`.
  std::string text(bool runs) {
    const bool first = below(2) == 0;  // the column
    const int rows = 1 + below(below(4) == 0 ? 4 : 150);
    const int odd = below(3) == 0 ? below(rows) : -1;
    const std::string end = below(3) == 0 ? "\r\n" : "\n";
    std::string text = below(4) == 0 ? "\xef\xbb\xbf" : "";
    if (below(2) == 0) text += "# oas-log/1 timing=before" + end;
    text += line(first, runs, "run", "action,observation,propensity") + end;
    int run = below(3);
    for (int row = 0; row < rows; ++row) {
      if (row > 0 && below(12) == 0) ++run;
      text += row == odd ? odd_line(first, runs, run) : good(first, runs, std::to_string(run));
      if (row + 1 < rows) text += end;
    }
    for (int tail = below(4); tail > 0; --tail) text += end;
    return text;
  }

 private:
  static std::string line(bool first, bool runs, const std::string& run, const std::string& rest) {
    if (!runs) return rest;
    return first ? run + "," + rest : rest + "," + run;
  }
  std::string good(bool first, bool runs, const std::string& run) {
    return line(first, runs, run,
                fmt::format("{},{},{}", below(3), below(5) == 0 ? "" : std::to_string(below(4)),
                            below(2) == 0 ? "0.25" : "1"));
  }
  std::string odd_line(bool first, bool runs, int run) {
    const std::string name = std::to_string(run);
    switch (below(12)) {
      case 0:
        return "";
      case 1:
        return "1";
      case 2:
        return line(first, runs, name, "7,0,1");
      case 3:
        return good(first, runs, name) + ",more";
      case 4:
        return line(first, runs, name, "1,\"0,1");
      case 5:
        return line(first, runs, name, "stay,1,1");
      case 6:
        return good(first, runs, "0");  // may come back
      case 7:
        return good(first, runs, "b");
      case 8:
        return good(first, runs, "\"" + name + "\"");
      case 9:
        return good(first, runs, "0" + name);
      case 10:
        return good(first, runs, "");
      default:
        return line(first, runs, name, "1,1,2");
    }
  }

  std::mt19937 random_;
};

TEST_F(LogParts, AreTheFileWhereverItIsCut) {
  std::size_t several = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Lines lines(seed);
    std::vector<std::string> texts;
    const bool runs = lines.below(2) == 0;
    for (int files = lines.below(4) == 0 ? 3 : 1; files > 0; --files) {
      texts.push_back(lines.text(runs));
    }
    const Setting setting{.threads = 1 + lines.below(lines.below(4) == 0 ? 300 : 6),
                          .least = 1 + lines.below(40),
                          .step = std::array{0, 1, 1, 8}[static_cast<std::size_t>(lines.below(4))]};
    several += expect_same(texts, index_model(), setting) > texts.size() ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(several, 150U);
}

std::string plain(int rows, std::string_view head = "action,observation\n") {
  std::string text(head);
  for (int row = 0; row < rows; ++row) text += fmt::format("{},{}\n", row % 3, row % 4);
  return text;
}

TEST_F(LogParts, AreAsManyAsWanted) {
  for (const int threads : {1, 2, 7, 50}) {
    EXPECT_EQ(expect_same({plain(1000)}, index_model(), {.threads = threads}), threads);
  }
  // No more than lines, and none that is too small.
  EXPECT_LE(expect_same({plain(5)}, index_model(), {.threads = 100}), 5U);
  EXPECT_EQ(expect_same({plain(1000)}, index_model(), {.threads = 50, .least = 1000}), 4U);
  EXPECT_EQ(expect_same({plain(1000)}, index_model(), {.least = 1 << 20}), 1U);
}

TEST_F(LogParts, FilesWithoutRowsAreReadAsOne) {
  for (const char* text : {"", "action,observation", "action,observation\n\n\n\n\n\n\n\n",
                           "# oas-log/1 timing=before\n", "nonsense\n1\n2\n3\n"}) {
    EXPECT_LE(expect_same({text}, index_model(), {}), 1U) << text;
  }
}

TEST_F(LogParts, RunsStayWholeWhereTheyMust) {
  std::string text = "run,action,observation\n";
  for (int row = 0; row < 600; ++row) text += fmt::format("{},{},{}\n", row / 250, row % 3, 0);
  EXPECT_EQ(expect_same({text}, index_model(), {.threads = 6, .step = 0}), 3U);
  EXPECT_EQ(expect_same({text}, index_model(), {.threads = 6, .step = 1}), 6U);
  EXPECT_EQ(expect_same({plain(1000)}, index_model(), {.step = 0}), 1U);
}

// Whoever reads the middle would not know what came before.
TEST_F(LogParts, AreNotMadeWhereLinesDoNotStandForThemselves) {
  const auto with_runs = [](auto name) {
    std::string text = "run,action,observation\n";
    for (int row = 0; row < 600; ++row) text += fmt::format("{},1,2\n", name(row / 9));
    return text;
  };
  const auto named = [](int run) { return fmt::format("unit {}", run); };
  const auto down = [](int run) { return 100 - run; };
  EXPECT_EQ(expect_same({with_runs(named)}, index_model(), {}), 1U);
  EXPECT_EQ(expect_same({with_runs(down)}, index_model(), {}), 1U);
  std::string timed = "run,time,action,observation\n";
  std::string mixed = "run,action,observation\n";
  for (int row = 0; row < 600; ++row) {
    timed += fmt::format("{},{},1,2\n", row % 2, row / 2);
    mixed += fmt::format("{},1,2\n", row % 2);
  }
  EXPECT_EQ(expect_same({timed}, index_model(), {}), 1U);
  EXPECT_EQ(expect_same({mixed}, index_model(), {}), 1U);
  std::string semicolons = plain(600);
  std::replace(semicolons.begin(), semicolons.end(), ',', ';');
  EXPECT_EQ(expect_same({semicolons}, index_model(), {.options = {.separator = ";"}}), 1U);
  std::string nothing_seen = "action,observation\n";
  for (int row = 0; row < 600; ++row) nothing_seen += "go,\n";
  EXPECT_EQ(expect_same({nothing_seen}, name_model(), {}), 1U);
}

// Names that stop to count up far behind the first rows: what is before is still cut, and in the
// last part they are met as one reader would.
TEST_F(LogParts, EndWhereNamesDoNotCountUp) {
  for (const int place : {75'000, 88'000}) {
    for (const std::string_view late : {"x", "3", "2000", "08"}) {
      std::string text = "run,action,observation\n";
      for (int row = 0; row < 90'000; ++row) {
        text += row >= place && row < place + 10 ? fmt::format("{},1,2\n", late)
                                                 : fmt::format("{},1,2\n", row / 100);
      }
      const std::size_t parts = expect_same({text}, index_model(), {.threads = 9});
      EXPECT_EQ(parts, place > 80'000 ? 9U : 7U) << late;
    }
  }
}

TEST_F(LogParts, LinesThatAreTooLongAreFoundInTheirTurn) {
  const std::string tall(2 * detail::LineBuffer::kMaxLine, '1');
  for (const char* after : {"\n1,2\n", "", "\n9,9\n"}) {
    expect_same({plain(70'000) + "1," + tall + after}, index_model(), {.threads = 40});
    expect_same({plain(70'000) + "9,9\n1," + tall + after}, index_model(), {.threads = 40});
  }
}

// Whichever file is counted, and not read, first.
TEST_F(LogParts, TheFirstFaultIsTheFirstInTheOrderOfFiles) {
  const std::string bad = plain(700) + "9,9\n";
  const std::string runs = "run,action,observation\n0,1,2\n0,x,2\n1,1,2\n";
  for (const std::string& late : {runs, std::string("run,action\n0,1\n"), std::string()}) {
    expect_same({plain(700), bad, late}, index_model(), {});
    expect_same({late, bad}, index_model(), {});
    expect_same({bad, late, plain(700)}, index_model(), {.threads = 9});
  }
}

TEST_F(LogParts, AreTheSameOnAllRanks) {
  const std::vector<std::string> texts = {plain(700), plain(30), Lines(5).text(true)};
  expect_same(texts, index_model(), {});
  for (const int ranks : {1, 2, 3, 5}) {
    std::vector<std::string> seen(static_cast<std::size_t>(ranks));
    testing_support::run_team(ranks, [&](testing_support::ThreadTeam& team) {
      // Ranks may have other numbers of threads.
      const auto parts = source(index_model(), {}).parts({1 + team.rank(), &team}, every(1));
      for (const RowPart& part : parts) {
        seen[static_cast<std::size_t>(team.rank())] +=
            fmt::format("{} {} {}\n", part.first_run, part.rows_before, part.size);
      }
    });
    EXPECT_EQ(seen, std::vector(static_cast<std::size_t>(ranks), seen.front()));
    EXPECT_FALSE(seen.front().empty());
  }
}

}  // namespace
}  // namespace oas::test
