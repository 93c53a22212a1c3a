#include "oas/core/settings.hpp"

#include <gtest/gtest.h>

#include "oas/core/contracts.hpp"

namespace oas {
namespace {

enum class Move { none, jitter };

struct Options {
  bool on = false;
  int count = 3;
  std::int64_t steps = 5'000'000'000;
  double scale = 0.5;
  std::optional<double> floor;
  Move move = Move::none;

  template <class Fields>
  void visit(Fields& fields) {
    fields("on", on, "a switch");
    fields("count", count, "how many");
    fields("steps", steps, "how long");
    fields("scale", scale, "a factor");
    fields("floor", floor, "a floor");
    fields.choice("move", move, {"none", "jitter"}, "a move");
  }
};

Options read(std::vector<Setting> settings) { return options_from<Options>(settings, "this"); }

std::string message(std::vector<Setting> settings) {
  try {
    static_cast<void>(read(std::move(settings)));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(Settings, SetFieldsOfEveryType) {
  const Options options = read({{"on", "true"},
                                {"count", "-4"},
                                {"steps", "6000000000"},
                                {"scale", "1e-3"},
                                {"floor", "0.25"},
                                {"move", "jitter"}});
  EXPECT_TRUE(options.on);
  EXPECT_EQ(options.count, -4);
  EXPECT_EQ(options.steps, 6'000'000'000);
  EXPECT_EQ(options.scale, 1e-3);
  EXPECT_EQ(options.floor, 0.25);
  EXPECT_EQ(options.move, Move::jitter);
}

TEST(Settings, NothingSetIsTheDefault) {
  const Options options = read({});
  EXPECT_FALSE(options.on);
  EXPECT_EQ(options.count, 3);
  EXPECT_EQ(options.floor, std::nullopt);
}

TEST(Settings, TheLastOfTwoWins) { EXPECT_EQ(read({{"count", "1"}, {"count", "2"}}).count, 2); }

TEST(Settings, ErrorsNameTheSettingAndTheText) {
  EXPECT_EQ(message({{"on", "yes"}}), "on is 'yes'; true or false is expected");
  EXPECT_EQ(message({{"count", "3.5"}}), "count is '3.5'; a whole number is expected");
  EXPECT_EQ(message({{"count", "99999999999"}}),
            "count is '99999999999'; a whole number is expected");
  EXPECT_EQ(message({{"scale", ""}}), "scale is ''; a number is expected");
  EXPECT_EQ(message({{"scale", "inf"}}), "scale is 'inf'; a number is expected");
  EXPECT_EQ(message({{"scale", "1x"}}), "scale is '1x'; a number is expected");
  EXPECT_EQ(message({{"move", "jump"}}), "move is 'jump'; known are none, jitter");
  EXPECT_EQ(message({{"cuont", "1"}}),
            "this has no setting 'cuont'; it has on, count, steps, scale, floor, move");
}

TEST(Settings, SplitAtTheFirstEqualsSign) {
  EXPECT_EQ(parse_setting("a.b=c=d"), (Setting{"a.b", "c=d"}));
  EXPECT_EQ(parse_setting("a="), (Setting{"a", ""}));
  EXPECT_THROW(static_cast<void>(parse_setting("a")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(parse_setting("=1")), InvalidArgument);
}

TEST(Settings, AreDescribedWithTheirDefaults) {
  const std::vector<SettingInfo> list = describe_options<Options>();
  ASSERT_EQ(list.size(), 6u);
  EXPECT_EQ(list[1].name, "count");
  EXPECT_EQ(list[1].value, "3");
  EXPECT_EQ(list[4].value, "");
  EXPECT_EQ(list[5].value, "none");
  EXPECT_EQ(list[5].summary, "a move");
}

}  // namespace
}  // namespace oas
