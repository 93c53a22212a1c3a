// One test per way in which a model file can be wrong: each error names file, place and value.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/model/model_json.hpp"

namespace oas {
namespace {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::StrEq;
using testing::Throws;
using testing::ThrowsMessage;

Json good() {
  return Json::parse(R"({
    "format": "oas-model/1", "timing": "before",
    "states": 2, "actions": 1, "observations": 2,
    "start": [0.5, 0.5],
    "transition": [[[0.75, 0.25], [0.5, 0.5]]],
    "observation": [[[0.75, 0.25], [0.5, 0.5]]],
    "observation_reward": [0, 1],
    "discount": 0.5
  })");
}

auto parsing(const std::string& text) {
  return [text] { (void)parse_model(text, "m.json"); };
}

// The good document with one value replaced or added.
auto with(const char* pointer, Json value) {
  Json document = good();
  document[Json::json_pointer(pointer)] = std::move(value);
  return parsing(document.dump());
}

auto without(const char* key) {
  Json document = good();
  document.erase(key);
  return parsing(document.dump());
}

auto fails_with(const std::string& message) {
  return ThrowsMessage<ParseError>(StrEq("m.json: " + message));
}

TEST(ModelJsonErrors, TheGoodDocumentIsGood) { EXPECT_NO_THROW(parsing(good().dump())()); }

TEST(ModelJsonErrors, NumbersOfLabelledRows) {
  EXPECT_NO_THROW(with("/observation_counts", Json::parse("[[[5, 0], [0, 7]]]"))());
  for (const char* bad : {"3", "[]", "[[]]", "[[[5, 0]]]", "[[[5, 0, 1], [0, 7, 1]]]", "[[5, 0]]",
                          "[[[5, \"a\"], [0, 7]]]", "{}"}) {
    EXPECT_THAT(with("/observation_counts", Json::parse(bad)),
                ThrowsMessage<ParseError>(HasSubstr("$.observation_counts")))
        << bad;
  }
  EXPECT_THAT(with("/observation_counts", Json::parse("[[[5, -1], [0, 7]]]")),
              fails_with("$.observation_counts: entry 1 of row 0 is -1; it must be a number of "
                         "rows"));
}

TEST(ModelJsonErrors, TruncatedAnywhere) {
  const std::string text = good().dump();
  for (std::size_t length = 0; length < text.size(); ++length) {
    ASSERT_THAT(parsing(text.substr(0, length)), Throws<ParseError>()) << length;
  }
  EXPECT_THAT(parsing("{\n\"format\": \"oas"),
              ThrowsMessage<ParseError>(StartsWith("m.json:2:15: syntax error")));
}

TEST(ModelJsonErrors, NoObject) {
  EXPECT_THAT(parsing("[]"), fails_with("$: expected an object, found array"));
  EXPECT_THAT(parsing("3"), fails_with("$: expected an object, found 3"));
}

TEST(ModelJsonErrors, UnknownKey) {
  EXPECT_THAT(with("/transitions", 1),
              ThrowsMessage<ParseError>(StartsWith("m.json: $: unknown key \"transitions\"; known "
                                                   "are format, timing, rows, states")));
}

TEST(ModelJsonErrors, DuplicateKey) {
  EXPECT_THAT(parsing(R"({"format": "oas-model/1", "format": "oas-model/1"})"),
              ThrowsMessage<ParseError>(HasSubstr("key \"format\" is given twice")));
}

TEST(ModelJsonErrors, MissingKeys) {
  for (const char* key : {"format", "timing", "states", "actions", "observations", "observation"}) {
    EXPECT_THAT(without(key), fails_with(fmt::format("$: key \"{}\" is missing", key)));
  }
  for (const char* key : {"start", "transition", "observation_reward", "discount"}) {
    EXPECT_NO_THROW(without(key)()) << key;
  }
}

TEST(ModelJsonErrors, Format) {
  EXPECT_THAT(with("/format", "oas-model/2"),
              fails_with("$.format: expected \"oas-model/1\", found \"oas-model/2\""));
  EXPECT_THAT(with("/format", "oas-plan/1"),
              fails_with("$.format: this is a plan, not a model; oas evaluate and oas simulate "
                         "--policy take plans, oas convert writes them as .alpha, .policy or .pg"));
  EXPECT_THAT(with("/format", 1), fails_with("$.format: expected a string, found 1"));
}

TEST(ModelJsonErrors, TimingValue) {
  EXPECT_THAT(with("/timing", "during"),
              fails_with("$.timing: expected \"before\" or \"after\", found \"during\""));
  EXPECT_THAT(with("/timing", nullptr), fails_with("$.timing: expected a string, found null"));
}

TEST(ModelJsonErrors, Sizes) {
  EXPECT_THAT(with("/states", 0),
              fails_with("$.states: expected a size from 1 to 1000000, found 0"));
  EXPECT_THAT(with("/actions", -3),
              fails_with("$.actions: expected a size from 1 to 1000000, found -3"));
  EXPECT_THAT(with("/observations", 1000001),
              fails_with("$.observations: expected a size from 1 to 1000000, found 1000001"));
  EXPECT_THAT(with("/states", 2.5), fails_with("$.states: expected an integer, found 2.5"));
  EXPECT_THAT(with("/states", "2"), fails_with("$.states: expected an integer, found \"2\""));
  EXPECT_THAT(with("/states", 4294967298),  // 2^32 + 2
              fails_with("$.states: expected a size from 1 to 1000000, found 4294967298"));
  EXPECT_THAT(with("/states", 18446744073709551615U), Throws<ParseError>());
}

TEST(ModelJsonErrors, HugeTablesAreRefusedBeforeTheyAreRead) {
  Json document = good();
  document["states"] = 1000000;
  document["observations"] = 1000000;
  document.erase("start");
  EXPECT_THAT(
      parsing(document.dump()),
      fails_with("$.observation: 1000000000000 numbers are more than the limit of 200000000"));
}

TEST(ModelJsonErrors, Names) {
  EXPECT_THAT(with("/states", {"a", "12"}),
              fails_with("$.states: state name '12' is all digits; it would be read as an index"));
  EXPECT_THAT(with("/states", {"a", "a"}), fails_with("$.states: state name 'a' is used twice"));
  EXPECT_THAT(with("/actions", {""}), fails_with("$.actions: action 0 has an empty name"));
  EXPECT_THAT(with("/observations", {"a", "b\n"}),
              fails_with("$.observations: the name of observation 1 holds a control character"));
  EXPECT_THAT(with("/states", {"a", 2}), fails_with("$.states[1]: expected a string, found 2"));
  EXPECT_THAT(with("/states", Json::array()), fails_with("$.states: the list of states is empty"));
}

TEST(ModelJsonErrors, TablesOfTheWrongSize) {
  EXPECT_THAT(with("/states", 3), fails_with("$.start: 2 entries where 3 are needed"));
  EXPECT_THAT(with("/actions", 2), fails_with("$.observation: 1 entries where 2 are needed"));
  EXPECT_THAT(with("/transition/0/1", {1}),
              fails_with("$.transition[0][1]: 1 entries where 2 are needed"));
  EXPECT_THAT(with("/observation/0/0", {0.5, 0.25, 0.25}),
              fails_with("$.observation[0][0]: 3 entries where 2 are needed"));
  EXPECT_THAT(with("/observation_reward", {1, 2, 3}),
              fails_with("$.observation_reward: 3 entries where 2 are needed"));
  EXPECT_THAT(with("/transition", 1), fails_with("$.transition: expected an array, found 1"));
}

TEST(ModelJsonErrors, NumbersThatAreNone) {
  EXPECT_THAT(with("/transition/0/1/0", "NaN"),
              fails_with("$.transition[0][1][0]: expected a number, found \"NaN\""));
  EXPECT_THAT(with("/start/1", nullptr), fails_with("$.start[1]: expected a number, found null"));
  std::string text = good().dump();
  text.replace(text.find("0.75"), 4, "NaN");
  EXPECT_THAT(parsing(text), ThrowsMessage<ParseError>(HasSubstr("syntax error")));
  text.replace(text.find("NaN"), 3, "1e999");
  EXPECT_THAT(parsing(text), ThrowsMessage<ParseError>(HasSubstr("1e999")));
}

TEST(ModelJsonErrors, NegativeProbabilities) {
  EXPECT_THAT(with("/transition/0/1", {1.5, -0.5}),
              fails_with("$.transition[0][1][1] is -0.5; probabilities must not be negative"));
  EXPECT_THAT(with("/observation/0/0", {-1e-12, 1.0}),
              fails_with("$.observation[0][0][0] is -1e-12; probabilities must not be negative"));
  EXPECT_THAT(with("/start", {2, -1}),
              ThrowsMessage<ParseError>(HasSubstr("start[1] is -1; probabilities must not be")));
}

TEST(ModelJsonErrors, RowSums) {
  for (const double error : {1e-7, -1e-7}) {
    EXPECT_THAT(with("/transition/0/0", {0.5, 0.5 + error}),
                ThrowsMessage<ParseError>(StartsWith("m.json: $.transition[0][0] sums to")));
    EXPECT_THAT(with("/observation/0/1", {0.5, 0.5 + error}),
                ThrowsMessage<ParseError>(StartsWith("m.json: $.observation[0][1] sums to")));
    EXPECT_THAT(with("/start", {0.5, 0.5 + error}),
                ThrowsMessage<ParseError>(HasSubstr("start sums to")));
  }
  for (const double error : {1e-9, -1e-9}) {
    EXPECT_NO_THROW(with("/transition/0/0", {0.5, 0.5 + error})());
    EXPECT_NO_THROW(with("/observation/0/1", {0.5, 0.5 + error})());
    EXPECT_NO_THROW(with("/start", {0.5, 0.5 + error})());
  }
}

TEST(ModelJsonErrors, TwoRewards) {
  EXPECT_THAT(with("/reward", Json::parse("[[1, 2]]")),
              fails_with("$: both \"observation_reward\" and \"reward\" are given"));
  Json document = good();
  document.erase("observation_reward");
  document["reward"] = Json::parse("[[1, 2]]");
  document["transition_reward"] = Json::parse("[[[[1,2],[1,2]],[[1,2],[1,2]]]]");
  EXPECT_THAT(parsing(document.dump()),
              fails_with("$: both \"reward\" and \"transition_reward\" are given"));
}

TEST(ModelJsonErrors, RewardRules) {
  const auto rules = [](const char* text) {
    Json document = good();
    document.erase("observation_reward");
    document["reward_rules"] = Json::parse(text);
    return parsing(document.dump());
  };
  EXPECT_NO_THROW(rules("[]")());
  EXPECT_THAT(rules("[[0, 0, 0, 1]]"),
              fails_with("$.reward_rules[0]: 4 entries where 5 are needed"));
  EXPECT_THAT(rules("[[0, 2, 0, 0, 1]]"),
              fails_with("$.reward_rules[0][1]: expected an index from 0 to 1, found 2"));
  EXPECT_THAT(rules("[[0, 0, 0, 0, null]]"),
              fails_with("$.reward_rules[0][4]: expected a number, found null"));
}

TEST(ModelJsonErrors, Discount) {
  EXPECT_THAT(with("/discount", 1.5),
              ThrowsMessage<ParseError>(AllOf(HasSubstr("discount"), HasSubstr("1.5"))));
  EXPECT_THAT(with("/discount", "0.9"), fails_with("$.discount: expected a number, found \"0.9\""));
}

// Errors of the whole model should say where as the others do: "$.start", "$.discount".
TEST(ModelJsonErrors, EveryMessageHasAPath) {
  EXPECT_THAT(with("/start", {2, -1}), ThrowsMessage<ParseError>(StartsWith("m.json: $.start[1]")));
  EXPECT_THAT(with("/discount", 1.5), ThrowsMessage<ParseError>(StartsWith("m.json: $.discount")));
}

}  // namespace
}  // namespace oas
