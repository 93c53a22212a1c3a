#include "oas/logs/detail/dialect.hpp"

#include <gmock/gmock.h>

#include "log_support.hpp"
#include "oas/logs/log_options_json.hpp"

namespace oas::test {
namespace {

using detail::Dialect;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string plain(const LogOptions& options, std::string_view line, bool header = false) {
  std::string out;
  Dialect(options).append_plain(line, header, out);
  return out;
}

TEST(LogDialect, CellsStayTheSameWhateverSeparatesThem) {
  const LogOptions semicolon{.separator = ";"};
  EXPECT_EQ(plain(semicolon, "a;b;c"), "a,b,c");
  EXPECT_EQ(plain(semicolon, "a;;\r"), "a,,\r");
  EXPECT_EQ(plain(semicolon, "turn, left;\"x;y\";3"), "\"turn, left\",\"x;y\",3");
  EXPECT_EQ(plain(semicolon, "\"say \"\"blue\"\"\";1,5"), "\"say \"\"blue\"\"\",\"1,5\"");
  EXPECT_EQ(plain(semicolon, "5\" pipe, old;x"), "\"5\"\" pipe, old\",x");
  EXPECT_EQ(plain({.separator = "tab"}, "a\tb"), "a,b");
  EXPECT_EQ(plain({.separator = "|"}, "a|b;c"), "a,b;c");
  EXPECT_EQ(plain(semicolon, "\"not closed;x"), "\"not closed;x");  // the parser complains
}

TEST(LogDialect, TextsThatStandForNothingAreEmptyBelowTheHeader) {
  const LogOptions missing{.missing = "NA,-"};
  EXPECT_EQ(plain(missing, "NA,x,-,NAN,\"NA\""), ",x,,NAN,");
  EXPECT_EQ(plain(missing, "NA,x", true), "NA,x");
  EXPECT_EQ(plain({.separator = ";", .decimal_comma = true}, "1,5;-2,25e3;a,b;1,2,3;-"),
            "1.5,-2.25e3,\"a,b\",\"1,2,3\",-");
  EXPECT_EQ(plain({.decimal_comma = true}, "x,\"1,5\",\"a,b\""), "x,\"1.5\",\"a,b\"");
}

TEST(LogDialect, RowsAreThoseOfThePlainFile) {
  const Pomdp model = name_model();
  const std::string text = "run,action,observation,reward\nu,go,red,1.5\nu,\"turn, left\",,2\n";
  const std::string other = "run;action;observation;reward\nu;go;red;1,5\nu;turn, left;NA;2\n";
  const LogOptions options{.separator = ";", .missing = "NA", .decimal_comma = true};
  const LogBlock expected = read_text(text, model);
  for (const std::size_t rows : {1, 2, 1000}) {
    const LogBlock found = read_text(other, model, rows, options);
    EXPECT_EQ(found.rows.actions, expected.rows.actions);
    EXPECT_EQ(found.rows.observations, expected.rows.observations);
    EXPECT_EQ(found.rows.rewards, expected.rows.rewards);
  }
  EXPECT_EQ(error_of(other + "u;stay;blue;1\n", model, options),
            "log.csv:4:3: unknown observation 'blue'; known are 'red', 'green', 'say \"blue\"', "
            "'ocker'");
}

TEST(LogDialect, WhatIsWrittenOtherwiseIsSeenAndTheRemedyNamed) {
  const Pomdp model = name_model();
  EXPECT_EQ(error_of("action;observation\ngo;red\n", model),
            "log.csv:1: the header 'action;observation' has no comma; if ';' separates the "
            "columns, say --separator ';'");
  EXPECT_THAT(error_of("a\tb\ngo\tred\n", model, {.columns = "action=a,observation=b"}),
              HasSubstr("--separator tab"));
  EXPECT_THAT(error_of("action,observation\ngo,NA\n", model),
              HasSubstr("unknown observation 'NA'; known are 'red', "));
  EXPECT_THAT(error_of("action,observation\ngo,n/a\n", model), HasSubstr("say --missing n/a"));
  EXPECT_THAT(error_of("action,observation\nNA,red\n", model), Not(HasSubstr("--missing")));
  EXPECT_THAT(error_of("action,observation,reward\ngo,red,null\n", model),
              HasSubstr("reward 'null' is not a number. If it means that there is nothing, say "
                        "--missing null"));
  EXPECT_THAT(error_of("action;observation;reward\ngo;red;1,5\n", model, {.separator = ";"}),
              HasSubstr("log.csv:2:3: reward '1,5' is not a number. If its comma begins the "
                        "decimals, say --decimal-comma"));
  EXPECT_THAT(error_of("action,observation,valve\ngo,red,7\n", model),
              HasSubstr("unknown column 'valve'; known are action, observation, run"));
  EXPECT_THAT(error_of("action,observation,valve\ngo,red,7\n", model), HasSubstr("--columns"));
}

TEST(LogDialect, BadOptionsAreNamed) {
  const auto fault = [](const LogOptions& options) {
    return error_of("action,observation\ngo,red\n", name_model(), options);
  };
  EXPECT_THAT(fault({.separator = "ab"}), HasSubstr("separator: 'ab' is not one of"));
  EXPECT_THAT(fault({.separator = "\""}), HasSubstr("separator: '\"' is not one of"));
  EXPECT_THAT(fault({.missing = "NA,,x"}), HasSubstr("missing: 'NA,,x' names an empty text"));
}

TEST(LogDialect, AUnitWithoutNameIsAnError) {
  EXPECT_THAT(error_of("run,action,observation\na,go,red\n,go,red\n", name_model()),
              StartsWith("log.csv:3:1: the run is empty"));
}

TEST(LogOptionsFile, SaysWhatACommandLineWould) {
  const std::string text = R"({"format": "oas-log-options/1", "separator": ";",
    "columns": {"action": "cmd", "observation": ["vib", "temp"], "state": ""},
    "step": 2.5, "gaps": "repeat", "known_states": true})";
  EXPECT_THAT(parse_log_options(text, "fleet.json"),
              ElementsAre(Setting{"columns", "action=cmd,observation=vib+temp,state="},
                          Setting{"separator", ";"}, Setting{"step", "2.5"},
                          Setting{"gaps", "repeat"}, Setting{"known_states", "true"}));
}

TEST(LogOptionsFile, FaultsNameFileKeyAndValue) {
  const auto fault = [](const std::string& inside) {
    try {
      static_cast<void>(
          parse_log_options(R"({"format": "oas-log-options/1")" + inside + "}", "fleet.json"));
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(fault(""), "none");
  EXPECT_THAT(fault(R"(, "stepp": "1h")"), HasSubstr("fleet.json: $"));
  EXPECT_THAT(fault(R"(, "stepp": "1h")"), HasSubstr("stepp"));
  EXPECT_THAT(fault(R"(, "gaps": "skip")"), HasSubstr("'skip' is not one of error"));
  EXPECT_THAT(fault(R"(, "known_states": "yes")"), HasSubstr("$.known_states"));
  EXPECT_THAT(fault(R"(, "rows": "sideways")"), HasSubstr("$.rows: not one of"));
  EXPECT_THAT(fault(R"(, "columns": {"act": "x"})"), HasSubstr("unknown part 'act'"));
}

}  // namespace
}  // namespace oas::test
