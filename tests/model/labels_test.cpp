#include "oas/model/labels.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/model/label_lookup.hpp"

namespace oas {
namespace {

using testing::ElementsAre;
using testing::StrEq;
using testing::ThrowsMessage;

using Names = std::vector<std::string>;

auto throws(const char* message) { return ThrowsMessage<InvalidArgument>(StrEq(message)); }

TEST(Labels, OnlyASize) {
  const Labels labels(3, "state");
  EXPECT_EQ(labels.size(), 3);
  EXPECT_FALSE(labels.has_names());
  EXPECT_EQ(labels[0], "0");
  EXPECT_EQ(labels[2], "2");
  EXPECT_EQ(labels.find("1"), std::nullopt);  // digits are indices, not names
}

TEST(Labels, Names) {
  const Labels labels(Names{"left", "right", "2nd floor", "-1", "é"}, "state");
  EXPECT_EQ(labels.size(), 5);
  EXPECT_TRUE(labels.has_names());
  EXPECT_EQ(labels[1], "right");
  EXPECT_EQ(labels.find("left"), std::optional<int>(0));
  EXPECT_EQ(labels.find("é"), std::optional<int>(4));
  EXPECT_EQ(labels.find("Left"), std::nullopt);
  EXPECT_EQ(labels.find(""), std::nullopt);
  EXPECT_EQ(labels.find("0"), std::nullopt);
  EXPECT_THAT(labels.names(), ElementsAre("left", "right", "2nd floor", "-1", "é"));
}

TEST(LabelLookup, ByNameOrNumber) {
  const Labels named(Names{"left", "right", "2nd floor", "-1"}, "state");
  EXPECT_EQ(element_named("right", named, "state"), 1);
  EXPECT_EQ(element_named(" 2nd floor\t", named, "state"), 2);
  EXPECT_EQ(element_named("-1", named, "state"), 3);  // a name
  EXPECT_EQ(element_named("0", named, "state"), 0);
  EXPECT_EQ(element_named("2", Labels(3, "state"), "state"), 2);
  EXPECT_THAT(elements_named("right+0+1", named, "state"), ElementsAre(1, 0));
  for (const char* wrong : {"", " ", "4", "-2", "01", "+1", "1.0", "99999999999999", "Left"}) {
    EXPECT_THROW(static_cast<void>(element_named(wrong, named, "state")), InvalidArgument) << wrong;
  }
  EXPECT_THROW(static_cast<void>(elements_named("right+", named, "state")), InvalidArgument);
  EXPECT_THAT([&] { static_cast<void>(element_named("up", named, "state", "--reach")); },
              throws("--reach: there is no state 'up'; there are left, right, 2nd floor, -1"));
}

TEST(Labels, EqualityIsSizeAndNames) {
  EXPECT_EQ(Labels(2, "state"), Labels(2, "action"));
  EXPECT_NE(Labels(2, "state"), Labels(3, "state"));
  EXPECT_NE(Labels(2, "state"), Labels(Names{"a", "b"}, "state"));
  EXPECT_NE(Labels(Names{"b", "a"}, "state"), Labels(Names{"a", "b"}, "state"));
  EXPECT_EQ(Labels(Names{"a", "b"}, "state"), Labels(Names{"a", "b"}, "state"));
}

TEST(Labels, RulesNameTheOffender) {
  EXPECT_THAT([] { Labels(0, "state"); }, throws("number of states is 0; it must be at least 1"));
  EXPECT_THAT([] { Labels(-4, "action"); },
              throws("number of actions is -4; it must be at least 1"));
  EXPECT_THAT([] { Labels(Names{}, "state"); }, throws("the list of states is empty"));
  EXPECT_THAT([] { Labels(Names{"a", ""}, "state"); }, throws("state 1 has an empty name"));
  EXPECT_THAT(
      [] {
        Labels(Names{"a", "12"}, "action");
      },
      throws("action name '12' is all digits; it would be read as an index"));
  EXPECT_THAT(
      [] {
        Labels(Names{"a", "b", "a"}, "observation");
      },
      throws("observation name 'a' is used twice"));
}

TEST(Labels, ControlCharactersAreRefused) {
  for (const char c : {'\n', '\r', '\t', '\x1f', '\x7f', '\0'}) {
    EXPECT_THAT([&] { Labels(Names{std::string("a") + c}, "state"); },
                throws("the name of state 0 holds a control character"));
  }
  EXPECT_NO_THROW(Labels(Names{"a b,c;\"d'", "\u00a0"}, "state"));
}

}  // namespace
}  // namespace oas
