#include <gmock/gmock.h>

#include "oas/core/contracts.hpp"
#include "oas/planning/policies/policy_file.hpp"
#include "support/property.hpp"

/// Policy files of other solvers: random policy → text → policy, and what is said of faults.
namespace oas::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

AlphaPolicy any_policy(int most_seen) {
  AlphaPolicy policy;
  policy.vector_length = *rc::gen::inRange(1, 6).as("length");
  policy.num_seen = *rc::gen::inRange(1, most_seen + 1).as("seen values");
  Rng rng({any_seed(), 0, Role::problem});
  const int vectors = *rc::gen::inRange(1, 8).as("vectors");
  for (int k = 0; k < vectors; ++k) {
    policy.actions.push_back(static_cast<int>(rng.below(4)));
    policy.seen.push_back(static_cast<int>(rng.below(static_cast<std::uint32_t>(policy.num_seen))));
    for (int i = 0; i < policy.vector_length; ++i) {
      policy.alpha.push_back((rng.uniform() - 0.5) * std::pow(10.0, 30.0 * rng.uniform() - 15.0));
    }
  }
  return policy;
}

RC_GTEST_PROP(PolicyText, AlphaRoundTripGivesTheSamePolicy, ()) {
  const AlphaPolicy policy = any_policy(1);
  RC_ASSERT(parse_alpha(alpha_to_text(policy), "text") == policy);
}

RC_GTEST_PROP(PolicyText, ApplRoundTripGivesTheSamePolicy, ()) {
  const AlphaPolicy policy = any_policy(4);
  RC_ASSERT(parse_appl_policy(appl_policy_to_text(policy), "text") == policy);
}

RC_GTEST_PROP(PolicyText, GraphRoundTripGivesTheSameGraph, ()) {
  PolicyGraph graph;
  graph.num_observations = *rc::gen::inRange(1, 5).as("observations");
  const auto nodes = *rc::gen::inRange<std::uint32_t>(1, 9).as("nodes");
  Rng rng({any_seed(), 0, Role::problem});
  for (std::uint32_t n = 0; n < nodes; ++n) {
    graph.actions.push_back(static_cast<int>(rng.below(3)));
    for (int o = 0; o < graph.num_observations; ++o) {
      graph.next.push_back(static_cast<int>(rng.below(nodes + 1)) - 1);
    }
  }
  RC_ASSERT(parse_policy_graph(policy_graph_to_text(graph), "text") == graph);
}

TEST(PolicyText, AlphaAsPomdpSolveWritesIt) {
  const AlphaPolicy policy = parse_alpha(
      "1\r\n-81.5972000622708240 28.4027999377291724 \r\n\r\n0\n3 -5\n\n0\n0.5 .5\n", "t.alpha");
  EXPECT_THAT(policy.actions, ElementsAre(1, 0, 0));
  EXPECT_THAT(policy.alpha,
              ElementsAre(-81.5972000622708240, 28.4027999377291724, 3.0, -5.0, 0.5, 0.5));
  EXPECT_THAT(alpha_to_text(policy),
              StartsWith("1\n-81.59720006227083 28.40279993772917\n\n0\n3 -5"));
}

TEST(PolicyText, ApplVectorsDenseAndSparse) {
  const AlphaPolicy policy = parse_appl_policy(
      "<?xml version=\"1.0\"?>\n<Policy version=\"0.1\" type=\"value\" model=\"a.pomdpx\">\n"
      "<AlphaVector vectorLength=\"3\" numObsValue=\"2\" numVectors=\"2\">\n"
      "<Vector action=\"1\" obsValue=\"1\">1 2\n3 </Vector>\n"
      "<SparseVector action=\"0\" obsValue=\"0\"><Entry>2 -4.5</Entry></SparseVector>\n"
      "</AlphaVector> </Policy>",
      "a.policy");
  EXPECT_THAT(policy.alpha, ElementsAre(1, 2, 3, 0, 0, -4.5));
  EXPECT_THAT(policy.seen, ElementsAre(1, 0));
  EXPECT_EQ(policy.brief(), "2 alpha-vectors of 3 numbers, 2 seen values");
  EXPECT_THAT([&] { (void)alpha_to_text(policy); },
              ThrowsMessage<InvalidArgument>(HasSubstr("2 seen values, which only a .policy")));
}

TEST(PolicyText, GraphNodesInAnyOrderWithAllSignsOfNone) {
  const PolicyGraph graph = parse_policy_graph("1 0  X -2 \n\n0 2  1 - \n", "t.pg");
  EXPECT_THAT(graph.actions, ElementsAre(2, 0));
  EXPECT_THAT(graph.next, ElementsAre(1, -1, -1, -1));
  EXPECT_EQ(policy_graph_to_text(graph), "0 2  1 X\n1 0  X X\n");
}

TEST(PolicyText, FormatsAreToldByContentThenByEnding) {
  EXPECT_TRUE(std::holds_alternative<AlphaPolicy>(parse_any_policy("0\n1 2", "x.ALPHA")));
  EXPECT_TRUE(std::holds_alternative<PolicyGraph>(parse_any_policy("0 1 0", "x.pg")));
  EXPECT_THAT([] { (void)parse_any_policy("0 1 0", "x.txt"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("x.txt: the ending gives the format")));
  EXPECT_THAT([] { (void)parse_any_policy("{}", "x.pg"); },
              ThrowsMessage<ParseError>(StartsWith("x.pg: $: ")));
  EXPECT_THAT([] { (void)parse_any_policy("<a/>", "x.pg"); },
              ThrowsMessage<ParseError>(HasSubstr("x.pg:1: found <a>, expected <Policy>")));
}

TEST(PolicyText, FaultsNameTheLineAndWhatWasFound) {
  const std::string head = "<Policy>\n<AlphaVector vectorLength='2' numObsValue='2'>\n";
  const auto appl = [&](const char* vectors) { return head + vectors + "</AlphaVector></Policy>"; };
  const std::vector<std::array<std::string, 3>> faults = {
      {"a.alpha", "", "a.alpha: no vector in the file"},
      {"a.alpha", "0\n1 2\n\nleft\n", "a.alpha:4: found 'left', expected the number of an action"},
      {"a.alpha", "-1\n1 2\n", "a.alpha:1: found '-1'"},
      {"a.alpha", "0 1\n1 2\n", "a.alpha:1: found '1' after action 0"},
      {"a.alpha", "0\n1 2\n1\n", "a.alpha:3: the file ends after an action"},
      {"a.alpha", "0\n1 2\n1\n1 2 3\n", "a.alpha:4: a vector of 3 numbers where the first has 2"},
      {"a.alpha", "0\n1 nan\n", "a.alpha:2: found 'nan', expected a number"},
      {"a.alpha", "0\n1e999 2\n", "a.alpha:2: found '1e999'"},
      {"a.alpha", "0\n1 2 3 4 5 6 7 8 9\n", "a.alpha:2: more than the limit of 8 numbers"},
      {"g.pg", "\n", "g.pg:1: no node in the file"},
      {"g.pg", "0 0 1\nx 0 1\n", "g.pg:2: found 'x', expected the number of a node"},
      {"g.pg", "0\n", "g.pg:1: found '', expected the number of an action"},
      {"g.pg", "0 0\n", "g.pg:1: a node without next nodes"},
      {"g.pg", "0 0 0 1.5\n", "g.pg:1: found '1.5', expected the number of a node, X or -"},
      {"g.pg", "0 0 0 0\n1 0 0\n", "g.pg:2: 1 next nodes where the first line has 2"},
      {"g.pg", "0 0 0\n2 0 0\n", "g.pg:2: node 2 where there are 2 nodes"},
      {"g.pg", "0 0 0\n0 0 0\n", "g.pg:2: node 0 was given in line 1 already"},
      {"g.pg", "0 0 7\n", "g.pg:1: next node 7 where there are 1 nodes"},
      {"p.policy", "<Policy>\n<AlphaVector>", "p.policy:2: not valid XML"},
      {"p.policy", "<Policy type='graph'/>", "p.policy:1: a policy of type 'graph'"},
      {"p.policy", "<Policy/>", "p.policy:1: no <AlphaVector> in <Policy>"},
      {"p.policy", "<Policy><AlphaVector/></Policy>", "no vectorLength in <AlphaVector>"},
      {"p.policy", "<Policy><AlphaVector vectorLength='0'/></Policy>", "vectorLength=\"0\""},
      {"p.policy", appl(""), "p.policy:2: no vector in <AlphaVector>"},
      {"p.policy", appl("<Vector action='0' obsValue='0'>1</Vector>"),
       "p.policy:3: a vector of 1 numbers where vectorLength is 2"},
      {"p.policy", appl("<Vector action='0' obsValue='0'>1 2 3</Vector>"), "a vector of more"},
      {"p.policy", appl("<Vector action='0' obsValue='0'>1 two</Vector>"), "found 'two'"},
      {"p.policy", appl("<Vector obsValue='0'>1 2</Vector>"), "p.policy:3: no action in <Vector>"},
      {"p.policy", appl("<Vector action='0'>1 2</Vector>"), "p.policy:3: no obsValue in <Vector>"},
      {"p.policy", appl("<Vector action='0' obsValue='2'>1 2</Vector>"), "numObsValue is 2"},
      {"p.policy", appl("<Plane/>"), "found <Plane>, expected <Vector> or <SparseVector>"},
      {"p.policy", appl("<SparseVector action='0' obsValue='0'><Entry>2 1</Entry></SparseVector>"),
       "found <Entry> with '2', expected <Entry> with an index below 2"},
      {"p.policy",
       "<Policy><AlphaVector vectorLength='1' numVectors='2'><Vector action='0'>1</Vector>"
       "</AlphaVector></Policy>",
       "numVectors=\"2\", but there are 1 vectors"},
      {"p.policy",
       "<Policy><AlphaVector vectorLength='2' numObsValue='99999999'><Vector action='0' "
       "obsValue='0'>1 2</Vector></AlphaVector></Policy>",
       "vectors for 199999998 states, more than the limit of 8 numbers"},
      {"p.policy",
       "<Policy><AlphaVector vectorLength='2000000000'><SparseVector action='0'/>"
       "</AlphaVector></Policy>",
       "more than the limit of 8 numbers"}};
  PolicyReadOptions options;
  options.max_numbers = 8;
  for (const auto& [file, text, message] : faults) {
    EXPECT_THAT(([&, &f = file, &t = text] { (void)parse_any_policy(t, f, options); }),
                ThrowsMessage<ParseError>(HasSubstr(message)))
        << text;
  }
}

}  // namespace
}  // namespace oas::test
