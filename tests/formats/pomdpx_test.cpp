#include "oas/formats/pomdpx.hpp"

#include <vector>

#include "formats/model_file_support.hpp"
#include "oas/formats/pomdp_text.hpp"
#include "support/pomdp_invariants.hpp"
#include "support/property.hpp"

/// What a POMDPX text means: tables, diagrams, flattening; and what its writer writes.
namespace oas::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::ThrowsMessage;

std::vector<double> list(std::span<const double> values) { return {values.begin(), values.end()}; }

std::vector<double> t_row(const Pomdp& model, int a, int s) {
  return list(model.transition().row(Action{a}, State{s}));
}

std::vector<double> o_row(const Pomdp& model, int a, int s) {
  return list(model.sensors().distribution(Action{a}, State{s}));
}

std::string table(const std::string& variable, const std::string& parents,
                  const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string text = "<CondProb><Var>" + variable + "</Var><Parent>" + parents +
                     "</Parent><Parameter type=\"TBL\">";
  for (const auto& [instance, numbers] : entries) {
    text += "<Entry><Instance>" + instance + "</Instance><ProbTable>" + numbers +
            "</ProbTable></Entry>";
  }
  return text + "</Parameter></CondProb>\n";
}

struct Document {
  std::string variables =
      "<StateVar vnamePrev='x0' vnameCurr='x1'><ValueEnum>a b</ValueEnum></StateVar>\n"
      "<ObsVar vname='z'><ValueEnum>p q</ValueEnum></ObsVar>\n"
      "<ActionVar vname='u'><ValueEnum>go stay</ValueEnum></ActionVar><RewardVar vname='r'/>";
  std::string start = table("x0", "null", {{"-", "0.25 0.75"}});
  std::string transition = table("x1", "u x0", {{"go * -", "0.5 0.5"}, {"stay - -", "identity"}});
  std::string sensors = table("z", "u x1", {{"* - -", "0.9 0.1 0.2 0.8"}, {"stay * -", "uniform"}});
  std::string rewards;

  [[nodiscard]] std::string text() const {
    return "<?xml version='1.0' encoding='ISO-8859-1'?>\n<pomdpx version='1.0'>\n"
           "<Discount> 0.9 </Discount><Variable>" +
           variables + "</Variable>\n<InitialStateBelief>" + start +
           "</InitialStateBelief>\n<StateTransitionFunction>" + transition +
           "</StateTransitionFunction>\n<ObsFunction>" + sensors +
           "</ObsFunction>\n<RewardFunction>" + rewards + "</RewardFunction></pomdpx>";
  }
};

Pomdp parse(const Document& document) { return parse_pomdpx(document.text(), "m.pomdpx").model; }

std::string fault_of(const std::string& text, const ModelReadOptions& options = {}) {
  try {
    const auto read = parse_pomdpx(text, "m", options);
    return "accepted: " + read.model.brief();
  } catch (const ParseError& error) {
    return error.what();
  }
}

TEST(Pomdpx, TablesWithWildcardsListsAndKeywords) {
  const Pomdp model = parse({});
  EXPECT_EQ(model.timing(), Timing::after);
  EXPECT_EQ(model.discount(), 0.9);
  EXPECT_THAT(model.states().names(), ElementsAre("a", "b"));
  EXPECT_THAT(model.actions().names(), ElementsAre("go", "stay"));
  EXPECT_THAT(model.start(), ElementsAre(0.25, 0.75));
  EXPECT_THAT(t_row(model, 0, 1), ElementsAre(0.5, 0.5));
  EXPECT_THAT(t_row(model, 1, 1), ElementsAre(0.0, 1.0));
  EXPECT_THAT(o_row(model, 0, 0), ElementsAre(0.9, 0.1));
  EXPECT_THAT(o_row(model, 0, 1), ElementsAre(0.2, 0.8));
  EXPECT_THAT(o_row(model, 1, 1), ElementsAre(0.5, 0.5));
  EXPECT_EQ(model.reward().kind(), Reward::Kind::none);
}

const std::string kRewardTable =
    "<Func><Var>r</Var><Parent>u x0</Parent><Parameter type='TBL'>"
    "<Entry><Instance>* *</Instance><ValueTable>-1</ValueTable></Entry>"
    "<Entry><Instance>go -</Instance><ValueTable>2 +3.5</ValueTable></Entry></Parameter></Func>";

TEST(Pomdpx, RewardsOfSeveralFunctionsAddUp) {
  Document document;
  document.rewards = kRewardTable;
  EXPECT_THAT(list(parse(document).reward().values()), ElementsAre(2.0, 3.5, -1.0, -1.0));
  document.rewards +=
      "<Func><Var>r</Var><Parent>x1 z</Parent><Parameter><Entry><Instance>b q</Instance>"
      "<ValueTable>10</ValueTable></Entry></Parameter></Func>";
  const Pomdp model = parse(document);
  EXPECT_EQ(model.reward().kind(), Reward::Kind::by_transition);
  EXPECT_EQ(step_reward(model, 0, 1, 0, 1), 3.5);
  EXPECT_EQ(step_reward(model, 0, 1, 1, 1), 13.5);
  EXPECT_EQ(step_reward(model, 1, 0, 1, 1), 9.0);
}

// Two state variables, one of which depends on the other's new value.
TEST(Pomdpx, FactoredStatesAreFlattened) {
  Document document;
  document.variables +=
      "<StateVar vnamePrev='y0' vnameCurr='y1'><NumValues>3</NumValues></StateVar>";
  document.start += table("y0", "x0", {{"a s0", "1"}, {"b -", "0 0.5 0.5"}});
  document.transition +=
      table("y1", "y0 x1", {{"* a s0", "1"}, {"* b *", "0"}, {"- b -", "identity"}});
  const Pomdp model = parse(document);
  EXPECT_THAT(model.states().names(), ElementsAre("a_s0", "a_s1", "a_s2", "b_s0", "b_s1", "b_s2"));
  EXPECT_THAT(model.start(), ElementsAre(0.25, 0, 0, 0, 0.375, 0.375));
  EXPECT_THAT(t_row(model, 0, 5), ElementsAre(0.5, 0, 0, 0, 0, 0.5));
  EXPECT_THAT(t_row(model, 1, 1), ElementsAre(1, 0, 0, 0, 0, 0));
  EXPECT_THAT(o_row(model, 0, 4), ElementsAre(0.2, 0.8));
}

// The fully observed variable joins the observation; what cannot be seen is left out.
TEST(Pomdpx, MixedObservability) {
  Document document;
  document.variables =
      "<StateVar vnamePrev='x0' vnameCurr='x1' fullyObs='true'><ValueEnum>a "
      "b</ValueEnum></StateVar>"
      "<ObsVar vname='z'><ValueEnum>p q</ValueEnum></ObsVar>"
      "<ActionVar vname='u'><ValueEnum>go stay</ValueEnum></ActionVar>";
  document.sensors = table("z", "x1", {{"a p", "1"}, {"b -", "0.3 0.7"}});
  const auto read = parse_pomdpx(document.text(), "m");
  EXPECT_THAT(read.model.observations().names(), ElementsAre("a_p", "b_p", "b_q"));
  EXPECT_THAT(o_row(read.model, 0, 0), ElementsAre(1.0, 0.0, 0.0));
  EXPECT_THAT(o_row(read.model, 0, 1), ElementsAre(0.0, 0.3, 0.7));
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("'x0' is fully observed, but its first value")));
}

TEST(Pomdpx, WithoutObservationVariables) {
  Document document;
  document.variables =
      "<StateVar vnamePrev='x0' vnameCurr='x1'><ValueEnum>a b</ValueEnum></StateVar>"
      "<ActionVar vname='u'><ValueEnum>go stay</ValueEnum></ActionVar>";
  document.sensors = "";
  EXPECT_THAT(parse(document).observations().names(), ElementsAre("nothing"));
}

// One name is the beginning of another, and a list names both: the longest that fits counts.
TEST(Pomdpx, NamesWithSpacesWhereLenient) {
  const Pomdp plain = parse({});
  Document spaced;
  const auto rename = [](std::string text, const std::string& old, const std::string& name) {
    for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += name.size()) {
      text.replace(at, old.size(), name);
    }
    return text;
  };
  for (std::string* part :
       {&spaced.variables, &spaced.start, &spaced.transition, &spaced.sensors}) {
    *part = rename(*part, "x0", "the  state");
    *part = rename(*part, "x1", "the state next");
    *part = rename(*part, "'u'", "'the'");
    *part = rename(*part, ">u ", ">the ");
  }
  ModelReadOptions lenient;
  lenient.lenient = true;
  const auto read = parse_pomdpx(spaced.text(), "m.pomdpx", lenient);
  EXPECT_EQ(read.model.transition(), plain.transition());
  EXPECT_EQ(read.model.start(), plain.start());
  EXPECT_THAT(read.warnings, Contains(HasSubstr("the name 'the state' has spaces in it")));
  EXPECT_THAT(fault_of(spaced.text()), HasSubstr("--lenient reads names with spaces"));
}

TEST(Pomdpx, DecisionDiagrams) {
  Document document;
  document.transition =
      "<CondProb><Var>x1</Var><Parent>u x0</Parent><Parameter type='DD'><DAG><Node var='u'>"
      "<Edge val='go'><Node var='x0'>"
      "<Edge val='a'><SubDAG type='deterministic' var='x1' val='b'/></Edge>"
      "<Edge val='b'><SubDAG type='template' idref='mostly'/></Edge></Node></Edge>"
      "<Edge val='stay'><SubDAG type='persistent' var='x1'/></Edge></Node></DAG>"
      "<SubDAGTemplate id='mostly'><Node var='x1'><Edge val='a'><Terminal>0.7</Terminal></Edge>"
      "<Edge val='b'><Terminal>0.3</Terminal></Edge></Node></SubDAGTemplate>"
      "</Parameter></CondProb>";
  document.sensors =
      "<CondProb><Var>z</Var><Parent>u x1</Parent><Parameter type='DD'><DAG>"
      "<SubDAG type='uniform' var='z'/></DAG></Parameter></CondProb>";
  const Pomdp model = parse(document);
  EXPECT_THAT(t_row(model, 0, 0), ElementsAre(0.0, 1.0));
  EXPECT_THAT(t_row(model, 0, 1), ElementsAre(0.7, 0.3));
  EXPECT_THAT(t_row(model, 1, 0), ElementsAre(1.0, 0.0));
  EXPECT_THAT(o_row(model, 1, 0), ElementsAre(0.5, 0.5));
}

TEST(Pomdpx, Errors) {
  const auto with = [](auto member, const std::string& text) {
    Document document;
    document.*member = text;
    return fault_of(document.text());
  };
  const auto transition = [&](const std::string& instance, const std::string& numbers) {
    return with(&Document::transition, table("x1", "u x0", {{instance, numbers}}));
  };
  EXPECT_THAT(fault_of("<pomdpx>"), HasSubstr("m:1:8: not valid XML"));
  EXPECT_THAT(fault_of("<html/>"), HasSubstr("<pomdpx> is missing"));
  EXPECT_THAT(fault_of("<pomdpx/>"), HasSubstr("<Discount> is missing"));
  EXPECT_THAT(transition("go * -", "0.5"), StartsWith("m:8:"));
  EXPECT_THAT(transition("go * -", "0.5"), HasSubstr("found 1 numbers, expected 2"));
  EXPECT_THAT(transition("go *", "0.5"), HasSubstr("found 2 values in <Instance>, expected 3"));
  EXPECT_THAT(transition("go * c", "0.5"), HasSubstr("'c' is not a value of 'x1'"));
  EXPECT_THAT(transition("go * a", "1.5"), HasSubstr("found 1.5, expected a probability"));
  EXPECT_THAT(transition("go * a", "x"), HasSubstr("found 'x', expected a number"));
  EXPECT_THAT(transition("go - *", "identity"), HasSubstr("identity needs two '-'"));
  EXPECT_THAT(transition("* * a", "0.9"), HasSubstr("'x1' sums to 0.9, not to 1, u = go, x0 = a"));
  EXPECT_THAT(with(&Document::transition, ""),
              HasSubstr("<StateTransitionFunction> does not give 'x1'"));
  EXPECT_THAT(with(&Document::transition, table("x1", "u q", {})),
              HasSubstr("unknown variable 'q'"));
  EXPECT_THAT(with(&Document::sensors, table("z", "x0", {})), HasSubstr("cannot be a parent here"));
  EXPECT_THAT(with(&Document::start, table("x0", "null", {{"-", "0.5 0.4"}})),
              HasSubstr("'x0' sums to 0.9, not to 1"));
  EXPECT_THAT(with(&Document::variables,
                   "<StateVar vnamePrev='x0' vnameCurr='x0'><ValueEnum>a"
                   "</ValueEnum></StateVar>"),
              HasSubstr("variable 'x0' is declared twice"));
}

// What is misspelt, given twice or hidden in a product would change the model without a word.
TEST(Pomdpx, NothingIsPassedOver) {
  const std::string text = Document().text();
  const auto with = [&](const std::string& what, const std::string& by) {
    std::string changed = text;
    return changed.replace(changed.find(what), what.size(), by);
  };
  EXPECT_THAT(fault_of(with("<Discount>", "<Rewards/><Discount>")),
              AllOf(StartsWith("m:3:2: found <Rewards>"), HasSubstr("<RewardFunction>")));
  EXPECT_THAT(fault_of(with("<Discount>", "<RewardFunction/><Discount>")),
              HasSubstr("<RewardFunction> is given twice"));
  EXPECT_THAT(fault_of(with("<RewardVar", "<RewardsVar/><RewardVar")),
              HasSubstr("found <RewardsVar>"));
  const auto lenient =
      parse_pomdpx(with("<Discount>", "<Rewards/><Discount>"), "m", {.lenient = true});
  EXPECT_THAT(lenient.warnings, Contains(HasSubstr("found <Rewards>")));

  EXPECT_THAT(parse_pomdpx(text, "m").warnings,
              ElementsAre(HasSubstr("no <Func> gives 'r'; it is taken as 0")));
  Document other;
  other.rewards =
      "<Func><Var>q</Var><Parent>u</Parent><Parameter><Entry><Instance>go</Instance>"
      "<ValueTable>1</ValueTable></Entry></Parameter></Func>";
  EXPECT_THAT(fault_of(other.text()), HasSubstr("no <RewardVar> is called 'q'"));

  Document factors;  // 2 · 0.5 = 1
  factors.variables +=
      "<StateVar vnamePrev='y0' vnameCurr='y1'><ValueEnum>c d</ValueEnum></StateVar>";
  factors.start += table("y0", "null", {{"-", "uniform"}});
  factors.transition = table("x1", "null", {{"*", "1"}}) + table("y1", "null", {{"*", "0.25"}});
  EXPECT_THAT(fault_of(factors.text()), AllOf(HasSubstr("'x1' sums to 2, not to 1"),
                                              HasSubstr("'y1' sums to 0.5, not to 1")));
}

// x0, x1, z with two values and u, all numbered.
std::string numbered_variables(int num_states, int num_actions) {
  return fmt::format(
      "<StateVar vnamePrev='x0' vnameCurr='x1'><NumValues>{}</NumValues></StateVar>"
      "<ObsVar vname='z'><NumValues>2</NumValues></ObsVar>"
      "<ActionVar vname='u'><NumValues>{}</NumValues></ActionVar><RewardVar vname='r'/>",
      num_states, num_actions);
}

TEST(Pomdpx, RewardsOfTheNextStateTakeNoRoomPerState) {
  Document document;
  document.variables = numbered_variables(5000, 4);
  document.start = table("x0", "null", {{"-", "uniform"}});
  document.transition =
      "<CondProb><Var>x1</Var><Parent>x0</Parent><Parameter type='DD'><DAG>"
      "<SubDAG type='persistent' var='x1'/></DAG></Parameter></CondProb>";
  document.sensors = table("z", "null", {{"-", "uniform"}});
  document.rewards =
      "<Func><Var>r</Var><Parent>x1</Parent><Parameter><Entry><Instance>s0</Instance>"
      "<ValueTable>1</ValueTable></Entry></Parameter></Func>";
  const Pomdp model = parse(document);
  const RewardTable table = model.reward().to_table(5000, 4, 2);
  EXPECT_EQ(table.rules().size(), 1U);
  EXPECT_EQ(table(3, 7, 0, 1), 1.0);
  EXPECT_EQ(table(3, 7, 1, 1), 0.0);
}

TEST(Pomdpx, CirclesAndDiagramsThatMakeNoSense) {
  Document document;
  document.variables +=
      "<StateVar vnamePrev='y0' vnameCurr='y1'><ValueEnum>c d</ValueEnum></StateVar>";
  document.start += table("y0", "null", {{"-", "uniform"}});
  document.transition =
      table("x1", "y1", {{"- -", "identity"}}) + table("y1", "x1", {{"- -", "identity"}});
  EXPECT_THAT(fault_of(document.text()), HasSubstr("in a circle"));
  const auto diagram = [](const std::string& inside) {
    Document d;
    d.transition = "<CondProb><Var>x1</Var><Parent>u x0</Parent><Parameter type='DD'><DAG>" +
                   inside + "</DAG></Parameter></CondProb>";
    return fault_of(d.text());
  };
  EXPECT_THAT(diagram(""), HasSubstr("expected <Node>, <SubDAG> or <Terminal>"));
  EXPECT_THAT(diagram("<SubDAG type='template' idref='t'/>"), HasSubstr("no template 't'"));
  EXPECT_THAT(diagram("<Node var='z'/>"), HasSubstr("'z' is neither the variable nor a parent"));
  EXPECT_THAT(diagram("<Node var='u'><Edge val='go'><Node var='u'/></Edge></Node>"),
              HasSubstr("'u' was decided above"));
  EXPECT_THAT(diagram("<Node var='u'><Edge val='go'><Terminal>1</Terminal></Edge>"
                      "<Edge val='go'/></Node>"),
              HasSubstr("this value has an edge already"));
}

TEST(Pomdpx, LimitsAreNamed) {
  ModelReadOptions small;
  small.max_numbers = 7;
  EXPECT_THAT(fault_of(Document().text(), small), HasSubstr("more than the limit of 7"));
}

std::string numbered_state(int variable, int size, const char* fully_observed = "false") {
  return fmt::format(
      "<StateVar vnamePrev='y{0}' vnameCurr='Y{0}' fullyObs='{2}'><NumValues>{1}</NumValues>"
      "</StateVar>",
      variable, size, fully_observed);
}

// Small texts that ask for much: each is refused before it takes the memory.
TEST(Pomdpx, LimitsHoldForAllTablesTogether) {
  Document many_states;
  for (int v = 0; v < 7; ++v) many_states.variables += numbered_state(v, 10);
  EXPECT_THAT(fault_of(many_states.text()),
              HasSubstr("20000000 states are more than the limit of 1000000"));

  Document large_tables;  // 2 + 8 + 8 numbers before this one
  large_tables.rewards = "<Func><Var>r</Var><Parent>u x0</Parent></Func>";
  ModelReadOptions small;
  small.max_numbers = 21;
  EXPECT_THAT(fault_of(large_tables.text(), small),
              HasSubstr("hold 22 numbers, more than the limit of 21"));

  Document combinations;
  for (int v = 0; v < 4; ++v) {
    combinations.variables +=
        fmt::format("<ObsVar vname='w{}'><NumValues>100</NumValues></ObsVar>", v);
    combinations.sensors += table(fmt::format("w{}", v), "null", {{"-", "uniform"}});
  }
  EXPECT_THAT(fault_of(combinations.text()),
              HasSubstr("200000000 observations are more than the limit of 1000000"));
  combinations.variables += numbered_state(0, 1, "true");
  combinations.start += table("y0", "null", {{"-", "1"}});
  combinations.transition += table("Y0", "null", {{"-", "1"}});
  EXPECT_THAT(fault_of(combinations.text()),
              HasSubstr("more than the limit of 1000000 observations"));
}

// A ring of 20 states: one table of 400 numbers, nearly all 0, written over and over.
TEST(Pomdpx, LargeTablesAreListedWithTheSameMeaning) {
  Document document;
  document.variables = numbered_variables(20, 1);
  document.start = table("x0", "null", {{"-", "uniform"}});
  document.sensors = table("z", "x1", {{"* -", "0.25 0.75"}});
  std::vector<std::pair<std::string, std::string>> entries{{"- -", "identity"}, {"* s7", "0"}};
  for (int s = 0; s < 20; ++s) {
    entries.emplace_back(fmt::format("s{} s{}", s, s), "0.25");
    entries.emplace_back(fmt::format("s{} s{}", s, (s + 1) % 20), "0.5");
    entries.emplace_back(fmt::format("s{} s{}", s, (s + 19) % 20), "0.25");
  }
  document.transition = table("x1", "x0", entries);
  const Pomdp whole = parse(document);
  ModelReadOptions small;
  small.max_numbers = 200;
  const Pomdp listed = parse_pomdpx(document.text(), "m", small).model;
  ASSERT_FALSE(whole.transition().is_listed());
  ASSERT_TRUE(listed.transition().is_listed());
  for (State s{0}; s < 20; ++s) {
    for (State next{0}; next < 20; ++next) {
      EXPECT_EQ(listed.transition()(Action{0}, s, next), whole.transition()(Action{0}, s, next));
    }
  }
  EXPECT_EQ(listed.sensors(), whole.sensors());
  EXPECT_EQ(listed.start(), whole.start());
}

Pomdp plain(const Pomdp& model, bool named) {
  PomdpParts parts = model.parts();
  parts.timing = Timing::after;
  parts.discount = 0.7;
  const auto names = [](int size, const char* kind) {
    std::vector<std::string> list;
    for (int i = 0; i < size; ++i) list.push_back(fmt::format("<{}&{}>", kind, i));
    return Labels(list, kind);
  };
  if (named) {
    parts.states = names(parts.states.size(), "state");
    parts.observations = names(parts.observations.size(), "observation");
  }
  return Pomdp(std::move(parts));
}

RC_GTEST_PROP(Pomdpx, RoundTripGivesTheSameModel, ()) {
  const Pomdp model = plain(any_model(), *rc::gen::arbitrary<bool>().as("named"));
  const WrittenModel written = pomdpx_to_text(model);
  RC_ASSERT(written.warnings.empty());
  const ReadModel read = parse_pomdpx(written.text, "text");
  RC_ASSERT(read.warnings.empty());
  RC_ASSERT(model_difference(read.model, model) < 1e-12);
  RC_ASSERT(read.model.states() == model.states());
  RC_ASSERT(read.model.actions() == model.actions());
  RC_ASSERT(read.model.observations() == model.observations());
  RC_ASSERT(read.model.discount() == model.discount());
  expect_pomdp_invariants(read.model);
}

TEST(Pomdpx, WriterChangesNamesThatAreNoWords) {
  RandomModelOptions options;
  options.timing = Timing::after;
  options.num_states = 2;
  PomdpParts parts = random_model(options, 1).parts();
  parts.states = Labels({"a b", "*"}, "state");
  const WrittenModel written = pomdpx_to_text(Pomdp(parts));
  EXPECT_THAT(written.warnings,
              ElementsAre("state 'a b' is written as 'a_b' (and 1 more states are renamed)",
                          HasSubstr("no discount")));
  EXPECT_THAT(parse_pomdpx(written.text, "text").model.states().names(), ElementsAre("a_b", "s_*"));
}

TEST(Pomdpx, WhatTheFormatCannotHold) {
  RandomModelOptions options;
  EXPECT_THAT([&] { (void)pomdpx_to_text(random_model(options, 1)); },
              ThrowsMessage<InvalidArgument>(HasSubstr("timing after")));
  options.timing = Timing::after;
  EXPECT_THAT([&] { (void)pomdpx_to_text(random_model(options, 1).without_transition()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("needs a transition model")));
}

}  // namespace
}  // namespace oas::test
