#include <vector>

#include "formats/model_file_support.hpp"
#include "oas/formats/model_file.hpp"
#include "oas/formats/pomdp_text.hpp"

/// One case for each message of the .pomdp reader and writer.
namespace oas::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::ThrowsMessage;

const std::string kHead =
    "discount: 0.9\nvalues: reward\nstates: a b\nactions: x y\nobservations: p q\n";

std::string fault_of(const std::string& text, const ModelReadOptions& options = {}) {
  try {
    const auto read = parse_pomdp(text, "m", options);
    return "accepted: " + read.model.brief();
  } catch (const ParseError& error) {
    return error.what();
  }
}

struct Case {
  std::string text;
  const char* message;
};

TEST(PomdpErrors, Preamble) {
  const std::vector<Case> cases = {
      {"", "m:1:1: 'states:' is missing"},
      {"states 3", "m:1:8: found '3', expected ':'"},
      {"states: T b", "m:1:9: found 'T', expected a number of states or their names"},
      {"states: 0", "m:1:9: found '0', expected a number of states from 1 to 1000000"},
      {"states: 1 2", "m:1:11: found '2', expected one number"},
      {"states: a a", "m:1:11: state name 'a' is used twice"},
      {"states: a $", "m:1:11: found '$', expected a name"},
      {"discount: 1.5", "m:1:11: found discount 1.5, expected a number from 0 to 1"},
      {"discount: -1", "found discount -1"},
      {"values: prizes", "m:1:9: found 'prizes', expected reward or cost"},
      {"rubbish", "m:1:1: found 'rubbish', expected discount, values, states"},
      {"\xef\xbb\xbfstates: 2", "m:1:1: found the byte 0xef"},
      {"states: 2 actions: 1 values: reward T: 0 uniform", "'discount:' is missing"},
      {"states: 2 actions: 1 discount: 1 T: 0 uniform", "'values:' is missing"}};
  for (const Case& c : cases) EXPECT_THAT(fault_of(c.text), HasSubstr(c.message)) << c.text;
}

TEST(PomdpErrors, Start) {
  const std::vector<Case> cases = {
      {"start: 0", "m:6:8: found 1 number, expected 2, one probability per state"},
      {"start: 0.5 0.25 0.25", "found more than 2 numbers, expected 2"},
      {"start: 0.3 0.6", "m:6:8: start sums to 0.9, not to 1"},
      {"start: 1.5 0", "m:6:8: found 1.5, expected a probability from 0 to 1"},
      {"start: a b", "m:6:10: found 'b', expected one state"},
      {"start: c", "m:6:8: found 'c', expected a state: a, b"},
      {"start include: 2", "m:6:16: found '2', expected a state from 0 to 1"},
      {"start include:", "found the end of the file, expected a state"},
      {"start exclude: a b", "all states are excluded"},
      {"T: * uniform start: a", "m:6:14: 'start' must stand before T, O and R"}};
  for (const Case& c : cases) EXPECT_THAT(fault_of(kHead + c.text), HasSubstr(c.message)) << c.text;
}

TEST(PomdpErrors, Statements) {
  const std::vector<Case> cases = {
      {"T x", "m:6:3: found 'x', expected ':'"},
      {"T: z uniform", "m:6:4: found 'z', expected an action: x, y"},
      {"T: x : a identity", "found 'identity', expected ':', uniform, reset or numbers"},
      {"T: x reset", "found 'reset', expected ':', uniform, identity or numbers"},
      {"T: x 1 2 3", "m:6:6: found 3 numbers, expected 4 (one per pair of states)"},
      {"T: x : a 0.5 0.5 0.5", "m:6:18: found more than 2 numbers, expected 2 (one per state)"},
      {"T: x : a : b -0.5", "m:6:14: found '-', expected a probability"},
      {"T: x : a : b .5", "m:6:14: found '.', expected a probability"},
      {"T: x : a : b 1.01", "m:6:14: found 1.01, expected a probability from 0 to 1"},
      {"T: x 2 0 0 1", "m:6:6: number 1 of these is 2, expected a probability"},
      {"O: x identity", "found 'identity', expected ':', uniform or numbers"},
      {"O: x : a : p : 1", "m:6:14: found ':', expected a probability"},
      {"R: x\n1 2\n3 4", "m:7:1: found '1', expected ':'"},
      {"R: x : a 1 2 3", "found 3 numbers, expected 4 (one per end state and observation)"},
      {"R: x : a : b : p 1e999", "found '1e999', expected a smaller number"},
      {"R: x : a : b : p 1 1", "found '1', expected T, O or R"},
      {"T: * uniform states: 3", "m:6:14: 'states:' must stand before start, T, O and R"}};
  for (const Case& c : cases) EXPECT_THAT(fault_of(kHead + c.text), HasSubstr(c.message)) << c.text;
}

TEST(PomdpErrors, Rows) {
  EXPECT_THAT(fault_of(kHead + "T: * uniform\nO: x uniform O: y 0.5 0.5\n0.4 0.7"),
              HasSubstr("m:7: O of action y, state b sums to 1.1, not to 1"));
  EXPECT_THAT(fault_of(kHead + "T: x uniform O: * uniform"),
              AllOf(HasSubstr("m: T of action y, state a is not given"),
                    HasSubstr("m: T of action y, state b is not given")));
  EXPECT_THAT(fault_of("discount: 1 values: reward states: 2 actions: 1 T: * uniform O: * uniform"),
              HasSubstr("no 'observations:'"));
}

TEST(PomdpErrors, SeveralInOneRun) {
  const std::string text = kHead + "T: z uniform\nT: x 1\nO: * uniform\nR: x : q : a : a 1\n";
  EXPECT_THAT(fault_of(text), AllOf(StartsWith("m:6:4: found 'z'"), HasSubstr("\nm:7:6: found 1"),
                                    HasSubstr("\nm:9:8: found 'q'"), Not(HasSubstr("not given"))));
}

TEST(PomdpErrors, OneMistakeIsOneFault) {
  const std::vector<Case> cases = {
      {"discount: 1 values: reward states: start T2 actions: x observations: 1\n"
       "T: x identity O: x uniform",
       "m:1:36: found 'start', expected a number of states or their names"},
      {"discount: 1 values: reward states: 2 actions: 1 start: uniform\nobservations: p q\n"
       "T: 0 identity O: 0 uniform R: 0 : * : * : p 1",
       "m:2:1: 'observations:' must stand before start, T, O and R"},
      {"discount: 1 values: reward states: 2 actions: 1 start: 0\nobservations: p $\n"
       "T: 0 identity O: 0 uniform",
       "m:2:1: 'observations:' must stand before start, T, O and R\n"
       "m:2:17: found '$', expected a name (a letter, then letters, digits, _ and -; no reserved "
       "word)"},
      {kHead + "start: a\nstart: b\nT: * identity O: * uniform", "m:7:1: 'start' is given twice"},
      {kHead + "T: *\n0x1 0\n0 1\nO: * uniform",
       "m:7:2: found 1 number and then 'x1', expected 4 (one per pair of states)"}};
  for (const Case& c : cases) EXPECT_EQ(fault_of(c.text), c.message) << c.text;
}

TEST(PomdpErrors, NotMoreThanTwenty) {
  std::string text = kHead;
  for (int i = 0; i < 100; ++i) text += "T: z uniform\n";
  const std::string fault = fault_of(text);
  EXPECT_EQ(std::count(fault.begin(), fault.end(), '\n'), 20);
  EXPECT_THAT(fault, HasSubstr("m: stopped after 20 faults"));
}

TEST(PomdpErrors, LimitsAreNamed) {
  EXPECT_THAT(fault_of("discount: 1 values: reward states: 100000 actions: 2 observations: 2000"),
              HasSubstr("400000000 numbers, more than the limit of 50000000"));
  EXPECT_THAT(fault_of("discount: 1 values: reward states: 100000 actions: 2 observations: 2 "
                       "T: * uniform"),
              HasSubstr("more than the limit of 20000000 entries that are not 0"));
  ModelReadOptions small;
  small.max_numbers = 10;
  EXPECT_THAT(fault_of(kHead + "T: * uniform O: * uniform", small), HasSubstr("accepted"));
  std::string text = kHead;
  for (int i = 0; i < 60; ++i) text += "T: * uniform ";
  EXPECT_THAT(fault_of(text, small), HasSubstr("write more than the limit of 50 entries"));
}

TEST(PomdpErrors, RewardsThatTellManyRowsApart) {
  std::string text =
      "discount: 1 values: reward states: 8000 actions: 1 observations: 1\n"
      "T: 0 identity O: 0 uniform\n";
  for (int s = 0; s < 8000; ++s) text += fmt::format("R: * : * : {0} : * {0}\n", s);
  for (int s = 0; s < 8000; ++s) text += fmt::format("R: 0 : {0} : {0} : * -1\n", s);
  EXPECT_THAT(fault_of(text), HasSubstr("more than the limit of 50000000 entries"));
}

TEST(PomdpErrors, MdpStart) {
  const std::string head = "discount: 1 values: reward states: a b actions: x\n";
  const std::string rest = "\nT: x identity";
  for (const char* start : {"start: uniform", "start include: a", "start: 0.5 0.5"}) {
    EXPECT_THAT(fault_of(head + start + rest), HasSubstr("the file has no 'observations:'"));
    EXPECT_THAT(fault_of(head + start + rest, {.lenient = true}), HasSubstr("accepted"));
  }
  EXPECT_THAT(fault_of(head + "start: 1" + rest), HasSubstr("accepted"));
  EXPECT_THAT(fault_of(head + "start: b" + rest), HasSubstr("accepted"));
}

TEST(PomdpErrors, StartAfterReset) {
  const std::string text = kHead + "T: * : * reset\nO: * uniform\nstart: a";
  EXPECT_THAT(fault_of(text, {.lenient = true}),
              HasSubstr("m:8:1: 'start' stands after a 'reset' that depends on it"));
}

TEST(PomdpErrors, FilesThatCannotBeRead) {
  EXPECT_THAT([] { (void)read_any_model("no/such.pomdp"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("no/such.pomdp")));
}

}  // namespace
}  // namespace oas::test
