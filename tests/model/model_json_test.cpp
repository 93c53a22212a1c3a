#include "oas/model/model_json.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "support/property.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

constexpr const char* kSmall = R"({
  "format": "oas-model/1",
  "timing": "after",
  "states": 2,
  "actions": ["stay", "go"],
  "observations": 3,
  "start": [0.25, 0.75],
  "transition": [[[0.9, 0.1], [0.4, 0.6]], [[0, 1], [1, 0]]],
  "observation": [[[0.5, 0.25, 0.25], [0, 0.5, 0.5]], [[1, 0, 0], [0, 0, 1]]],
  "reward": [[1, 2], [3, -4.5]],
  "discount": 0.95
})";

TEST(ModelJson, ReadsEveryPartWhereItBelongs) {
  const Pomdp model = parse_model(kSmall, "m.json");
  EXPECT_EQ(model.timing(), Timing::after);
  EXPECT_EQ(model.num_states(), 2);
  EXPECT_EQ(model.actions()[1], "go");
  EXPECT_FALSE(model.observations().has_names());
  EXPECT_THAT(model.start(), ElementsAre(0.25, 0.75));
  EXPECT_EQ(model.transition()(Action{0}, State{1}, State{0}), 0.4);
  EXPECT_EQ(model.transition()(Action{1}, State{0}, State{1}), 1.0);
  EXPECT_EQ(model.sensors()(Action{0}, State{0}, Observation{1}), 0.25);
  EXPECT_EQ(model.sensors()(Action{1}, State{1}, Observation{2}), 1.0);
  EXPECT_EQ(model.reward(), Reward::by_action_state({1, 2, 3, -4.5}));
  EXPECT_EQ(model.discount(), 0.95);
}

TEST(ModelJson, OptionalPartsMayBeAbsent) {
  const Pomdp model = parse_model(R"({"format": "oas-model/1", "timing": "before", "states": 1,
      "actions": 1, "observations": 1, "observation": [[[1]]]})",
                                  "m.json");
  EXPECT_FALSE(model.has_transition());
  EXPECT_EQ(model.reward().kind(), Reward::Kind::none);
  EXPECT_EQ(model.discount(), std::nullopt);
  EXPECT_THAT(model.start(), ElementsAre(1.0));
}

TEST(ModelJson, EstimateObjectIsSkipped) {
  std::string text = kSmall;
  text.replace(text.rfind('}'), 1, R"(, "estimate": {"anything": [1, {"x": null}]}})");
  EXPECT_EQ(parse_model(text, "m.json"), parse_model(kSmall, "m.json"));
}

TEST(ModelJson, EachRewardKeyIsItsKind) {
  nlohmann::ordered_json document = parse_json(kSmall, "m.json");
  document.erase("reward");
  document["observation_reward"] = {1, 2, 3};
  EXPECT_EQ(parse_model(document.dump(), "m").reward(), Reward::by_observation({1, 2, 3}));
  document.erase("observation_reward");
  document["transition_reward"] = nlohmann::ordered_json::parse(
      "[[[[0,1,2],[3,4,5]],[[6,7,8],[9,10,11]]],[[[12,13,14],[15,16,17]],[[18,19,20],[21,22,23]]]"
      "]");
  std::vector<double> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  EXPECT_EQ(parse_model(document.dump(), "m").reward(), Reward::by_transition(values));
}

TEST(ModelJson, RewardRulesAreKeptAsRules) {
  nlohmann::ordered_json document = parse_json(kSmall, "m.json");
  document.erase("reward");
  document["reward_rules"] =
      nlohmann::ordered_json::parse("[[null, null, 1, null, 2.5], [0, 1, 1, 2, -1]]");
  const Pomdp model = parse_model(document.dump(), "m");
  ASSERT_NE(model.reward().table(), nullptr);
  EXPECT_EQ((*model.reward().table())(1, 0, 1, 0), 2.5);
  EXPECT_EQ((*model.reward().table())(0, 1, 1, 2), -1.0);
  EXPECT_EQ((*model.reward().table())(0, 1, 0, 2), 0.0);
  EXPECT_EQ(parse_model(dump_json(model_to_json(model)), "m"), model);
}

RC_GTEST_PROP(ModelJson, WritingAndReadingGivesTheSameModel, ()) {
  const Pomdp model = test::any_model(5, 4, 5);
  const std::string text = dump_json(model_to_json(model));
  RC_ASSERT(parse_model(text, "m.json") == model);
  const Pomdp blind = model.without_transition();
  RC_ASSERT(parse_model(dump_json(model_to_json(blind)), "m.json") == blind);
}

TEST(ModelJson, NumbersOfLabelledRowsSurvive) {
  nlohmann::ordered_json document = parse_json(kSmall, "m.json");
  document["observation_counts"] =
      nlohmann::ordered_json::parse("[[[1,2,3],[4,5,6]],[[7,8,9],[0,0,0.5]]]");
  const Pomdp model = parse_model(document.dump(), "m");
  ASSERT_TRUE(model.observation_counts().has_value());
  EXPECT_FALSE(model.observation_counts()->shared());
  EXPECT_EQ(model.observation_counts()->total(Action{1}, State{0}), 24.0);
  EXPECT_EQ(parse_model(dump_json(model_to_json(model)), "m"), model);
  document["observation"][1] = document["observation"][0];
  document["observation_counts"] = nlohmann::ordered_json::parse("[[1,2,3],[4,5,6]]");
  const Pomdp shared = parse_model(document.dump(), "m");
  EXPECT_TRUE(shared.observation_counts()->shared());
  EXPECT_EQ(parse_model(dump_json(model_to_json(shared)), "m"), shared);
}

TEST(ModelJson, NamesAndDiscountSurviveToo) {
  test::RandomModelOptions options;
  options.named = true;
  PomdpParts parts = test::random_model(options, 4).parts();
  parts.discount = 1.0 / 3.0;
  const Pomdp model(std::move(parts));
  const Pomdp again = parse_model(dump_json(model_to_json(model)), "m.json");
  EXPECT_EQ(again, model);
  EXPECT_EQ(again.states()[0], "state \"0\", é");
  EXPECT_EQ(again.states().find("state \"1\", é"), std::optional<int>(1));
}

// A name that is no UTF-8 cannot be written as JSON: it must be refused where it comes in, as wrong
// input, or survive; no exception of another kind may come out of writing.
TEST(ModelJson, NamesThatAreNoUtf8) {
  PomdpParts parts = test::random_model({}, 4).parts();
  try {
    parts.actions = Labels(std::vector<std::string>{"\xff\xfe", "b"}, "action");
    const Pomdp model(std::move(parts));
    EXPECT_EQ(parse_model(dump_json(model_to_json(model)), "m.json"), model);
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("UTF-8"));
  }
}

TEST(ModelJson, FilesReadBack) {
  const test::TemporaryDirectory folder;
  const Pomdp model = parse_model(kSmall, "m.json");
  write_model(folder.file("model.json"), model);
  EXPECT_EQ(read_model(folder.file("model.json")), model);
  EXPECT_THAT(folder.entries(), ElementsAre("model.json"));
  EXPECT_THAT(test::slurp(folder.file("model.json")),
              StartsWith("{\n  \"format\": \"oas-model/1\",\n  \"timing\": \"after\",\n"));
}

TEST(ModelJson, ErrorsInFilesNameTheFile) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("model.json");
  EXPECT_THAT([&] { (void)read_model(path); },
              ThrowsMessage<InvalidArgument>(StartsWith(path + ": No such file")));
  test::spill(path, "{\"format\": \n}");
  EXPECT_THAT([&] { (void)read_model(path); },
              ThrowsMessage<ParseError>(StartsWith(path + ":2:1: syntax error")));
}

}  // namespace
}  // namespace oas
