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
  int cells = 0;
  double half_life = 0.0;
  double level = 0.95;
  std::vector<std::string> files;
  std::size_t memory = 1 << 20;

  template <class Fields>
  void visit(Fields& fields) {
    fields("on", on, "a switch");
    fields("count", count, "how many");
    fields("steps", steps, "how long");
    fields("scale", scale, "a factor");
    fields("floor", floor, "a floor");
    fields.choice("move", move, {"none", "jitter"}, "a move");
    fields("cells", cells, {2, 9, true}, "how many; 0: enough");
    fields("half_life", half_life, {1.0}, "rows");
    fields("level", level, {kAboveZero, kBelowOne}, "of intervals");
    fields.words("file", files, "names");
    fields.megabytes("memory", memory, "MB");
    fields.when(
        {"scale"}, [this] { return move == Move::jitter; }, "used only by a jitter");
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
  EXPECT_EQ(message({{"on", "yes"}}), "on is 'yes'; it must be true or false");
  EXPECT_EQ(message({{"count", "3.5"}}), "count is '3.5'; it must be a whole number");
  EXPECT_EQ(message({{"count", "99999999999"}}),
            "count is '99999999999'; it must be a whole number");
  EXPECT_EQ(message({{"scale", ""}}), "scale is ''; it must be a number");
  EXPECT_EQ(message({{"scale", "inf"}}), "scale is 'inf'; it must be a number");
  EXPECT_EQ(message({{"scale", "1x"}}), "scale is '1x'; it must be a number");
  EXPECT_EQ(message({{"move", "jump"}}), "move is 'jump'; it must be one of none, jitter");
  EXPECT_EQ(message({{"cuont", "1"}}),
            "this has no setting 'cuont'; it has on, count, steps, scale, floor, move, cells, "
            "half_life, level, file, memory");
}

TEST(Settings, RangesAreCheckedAndNamed) {
  EXPECT_EQ(message({{"cells", "1"}}),
            "cells is '1'; it must be 0 or a whole number between 2 and 9");
  EXPECT_EQ(message({{"cells", "0"}}), "");
  EXPECT_EQ(message({{"half_life", "0.5"}}),
            "half_life is '0.5'; it must be a number of at least 1");
  EXPECT_EQ(message({{"level", "1"}}), "level is '1'; it must be a number above 0 and below 1");
  EXPECT_EQ(message({{"memory", "-1"}}), "memory is '-1'; it must be a number from 0 to 1e9");
  Options options;
  options.half_life = 1.0;  // its 0 is no value that it could be set to
  options.level = 2.0;
  try {
    check_ranges(options);
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "level is 2; it must be a number above 0 and below 1");
  }
}

TEST(Settings, NamesMayBeSpeltAsOnACommandLine) {
  const Options options =
      read({{"--half-life", "20"}, {"--file", "a"}, {"--file", "b"}, {"--memory", "0.5"}});
  EXPECT_EQ(options.half_life, 20.0);
  EXPECT_EQ(options.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options.memory, std::size_t{1} << 19);
  EXPECT_EQ(message({{"--half-life", "x"}}),
            "--half-life is 'x'; it must be a number of at least 1");
}

TEST(Settings, ThoseThatOthersSwitchOffAreRefused) {
  EXPECT_EQ(message({{"scale", "0.5"}}), "scale: used only by a jitter");
  EXPECT_EQ(message({{"scale", "0.5"}, {"move", "jitter"}}), "");
}

TEST(Settings, OfAFamilyNameThoseThatLookAtThem) {
  Options options;
  SettingFields fields;
  options.visit(fields);
  std::vector<SharedSetting> family;
  add_settings("one", fields.describe(), family);
  SettingFields none;
  try {
    none.apply(std::vector<Setting>{{"--half-life", "3"}}, "other", family);
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "--half-life: other does not use it; one does");
  }
}

TEST(Settings, SplitAtTheFirstEqualsSign) {
  EXPECT_EQ(parse_setting("a.b=c=d"), (Setting{"a.b", "c=d"}));
  EXPECT_EQ(parse_setting("a="), (Setting{"a", ""}));
  EXPECT_THROW(static_cast<void>(parse_setting("a")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(parse_setting("=1")), InvalidArgument);
}

TEST(Settings, AreDescribedWithTheirDefaults) {
  const std::vector<SettingInfo> list = describe_options<Options>();
  ASSERT_EQ(list.size(), 11u);
  EXPECT_EQ(list[1].name, "count");
  EXPECT_EQ(list[1].value, "3");
  EXPECT_EQ(list[4].value, "");
  EXPECT_EQ(list[5].value, "none");
  EXPECT_EQ(list[5].summary, "a move");
  EXPECT_EQ(list[5].help(), "a move (none, jitter)");
  EXPECT_EQ(list[6].help(), "how many; 0: enough (2 to 9)");
  EXPECT_EQ(list[7].help(), "rows (at least 1)");
  EXPECT_EQ(list[7].value, "");  // a 0 that cannot be chosen: off
  EXPECT_EQ(list[10].value, "1");
}

}  // namespace
}  // namespace oas
