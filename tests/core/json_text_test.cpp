#include "oas/core/json_text.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/markup.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Property;
using testing::StartsWith;
using testing::Throws;
using testing::ThrowsMessage;

auto parsing(std::string text) {
  return [text = std::move(text)] { (void)parse_json(text, "m.json"); };
}

auto throws_at(long line, long column, const char* message) {
  return AllOf(Throws<ParseError>(
                   AllOf(Property(&ParseError::line, line), Property(&ParseError::column, column))),
               ThrowsMessage<ParseError>(AllOf(
                   StartsWith(fmt::format("m.json:{}:{}: ", line, column)), HasSubstr(message))));
}

TEST(ParseJson, ReadsEveryKind) {
  const Json value = parse_json(R"({"b": [1, -2, 2.5e-3], "a": {"x": null, "y": true}})", "m");
  EXPECT_EQ(value.begin().key(), "b");  // order is kept
  EXPECT_EQ(value["b"][1].get<int>(), -2);
  EXPECT_EQ(value["b"][2].get<double>(), 0.0025);
  EXPECT_TRUE(value["a"]["x"].is_null());
  EXPECT_TRUE(value["a"]["y"].get<bool>());
}

TEST(ParseJson, SyntaxErrorsHaveLineAndColumn) {
  EXPECT_THAT(parsing("{\"a\": 1,\n \"b\": 2,}"), throws_at(2, 9, "syntax error"));
  EXPECT_THAT(parsing("[1, 2\n\n  oops]"), throws_at(3, 3, "syntax error"));
  EXPECT_THAT(parsing("[1] 2"), throws_at(1, 5, "syntax error"));
  EXPECT_THAT(parsing("nul"), throws_at(1, 4, "syntax error"));  // the end of the text
}

TEST(ParseJson, TruncatedTextIsAnErrorAtItsEnd) {
  const std::string text = R"({"key": [1.5, {"x": "y"}]})";
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_THAT(parsing(text.substr(0, length)), Throws<ParseError>()) << length;
  }
  EXPECT_THAT(parsing("[1,\n2"), AllOf(Throws<ParseError>(Property(&ParseError::line, 2))));
}

TEST(ParseJson, NumbersAreFiniteJsonNumbers) {
  for (const char* text : {"[NaN]", "[nan]", "[Infinity]", "[-inf]", "[1e]", "[01]", "[+1]", "[.5]",
                           "[0x10]", "[1,2,]"}) {
    EXPECT_THAT(parsing(text), Throws<ParseError>()) << text;
  }
  EXPECT_THAT(parsing("[1e999]"), throws_at(1, 2, "the number 1e999 is too large"));
  EXPECT_THAT(parsing("[1e999,\n [2, -1e999 ]]"), throws_at(1, 2, "1e999"));
  EXPECT_THAT(parsing("{\"a\":\n [2, -1e999 ]}"),
              throws_at(2, 6, "the number -1e999 is too large"));
  EXPECT_THAT(parsing("-1e999"), throws_at(1, 1, "-1e999"));
  EXPECT_THAT(parsing("[" + std::string(5000, '9') + "]"),
              throws_at(1, 2, (std::string(60, '9') + "… is too large").c_str()));
}

TEST(ParseJson, BadTextInsideStrings) {
  EXPECT_THAT(parsing("[\"\xff\"]"), Throws<ParseError>());
  EXPECT_THAT(parsing("[\"\n\"]"), Throws<ParseError>());
  EXPECT_THAT(parsing(R"(["\x"])"), Throws<ParseError>());
}

TEST(ParseJson, DuplicateKeysAreErrors) {
  EXPECT_THAT(parsing(R"({"a": 1, "b": 2, "a": 3})"),
              ThrowsMessage<ParseError>(
                  AllOf(StartsWith("m.json"), HasSubstr("key \"a\" is given twice"))));
  EXPECT_THAT(parsing(R"([{"x": {"a": 1, "a": 1}}])"),
              ThrowsMessage<ParseError>(HasSubstr("key \"a\" is given twice")));
  EXPECT_THAT(parsing(R"({"x": {"a": {}}, "x": 1})"),
              ThrowsMessage<ParseError>(HasSubstr("key \"x\" is given twice")));
}

// As promised in the header: a key that is given twice is found by line and column, too.
TEST(ParseJson, DuplicateKeysHaveALine) {
  EXPECT_THAT(parsing("{\"a\": 1,\n \"b\": 2,\n \"a\": 3}"),
              Throws<ParseError>(Property(&ParseError::line, 3)));
}

TEST(ParseJson, TheSameKeyInDifferentObjectsIsFine) {
  EXPECT_NO_THROW((void)parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})", "m"));
}

TEST(ParseJson, DeepNestingIsAnErrorNotACrash) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW((void)parse_json(nested(60), "m"));
  EXPECT_THAT(parsing(nested(70)),
              ThrowsMessage<ParseError>(HasSubstr("nested more than 64 levels deep")));
  EXPECT_THAT(parsing(nested(1'000'000)), Throws<ParseError>());
  EXPECT_THAT(parsing(std::string(1'000'000, '[')), Throws<ParseError>());
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += R"({"a":)";
  EXPECT_THAT(parsing(objects), Throws<ParseError>());
}

TEST(ParseJson, VeryManyKeysAreAnError) {
  const auto object = [](int keys) {
    std::string text = "{";
    for (int i = 0; i < keys; ++i) text += fmt::format("{}\"k{}\": 1", i > 0 ? ", " : "", i);
    return text + "}";
  };
  EXPECT_EQ(parse_json(object(4096), "m.json").size(), 4096U);
  EXPECT_THAT(parsing(object(80'000)), ThrowsMessage<ParseError>(HasSubstr("more than 4096 keys")));
}

TEST(DumpJson, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(dump_json(Json{{"file", "a\xff.json"}}), "{\n  \"file\": \"a\uFFFD.json\"\n}\n");
}

TEST(EscapeControl, KeepsTextAndShowsWhatWouldSteerATerminal) {
  EXPECT_EQ(escape_control("plain, ± é 漢 😀\n\tdone"), "plain, ± é 漢 😀\n\tdone");
  EXPECT_EQ(escape_control("a\x1b[31mb\r\x07\x7f"), "a\\x1b[31mb\\x0d\\x07\\x7f");
  EXPECT_EQ(escape_control("\xc2\x9b"), "\\xc2\\x9b");  // a control character of its own
  EXPECT_EQ(escape_control("\xff\xc3"), "\\xff\\xc3");  // no UTF-8, cut short
  EXPECT_EQ(escape_control("\xc0\xaf\xed\xa0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80");
  EXPECT_EQ(escape_control(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(escape_markup("a<\x01&\n"), "a&lt;\uFFFD&amp;\n");
}

TEST(EscapeLine, IsOneLineAndEndsAtTheBorderOfACharacter) {
  EXPECT_EQ(escape_line("plain é", 80), "plain é");
  EXPECT_EQ(escape_line("a\n\tb\xff", 80), "a\\x0a\\x09b\\xff");
  EXPECT_EQ(escape_line(std::string_view("\0b", 2), 80), "\\x00b");
  EXPECT_EQ(escape_line("aéé", 4), "aé…");
  EXPECT_EQ(escape_line("aéé", 5), "aéé");
  EXPECT_EQ(escape_line("a\n", 4), "a…");
}

TEST(DumpJson, FlatArraysStayOnOneLine) {
  const Json value = {{"format", "x/1"},           {"row", {0.5, 0.25, 0.25}},
                      {"table", {{1, 2}, {3, 4}}}, {"names", {"a", "b\"c"}},
                      {"empty", Json::array()},    {"nothing", Json::object()}};
  EXPECT_EQ(dump_json(value), R"({
  "format": "x/1",
  "row": [0.5, 0.25, 0.25],
  "table": [
    [1, 2],
    [3, 4]
  ],
  "names": ["a", "b\"c"],
  "empty": [],
  "nothing": {}
}
)");
  EXPECT_EQ(dump_json(Json(3)), "3\n");
}

// A document of the given depth with strings, numbers of all magnitudes, arrays and objects.
Json random_document(int depth, Rng& rng) {
  const std::uint32_t kind = rng.below(depth > 0 ? 8 : 6);
  if (kind == 0) return nullptr;
  if (kind == 1) return rng.below(2) == 0;
  if (kind == 2) return static_cast<std::int64_t>(rng.bits());
  if (kind == 3) return rng.bits();
  if (kind == 4) return std::ldexp(rng.uniform() - 0.5, static_cast<int>(rng.below(2000)) - 1000);
  if (kind == 5) return std::string("é \"\\\n\t\x01 ") + std::to_string(rng.bits());
  Json value = kind == 6 ? Json::array() : Json::object();
  const std::uint32_t size = rng.below(5);
  for (std::uint32_t i = 0; i < size; ++i) {
    if (kind == 6) {
      value.push_back(random_document(depth - 1, rng));
    } else {
      value["key " + std::to_string(i)] = random_document(depth - 1, rng);
    }
  }
  return value;
}

RC_GTEST_PROP(DumpJson, ReadsBackTheSame, ()) {
  Rng rng({test::any_seed(), 0, Role::test});
  const Json value = random_document(*rc::gen::inRange(0, 6).as("depth"), rng);
  const std::string text = dump_json(value);
  const Json again = parse_json(text, "m");
  RC_ASSERT(again == value);
  RC_ASSERT(dump_json(again) == text);
}

TEST(DumpJson, DoublesReadBackToTheBit) {
  const std::vector<double> values{0.1, 1.0 / 3.0, 1e-320, 5e-324, 1.7976931348623157e308, -0.0};
  const Json again = parse_json(dump_json(Json(values)), "m");
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(again[i].get<double>(), values[i]);
    EXPECT_EQ(std::signbit(again[i].get<double>()), std::signbit(values[i]));
  }
  EXPECT_EQ(dump_json(Json(0.1)), "0.1\n");  // shortest digits
}

}  // namespace
}  // namespace oas
