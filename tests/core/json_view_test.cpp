#include <gmock/gmock.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"

namespace oas {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StrEq;
using testing::ThrowsMessage;

auto rejects(const std::string& message) {
  return ThrowsMessage<ParseError>(StrEq("m.json: " + message));
}

class JsonViewTest : public testing::Test {
 protected:
  const nlohmann::ordered_json document_ = parse_json(R"({
    "text": "word", "number": 2.5, "count": 7, "yes": true, "nothing": null,
    "list": ["a", "b"], "mixed": ["a", 1],
    "table": [[1, 2, 3], [4, 5, 6]], "ragged": [[1, 2, 3], [4, 5]],
    "cell": [[1, 2, 3], [4, "five", 6]], "inner": {"key": [10, 20]},
    "huge": 18446744073709551615, "large": 9223372036854775807
  })",
                                                      "m.json");
  const JsonView root_{document_, "m.json"};
};

TEST_F(JsonViewTest, ReadsValues) {
  EXPECT_EQ(root_.at("text").as_string(), "word");
  EXPECT_EQ(root_.at("number").as_double(), 2.5);
  EXPECT_EQ(root_.at("count").as_double(), 7.0);
  EXPECT_EQ(root_.at("count").as_integer(), 7);
  EXPECT_EQ(root_.at("large").as_integer(), 9223372036854775807L);
  EXPECT_TRUE(root_.at("yes").as_bool());
  EXPECT_THAT(root_.at("list").as_strings(), ElementsAre("a", "b"));
  EXPECT_EQ(root_.at("inner").at("key").at(1).as_integer(), 20);
  EXPECT_EQ(root_.at("list").size(), 2U);
  EXPECT_TRUE(root_.at("text").is_string());
  EXPECT_FALSE(root_.at("text").is_number());
  EXPECT_TRUE(root_.at("number").is_number());
  EXPECT_TRUE(root_.at("list").is_array());
  EXPECT_FALSE(root_.is_array());
}

TEST_F(JsonViewTest, KnowsWhereItIs) {
  EXPECT_EQ(root_.path(), "$");
  EXPECT_EQ(root_.at("inner").at("key").at(1).path(), "$.inner.key[1]");
  EXPECT_EQ(root_.at("inner").file(), "m.json");
  EXPECT_TRUE(root_.has("inner"));
  EXPECT_FALSE(root_.has("key"));
  EXPECT_FALSE(root_.at("list").has("a"));
}

TEST_F(JsonViewTest, WrongKindsNameTheValueFound) {
  EXPECT_THAT([&] { (void)root_.at("number").as_string(); },
              rejects("$.number: expected a string, found 2.5"));
  EXPECT_THAT([&] { (void)root_.at("text").as_double(); },
              rejects("$.text: expected a number, found \"word\""));
  EXPECT_THAT([&] { (void)root_.at("number").as_integer(); },
              rejects("$.number: expected an integer, found 2.5"));
  EXPECT_THAT([&] { (void)root_.at("count").as_bool(); },
              rejects("$.count: expected true or false, found 7"));
  EXPECT_THAT([&] { (void)root_.at("nothing").size(); },
              rejects("$.nothing: expected an array, found null"));
  EXPECT_THAT([&] { (void)root_.at("inner").as_double(); },
              rejects("$.inner: expected a number, found object"));
  EXPECT_THAT([&] { (void)root_.at("mixed").as_strings(); },
              rejects("$.mixed[1]: expected a string, found 1"));
}

// Neither fits a long; it must not turn into -1.
TEST_F(JsonViewTest, IntegersBeyondTheRangeAreErrors) {
  EXPECT_THAT([&] { (void)root_.at("huge").as_integer(); },
              ThrowsMessage<ParseError>(HasSubstr("18446744073709551615")));
}

TEST_F(JsonViewTest, MissingKeysAndElements) {
  EXPECT_THAT([&] { (void)root_.at("absent"); }, rejects("$: key \"absent\" is missing"));
  EXPECT_THAT([&] { (void)root_.at("inner").at("x"); }, rejects("$.inner: key \"x\" is missing"));
  EXPECT_THAT([&] { (void)root_.at("text").at("x"); },
              rejects("$.text: expected an object, found \"word\""));
  EXPECT_THAT([&] { (void)root_.at("list").at(2); }, rejects("$.list: element 2 is missing"));
  EXPECT_THAT([&] { (void)root_.at("text").at(0); },
              rejects("$.text: expected an array, found \"word\""));
}

TEST_F(JsonViewTest, UnknownKeysAreErrors) {
  const std::array<std::string_view, 2> allowed = {"key", "other"};
  EXPECT_NO_THROW(root_.at("inner").require_keys(allowed));
  const std::array<std::string_view, 2> others = {"other", "another"};
  EXPECT_THAT([&] { root_.at("inner").require_keys(others); },
              rejects("$.inner: unknown key \"key\"; known are other, another"));
  EXPECT_THAT([&] { root_.at("list").require_keys(allowed); },
              rejects("$.list: expected an object, found array"));
}

TEST_F(JsonViewTest, TablesAreFlattenedRowByRow) {
  EXPECT_THAT(root_.at("table").as_array(std::array{2, 3}), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(root_.at("inner").at("key").as_array(std::array{2}), ElementsAre(10, 20));
}

TEST_F(JsonViewTest, TablesOfTheWrongShape) {
  EXPECT_THAT(
      [&] {
        (void)root_.at("table").as_array(std::array{3, 3});
      },
      rejects("$.table: 2 entries where 3 are needed"));
  EXPECT_THAT(
      [&] {
        (void)root_.at("table").as_array(std::array{2, 2});
      },
      rejects("$.table[0]: 3 entries where 2 are needed"));
  EXPECT_THAT(
      [&] {
        (void)root_.at("ragged").as_array(std::array{2, 3});
      },
      rejects("$.ragged[1]: 2 entries where 3 are needed"));
  EXPECT_THAT(
      [&] {
        (void)root_.at("cell").as_array(std::array{2, 3});
      },
      rejects("$.cell[1][1]: expected a number, found \"five\""));
  EXPECT_THAT(
      [&] {
        (void)root_.at("table").as_array(std::array{2, 3, 1});
      },
      rejects("$.table[0][0]: expected an array, found 1"));
  EXPECT_THAT([&] { (void)root_.at("table").as_array(std::array{2}); },
              rejects("$.table[0]: expected a number, found array"));
}

TEST_F(JsonViewTest, LongValuesAreShortenedInMessages) {
  const nlohmann::ordered_json document = std::string(1000, 'x');
  EXPECT_THAT(
      [&] { (void)JsonView(document, "m.json").as_double(); },
      ThrowsMessage<ParseError>(AllOf(EndsWith("xxx…"), testing::SizeIs(testing::Lt(150)))));
}

}  // namespace
}  // namespace oas
