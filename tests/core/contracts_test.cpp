#include "oas/core/contracts.hpp"

#include <gmock/gmock.h>

#include <type_traits>

#include "oas/core/index.hpp"
#include "oas/core/version.hpp"

namespace oas {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StrEq;
using testing::ThrowsMessage;

TEST(Require, ThrowsTheFormattedValues) {
  const int value = 7;
  EXPECT_THAT([&] { OAS_REQUIRE(value < 5, "value is {} of {}", value, 5); },
              ThrowsMessage<InvalidArgument>(StrEq("value is 7 of 5")));
}

TEST(Require, EvaluatesTheConditionOnceAndPassesSilently) {
  int evaluations = 0;
  EXPECT_NO_THROW(OAS_REQUIRE(++evaluations == 1, "evaluated {} times", evaluations));
  EXPECT_EQ(evaluations, 1);
}

TEST(Require, IsOneStatement) {
  bool reached_else = false;
  if (reached_else)
    OAS_REQUIRE(false, "never");
  else
    reached_else = true;
  EXPECT_TRUE(reached_else);
}

TEST(Require, ErrorsAreStandardExceptions) {
  EXPECT_TRUE((std::is_base_of_v<std::invalid_argument, InvalidArgument>));
  EXPECT_TRUE((std::is_base_of_v<InvalidArgument, ParseError>));
  EXPECT_TRUE((std::is_base_of_v<std::runtime_error, IoError>));
  EXPECT_FALSE((std::is_base_of_v<std::invalid_argument, IoError>));
}

TEST(Assertion, NamesConditionFileAndLine) {
  EXPECT_THAT(
      [] { detail::assertion_failed("x > 0", "folder/file.cpp", 12); },
      ThrowsMessage<std::logic_error>(AllOf(HasSubstr("folder/file.cpp:12"),
                                            HasSubstr("assertion failed"), EndsWith("x > 0"))));
}

TEST(Assertion, OnlyInDebugBuilds) {
  [[maybe_unused]] bool evaluated = false;
#ifdef NDEBUG
  EXPECT_NO_THROW(OAS_ASSERT((evaluated = true, false)));
  EXPECT_FALSE(evaluated);
#else
  EXPECT_THROW(OAS_ASSERT(evaluated), std::logic_error);
  EXPECT_NO_THROW(OAS_ASSERT(!evaluated));
#endif
}

TEST(ParseError, LeavesOutWhatIsUnknown) {
  EXPECT_STREQ(ParseError("log.csv", 3, 14, "no number").what(), "log.csv:3:14: no number");
  EXPECT_STREQ(ParseError("log.csv", 3, 0, "no number").what(), "log.csv:3: no number");
  EXPECT_STREQ(ParseError("log.csv", 0, 0, "no number").what(), "log.csv: no number");
  EXPECT_STREQ(ParseError("log.csv", 0, 5, "no number").what(), "log.csv: no number");
  EXPECT_STREQ(ParseError("", 0, 0, "no number").what(), "no number");
}

TEST(ParseError, CarriesItsParts) {
  const ParseError error("log.csv", 3, 14, "no number");
  EXPECT_EQ(error.file(), "log.csv");
  EXPECT_EQ(error.line(), 3);
  EXPECT_EQ(error.column(), 14);
}

TEST(Index, KindsDoNotMix) {
  EXPECT_FALSE((std::is_convertible_v<int, State>));
  EXPECT_FALSE((std::is_convertible_v<State, Action>));
  EXPECT_FALSE((std::is_assignable_v<State&, int>));
  EXPECT_TRUE((std::is_convertible_v<State, int>));
  State state{4};
  EXPECT_EQ(++state, 5);
  EXPECT_EQ(State{}.value(), 0);
  EXPECT_EQ(kMissing.value(), -1);
}

TEST(Version, IsSemantic) {
  EXPECT_THAT(version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace oas
