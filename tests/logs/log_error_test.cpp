#include <string>

#include "logs/log_support.hpp"
#include "oas/logs/detail/line_buffer.hpp"
#include "support/temporary_directory.hpp"

/// One test per message. Every message names file, line and, for a cell, the field.
namespace oas::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kHeader = "action,observation\n";

// The message for these rows below the header action,observation.
std::string row_error(const std::string& rows, const Pomdp& model = index_model()) {
  return error_of(kHeader + rows, model);
}

TEST(LogErrors, EmptyFile) { EXPECT_EQ(error_of("", index_model()), "log.csv: the file is empty"); }

TEST(LogErrors, OnlyComments) {
  EXPECT_EQ(error_of("# nothing\n", index_model()), "log.csv: the header row is missing");
}

TEST(LogErrors, NoRows) {
  EXPECT_EQ(row_error(""), "log.csv: no rows below the header");
  EXPECT_EQ(row_error("\n\n"), "log.csv: no rows below the header");
}

TEST(LogErrors, MissingHeader) {
  EXPECT_THAT(
      error_of("0,1\n2,3\n", index_model()),
      AllOf(StartsWith("log.csv:1: none of the columns is known"), HasSubstr("found '0,1'")));
  EXPECT_THAT(error_of("action;observation\n0;1\n", index_model()),
              AllOf(HasSubstr("--separator ';'"), HasSubstr("'action;observation'")));
}

// A model where a log belongs, as where files stand in the wrong order: on one line or on many, and
// where columns are named.
TEST(LogErrors, DocumentForLog) {
  for (const std::string text :
       {"{\"format\": \"oas-model/1\", \"states\": 2}\n", "{\n  \"states\": 2\n}\n"}) {
    for (const std::string columns : {"", "action=cmd"}) {
      EXPECT_THAT(error_of(text, index_model(), {.columns = columns}),
                  StartsWith("log.csv:1: expected a log, but this is a JSON document"))
          << text << columns;
    }
  }
}

TEST(LogErrors, BlankLineForHeader) {
  EXPECT_EQ(error_of("\n" + kHeader, index_model()),
            "log.csv:1: a blank line where the header row was expected");
}

TEST(LogErrors, UnknownColumn) {
  EXPECT_THAT(error_of("action,observation,rewards\n", index_model()),
              StartsWith("log.csv:1: unknown column 'rewards'; known are action, observation, run, "
                         "propensity, reward, state, time. With --columns"));
}

TEST(LogErrors, ColumnTwice) {
  EXPECT_EQ(error_of("# note\naction,observation,action\n", index_model()),
            "log.csv:2: column 'action' is given twice");
}

TEST(LogErrors, ColumnMissing) {
  EXPECT_EQ(error_of("action,reward\n", index_model()),
            "log.csv:1: column 'observation' is missing");
  EXPECT_EQ(error_of("observation\n", index_model()), "log.csv:1: column 'action' is missing");
}

TEST(LogErrors, OtherTiming) {
  EXPECT_THAT(
      error_of("# oas-log/1 timing=before\n" + kHeader + "0,0\n", index_model(Timing::after)),
      AllOf(StartsWith("log.csv:1: the log has timing before and the model has timing "
                       "after: in `before`"),
            HasSubstr("in `after` to the state that the action led to")));
  EXPECT_THAT(error_of("# a\n#oas-log/1  timing=after\n" + kHeader + "0,0\n", index_model()),
              StartsWith("log.csv:2: the log has timing after and the model has timing before"));
}

TEST(LogErrors, FormatLine) {
  EXPECT_EQ(error_of("# oas-log/2 timing=before\n", index_model()),
            "log.csv:1: version '2' of oas-log/ is not known; 1 is");
  EXPECT_EQ(error_of("# oas-log/1\n", index_model()),
            "log.csv:1: expected timing=before or timing=after after oas-log/1, found "
            "''");
  EXPECT_EQ(error_of("# oas-log/1 timing=during\n", index_model()),
            "log.csv:1: expected timing=before or timing=after after oas-log/1, found "
            "'timing=during'");
  EXPECT_EQ(error_of("# oas-log/1 timing=before seed=3\n", index_model()),
            "log.csv:1: 'seed=3' is not known after timing=before");
}

TEST(LogErrors, IndexOutOfRange) {
  EXPECT_EQ(row_error("0,0\n0,4\n"),
            "log.csv:3:2: observation '4' is out of range; the model has 4, 0 to 3");
  EXPECT_EQ(row_error("3,0\n"), "log.csv:2:1: action '3' is out of range; the model has 3, 0 to 2");
  EXPECT_THAT(row_error("0,0\n99999999999999999999999,0\n"),
              StartsWith("log.csv:3:1: action '99999999999999999999999' is out of range"));
  EXPECT_EQ(error_of("state,action,observation\n2,0,0\n", index_model()),
            "log.csv:2:1: state '2' is out of range; the model has 2, 0 to 1");
}

TEST(LogErrors, NoIndex) {
  EXPECT_EQ(row_error("0,0\n-1,0\n"),
            "log.csv:3:1: action '-1' is not an index from 0 to 2, and the model has "
            "no action names");
  EXPECT_THAT(row_error("0,1.0\n"), StartsWith("log.csv:2:2: observation '1.0' is not an index"));
  EXPECT_THAT(row_error("0, 1\n"), StartsWith("log.csv:2:2: observation ' 1' is not an index"));
}

TEST(LogErrors, UnknownName) {
  EXPECT_EQ(row_error("go,red\nrun,red\n", name_model()),
            "log.csv:3:1: unknown action 'run'; known are 'go', 'stay', 'turn, left'");
  std::vector<std::string> many;
  for (int i = 0; i < 12; ++i) many.push_back(fmt::format("a{}", i));
  const Pomdp model =
      log_model(Labels(1, "state"), Labels(many, "action"), Labels(2, "observation"));
  EXPECT_EQ(row_error("b,0\n", model),
            "log.csv:2:1: unknown action 'b'; known are 'a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', "
            "'a7', … (12 in all)");
}

TEST(LogErrors, NamesAndIndicesMixed) {
  EXPECT_EQ(row_error("go,red\nstay,\nstay,1\n", name_model()),
            "log.csv:4:2: observation '1' is an index, but line 2 has a name; a column holds names "
            "or indices, not both");
  EXPECT_EQ(
      row_error("0,\n1,red\nstay,red\n", name_model()),
      "log.csv:4:1: action 'stay' is a name, but line 2 has an index; a column holds names or "
      "indices, not both");
}

TEST(LogErrors, EmptyCells) {
  EXPECT_EQ(row_error(",0\n"), "log.csv:2:1: the action is empty");
  EXPECT_EQ(row_error("0,0\n\"\",0\n"), "log.csv:3:1: the action is empty");
  const auto with = [](const std::string& column) {
    return error_of("action,observation," + column + "\n0,0,\n", index_model());
  };
  EXPECT_EQ(with("state"), "");
  EXPECT_EQ(with("propensity"), "log.csv:2:3: the propensity is empty");
  EXPECT_EQ(with("reward"), "") << "a reward may be unknown";
}

TEST(LogErrors, NumberOfFields) {
  EXPECT_EQ(row_error("0,0\n1\n"), "log.csv:3: 1 field where the header has 2");
  EXPECT_EQ(row_error("0,0,0,\"a,b\"\n"), "log.csv:2: 4 fields where the header has 2");
  EXPECT_EQ(row_error("0,0,\r\n"), "log.csv:2: 3 fields where the header has 2");
  EXPECT_EQ(row_error("0,0,\"x\n"), "log.csv:2:3: a quote is not closed on its line");
}

TEST(LogErrors, BlankLineInside) {
  EXPECT_EQ(row_error("0,0\n\n\n1,1\n"), "log.csv:3: blank line");
  EXPECT_EQ(row_error("\r\n1,1\n"), "log.csv:2: blank line");
}

TEST(LogErrors, Quotes) {
  EXPECT_EQ(row_error("0,\"1\n2\"\n"), "log.csv:2:2: a quote is not closed on its line");
  EXPECT_EQ(row_error("0,\"1\"2\n"), "log.csv:2:2: text follows the closing quote of '1'");
  EXPECT_EQ(error_of("action,\"observation\n", index_model()),
            "log.csv:1: a quote is not closed on its line");
}

TEST(LogErrors, Propensity) {
  const auto error = [](const std::string& cell) {
    return error_of("action,observation,propensity\n0,0,1\n0,0," + cell + "\n", index_model());
  };
  for (const std::string cell : {"0", "-0.5", "1.0001", "inf", "nan", "1e-400x"}) {
    EXPECT_THAT(error(cell), StartsWith("log.csv:3:3: propensity '" + cell + "' is not ")) << cell;
  }
  EXPECT_EQ(error("0"), "log.csv:3:3: propensity '0' is not in (0, 1]");
  EXPECT_EQ(error("+1"), "log.csv:3:3: propensity '+1' is not a number");
  EXPECT_EQ(error("\"0,5\""),
            "log.csv:3:3: propensity '0,5' is not a number. If its comma begins "
            "the decimals, say --decimal-comma");
  EXPECT_EQ(error("0.5 "), "log.csv:3:3: propensity '0.5 ' is not a number");
}

TEST(LogErrors, Reward) {
  const auto error = [](const std::string& cell) {
    return error_of("reward,action,observation\n" + cell + ",0,0\n", index_model());
  };
  EXPECT_EQ(error("inf"), "log.csv:2:1: reward 'inf' is not finite");
  EXPECT_EQ(error("nan"), "log.csv:2:1: reward 'nan' is not finite");
  EXPECT_EQ(error("1e999"), "log.csv:2:1: reward '1e999' is not a number");
  EXPECT_EQ(error("one"), "log.csv:2:1: reward 'one' is not a number");
  EXPECT_EQ(error("0x10"), "log.csv:2:1: reward '0x10' is not a number");
}

TEST(LogErrors, LineTooLong) {
  const std::string run(detail::LineBuffer::kMaxLine - 3, 'x');
  EXPECT_EQ(error_of("run,action,observation\nx,0,0\n" + run + ",0,0\n", index_model()),
            "log.csv:3: longer than the limit of 1048576 bytes");
  EXPECT_EQ(error_of("run,action,observation\n" + run + ",0,0", index_model()),
            "log.csv:2: longer than the limit of 1048576 bytes");
}

TEST(LogErrors, ValuesAreShownSafely) {
  EXPECT_THAT(row_error(std::string("\x01\x7f\xff,0\n")),
              StartsWith(R"(log.csv:2:1: action '\x01\x7f\xff' is)"));
  EXPECT_THAT(row_error("façade,0\n"), StartsWith("log.csv:2:1: action 'façade' is"));
  EXPECT_THAT(row_error(std::string(59, 'x') + "éé,0\n"), HasSubstr(std::string(59, 'x') + "…'"));
  EXPECT_THAT(row_error(std::string(100, 'x') + ",0\n"), HasSubstr(std::string(60, 'x') + "…'"));
}

TEST(LogErrors, LineIsCountedAcrossBlocks) {
  std::string rows;
  for (int i = 0; i < 300'000; ++i) rows += "0,1\n";
  EXPECT_THAT(row_error(rows + "0,9\n"), StartsWith("log.csv:300002:2: observation '9'"));
}

TEST(LogErrors, FileThatCannotBeOpened) {
  const TemporaryDirectory folder;
  const auto error = [](const std::string& path) -> std::string {
    try {
      const LogReader reader(path, index_model());
    } catch (const InvalidArgument& caught) {
      return caught.what();
    }
    return "";
  };
  EXPECT_EQ(error(folder.file("none.csv")),
            folder.file("none.csv") + ": No such file or directory");
  EXPECT_EQ(error(folder.path().string()), folder.path().string() + ": is a folder, not a file");
}

}  // namespace
}  // namespace oas::test
