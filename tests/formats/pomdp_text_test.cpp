#include "oas/formats/pomdp_text.hpp"

#include <vector>

#include "formats/model_file_support.hpp"

/// What a .pomdp text means: every form of every statement, against numbers worked out by hand.
namespace oas::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kHead =
    "discount: 0.9\nvalues: reward\nstates: a b\nactions: x y\nobservations: p q\n";
const std::string kPlain = "T: * uniform\nO: * uniform\n";

Pomdp parse(const std::string& text, bool lenient = false) {
  return parse_pomdp(text, "m.pomdp", {.lenient = lenient}).model;
}

std::vector<double> list(std::span<const double> values) { return {values.begin(), values.end()}; }

std::vector<double> t_row(const Pomdp& model, int a, int s) {
  return list(model.transition().row(Action{a}, State{s}));
}

std::vector<double> o_row(const Pomdp& model, int a, int s) {
  return list(model.sensors().distribution(Action{a}, State{s}));
}

TEST(PomdpText, PreambleInAnyOrderWithNamesOrSizes) {
  const Pomdp model =
      parse("observations: 3 actions: go stay-2 states: 2\nvalues:\treward discount: 1 " + kPlain);
  EXPECT_EQ(model.timing(), Timing::after);
  EXPECT_EQ(model.discount(), 1.0);
  EXPECT_EQ(model.num_states(), 2);
  EXPECT_FALSE(model.states().has_names());
  EXPECT_THAT(model.actions().names(), ElementsAre("go", "stay-2"));
  EXPECT_EQ(model.num_observations(), 3);
  EXPECT_EQ(model.reward().kind(), Reward::Kind::none);
}

TEST(PomdpText, RepeatedKeyOverwrites) {
  EXPECT_EQ(parse("states: 7 " + kHead + kPlain).num_states(), 2);
}

TEST(PomdpText, CommentsAndLineEndsMeanNothing) {
  const Pomdp model = parse("# \xe2\x80\x9cquotes\xe2\x80\x9d\r\n" + kHead +
                            "T: x # here\r\n0.25\r\n 0.75 1. # and here\n 0e0 T:y identity" +
                            "\nO:*:*:p 1.0 # at the end without newline");
  EXPECT_THAT(t_row(model, 0, 0), ElementsAre(0.25, 0.75));
  EXPECT_THAT(t_row(model, 0, 1), ElementsAre(1.0, 0.0));
  EXPECT_THAT(t_row(model, 1, 1), ElementsAre(0.0, 1.0));
}

TEST(PomdpText, FormsOfT) {
  const Pomdp model = parse(kHead +
                            "start: 0.3 0.7\nT: x : a 0.1 0.9\nT: x : 1 reset\n"
                            "T: y identity\nT: y : b : b 0.4\nT: y : b : 0 6e-1\nO: * uniform");
  EXPECT_THAT(t_row(model, 0, 0), ElementsAre(0.1, 0.9));
  EXPECT_THAT(t_row(model, 0, 1), ElementsAre(0.3, 0.7));
  EXPECT_THAT(t_row(model, 1, 0), ElementsAre(1.0, 0.0));
  EXPECT_THAT(t_row(model, 1, 1), ElementsAre(0.6, 0.4));
}

TEST(PomdpText, FormsOfO) {
  const Pomdp model = parse(kHead +
                            "T: * uniform O: x\n0.1 0.9\n0.2 0.8\nO: y : a 0.3 0.7\n"
                            "O: y : b uniform O: y : b : q 0.6 O: y : b : p 0.4");
  EXPECT_THAT(o_row(model, 0, 0), ElementsAre(0.1, 0.9));
  EXPECT_THAT(o_row(model, 0, 1), ElementsAre(0.2, 0.8));
  EXPECT_THAT(o_row(model, 1, 0), ElementsAre(0.3, 0.7));
  EXPECT_THAT(o_row(model, 1, 1), ElementsAre(0.4, 0.6));
}

// Wildcards write at the place where they stand; what comes later overwrites entry by entry.
TEST(PomdpText, LaterEntriesOverwrite) {
  const Pomdp model = parse(kHead +
                            "T: x identity T: * : a uniform T: y : * : * 0.5 T: y : b 0 1\n"
                            "O: * : * : q 1 O: x : * : q 0 O: x : * : p 1");
  EXPECT_THAT(t_row(model, 0, 0), ElementsAre(0.5, 0.5));
  EXPECT_THAT(t_row(model, 0, 1), ElementsAre(0.0, 1.0));
  EXPECT_THAT(t_row(model, 1, 0), ElementsAre(0.5, 0.5));
  EXPECT_THAT(t_row(model, 1, 1), ElementsAre(0.0, 1.0));
  EXPECT_THAT(o_row(model, 0, 0), ElementsAre(1.0, 0.0));
  EXPECT_THAT(o_row(model, 1, 1), ElementsAre(0.0, 1.0));
}

TEST(PomdpText, FormsOfStart) {
  const auto start = [](const std::string& text) { return parse(kHead + text + kPlain).start(); };
  EXPECT_THAT(start(""), ElementsAre(0.5, 0.5));
  EXPECT_THAT(start("start: uniform\n"), ElementsAre(0.5, 0.5));
  EXPECT_THAT(start("start: 0.25 0.75\n"), ElementsAre(0.25, 0.75));
  EXPECT_THAT(start("start: b\n"), ElementsAre(0.0, 1.0));
  EXPECT_THAT(start("start include: a\n"), ElementsAre(1.0, 0.0));
  EXPECT_THAT(start("start include: 0 b\n"), ElementsAre(0.5, 0.5));
  EXPECT_THAT(start("start exclude: a\n"), ElementsAre(0.0, 1.0));
}

TEST(PomdpText, RewardsOfActionAndStateBecomeATable) {
  const Pomdp model = parse(kHead + kPlain + "R: * : * : * : * 1\nR: x : b : * : * -2.5");
  ASSERT_EQ(model.reward().kind(), Reward::Kind::by_action_state);
  EXPECT_THAT(list(model.reward().values()), ElementsAre(1.0, -2.5, 1.0, 1.0));
}

TEST(PomdpText, RewardsOfTheObservationBecomeR) {
  const Pomdp model = parse(kHead + kPlain + "R: * : * : * : p 3\nR: * : * : * : q + 4");
  ASSERT_EQ(model.reward().kind(), Reward::Kind::by_observation);
  EXPECT_THAT(list(model.reward().values()), ElementsAre(3.0, 4.0));
}

TEST(PomdpText, OtherRewardsAreKeptInFull) {
  const Pomdp model = parse(kHead + kPlain +
                            "R: x : a : b 1 2\nR: y : a\n3 4\n5 6\nR: * : b : * : q 7\n"
                            "R: x : b : a : q 8");
  ASSERT_EQ(model.reward().kind(), Reward::Kind::by_transition);
  const auto r = [&](int a, int s, int next, int o) { return step_reward(model, a, s, next, o); };
  EXPECT_EQ(r(0, 0, 1, 0), 1.0);
  EXPECT_EQ(r(0, 0, 1, 1), 2.0);
  EXPECT_EQ(r(0, 0, 0, 0), 0.0);
  EXPECT_EQ(r(1, 0, 0, 1), 4.0);
  EXPECT_EQ(r(1, 0, 1, 0), 5.0);
  EXPECT_EQ(r(1, 1, 0, 1), 7.0);
  EXPECT_EQ(r(0, 1, 0, 1), 8.0);
  EXPECT_EQ(r(0, 1, 1, 0), 0.0);
}

TEST(PomdpText, CostsChangeTheirSign) {
  const Pomdp model = parse("discount: 0 values: cost states: 1 actions: 1 observations: 1\n" +
                            kPlain + "R: 0 : 0 : 0 : 0 2");
  EXPECT_EQ(model.reward().values()[0], -2.0);
}

TEST(PomdpText, RowsThatAreSlightlyOffAreRenormalised) {
  const auto read = parse_pomdp(kHead + "T: * : * : * 0.500001\nO: * uniform", "m.pomdp");
  EXPECT_THAT(t_row(read.model, 1, 1), ElementsAre(0.5, 0.5));
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("m.pomdp:6: 4 rows of T are off 1 by up to")));
  EXPECT_THAT(parse_pomdp(kHead + kPlain, "m.pomdp").warnings, IsEmpty());
}

TEST(PomdpText, WithoutObservationsTheStateIsObserved) {
  const auto read = parse_pomdp(
      "discount: 0.9 values: reward states: a b actions: x y\nstart: 1\nT: * uniform\n"
      "R: x : a : b 2\nR: x : b 3 4\nR: y\n5 6\n7 8",
      "m.pomdp");
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("the state is observed")));
  const Pomdp& model = read.model;
  EXPECT_EQ(model.observations(), model.states());
  EXPECT_THAT(model.start(), ElementsAre(0.0, 1.0));
  EXPECT_THAT(o_row(model, 1, 0), ElementsAre(1.0, 0.0));
  EXPECT_EQ(step_reward(model, 0, 0, 1, 1), 2.0);
  EXPECT_EQ(step_reward(model, 0, 1, 1, 0), 4.0);
  EXPECT_EQ(step_reward(model, 1, 1, 0, 0), 7.0);
}

// With * for the state S numbers follow, one per end state, not one per pair of states.
TEST(PomdpText, RewardsOfAnMdpForAllStates) {
  const Pomdp model =
      parse("discount: 0.9 values: reward states: a b actions: x y\nT: * uniform\nR: x : * 2 3\n");
  EXPECT_EQ(step_reward(model, 0, 0, 0, 0), 2.0);
  EXPECT_EQ(step_reward(model, 0, 1, 0, 0), 2.0);
  EXPECT_EQ(step_reward(model, 0, 1, 1, 1), 3.0);
  EXPECT_EQ(step_reward(model, 1, 1, 1, 1), 0.0);
}

TEST(PomdpText, TerminalStatesOnSeveralLines) {
  const Pomdp model = parse(kHead + "E: a\nE: b\nT: x identity\nO: x uniform\n", true);
  EXPECT_THAT(t_row(model, 1, 1), ElementsAre(0.0, 1.0));
}

// 40 states, 40 actions and 40 observations would be 2.5 million numbers, 20 MB: too many to hold.
TEST(PomdpText, LargeRewardsAreHeldByRules) {
  const Pomdp model = parse("discount: 1 values: reward states: 40 actions: 40 observations: 40\n" +
                            kPlain + "R: 3 : * : 7 : * 2\nR: 3 : 5 : 7 : 9 -1");
  ASSERT_NE(model.reward().table(), nullptr);
  EXPECT_EQ(step_reward(model, 3, 1, 7, 20), 2.0);
  EXPECT_EQ(step_reward(model, 3, 5, 7, 9), -1.0);
  EXPECT_EQ(step_reward(model, 4, 5, 7, 9), 0.0);
  EXPECT_DOUBLE_EQ(model.expected_reward()(3, 5), (39.0 / 40.0 * 2.0 - 1.0 / 40.0) / 40.0);
}

struct Dialect {
  const char* text;
  const char* warning;
};

TEST(PomdpText, LenientReadsDialectsAndNamesTheLine) {
  const std::string head = "values: reward states: a b actions: x y observations: p q\n";
  const std::vector<Dialect> dialects = {
      {"discount: 1 values: rewards\nT: * uniform O: * uniform", "2: 'values: rewards'"},
      {"\nT: * uniform O: * uniform", "no 'discount:'"},
      {"discount: 1\nstart: a b T: * uniform O: * uniform", "3: 'start:' with several names"},
      {"discount: 1\nstart: 1 T: * uniform O: * uniform", "3: 'start: 1' was read as the index"},
      {"discount: 1\nT: * : * : a : 1 O: * uniform", "3: ':' before the number of a T entry"},
      {"discount: 1\nT: * : * : * .5 O: * uniform", "3: '.5' has no digit"},
      {"discount: 1\nT: * : * identity O: * uniform", "3: 'identity' of one row"},
      {"discount: 1\nT: * uniform O: * uniform\nstart: uniform", "4: 'start' stands after"},
      {"discount: 1 start: a E: b T: * : a uniform O: * : a uniform", "'E:' (terminal states)"}};
  for (const Dialect& dialect : dialects) {
    EXPECT_THROW(parse(head + dialect.text), ParseError) << dialect.text;
    const auto read = parse_pomdp(head + dialect.text, "m", {.lenient = true});
    EXPECT_THAT(read.warnings, Contains(HasSubstr(dialect.warning))) << dialect.text;
  }
}

TEST(PomdpText, TerminalStatesAreLeftNever) {
  const Pomdp model =
      parse(kHead + "start: a E: b T: * : a uniform O: * : a : p 1 R: *:*:*:* 3", true);
  EXPECT_THAT(t_row(model, 0, 1), ElementsAre(0.0, 1.0));
  EXPECT_EQ(step_reward(model, 0, 1, 1, 0), 0.0);
  EXPECT_EQ(step_reward(model, 0, 0, 1, 0), 3.0);
}

}  // namespace
}  // namespace oas::test
