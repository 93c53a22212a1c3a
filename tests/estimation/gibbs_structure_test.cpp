#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "estimation/gibbs_support.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "path_enumeration.hpp"

/// The estimator `gibbs` within a structure: zeros, other fixed entries, equal rows.
namespace oas {
namespace {

Pomdp model_of(Timing timing) { return test::small_model(3, timing); }

TransitionEstimate estimate(const Pomdp& model, const std::vector<Trajectory>& runs,
                            const TransitionStructure& structure, int draws) {
  EvidenceOptions settings;
  settings.draws = draws;
  EstimateOptions options;
  options.parallelism = {1};
  options.structure = structure;
  return test::gibbs_estimate(model, runs, settings, options);
}

// The last state is for ever, the first never leads there, under the second action it stays with a
// probability of 0.3; and both actions do the same in the middle.
TransitionStructure wear(const Pomdp& model) {
  TransitionKnowledge known(3, 2);
  for (const Action a : {Action{0}, Action{1}}) {
    known.fix(model, a, State{2}, State{2}, 1.0);
    known.fix(model, a, State{0}, State{2}, 0.0);
  }
  known.tie(Action{0}, State{1}, Action{1}, State{1});
  known.fix(model, Action{1}, State{1}, State{1}, 0.3);
  return {model, known};
}

class GibbsWithin : public testing::TestWithParam<Timing> {};

// As many draws, and as close to the sum over paths, as without a structure.
TEST_P(GibbsWithin, IsThePosteriorByEnumeration) {
  const Pomdp model = model_of(GetParam());
  const TransitionStructure structure = wear(model);
  std::vector<Trajectory> runs(2);
  ClosedLoop(model, {.name = "uniform"}, 8, 0).advance(6, runs[0]);
  ClosedLoop(model, {.name = "uniform"}, 8, 1).advance(4, runs[1]);
  runs[0].observations[2] = kMissing;
  const test::PathEnumeration exact(model, runs, structure, 0.0, 0.5, 0.5);
  const TransitionEstimate found = estimate(model, runs, structure, 160'000);
  for (std::size_t e = 0; e < exact.mean.size(); ++e) {
    const double deviation = exact.deviation(e);
    if (!structure.is_free(e)) {
      EXPECT_EQ(found.transition.values()[e], structure.fixed_value(e)) << e;
      EXPECT_EQ(found.standard_error[e], 0.0) << e;
      continue;
    }
    EXPECT_NEAR(found.transition.values()[e], exact.mean[e], deviation * 16.0 / 400.0) << e;
    EXPECT_NEAR(found.standard_error[e], deviation, 0.05 * deviation) << e;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, GibbsWithin, testing::Values(Timing::before, Timing::after),
                         [](const auto& one) { return std::string(to_string(one.param)); });

// What is known is exact in everything that the estimate carries.
TEST(GibbsStructure, IsHeldByDrawsIntervalsAndRegions) {
  const Pomdp model = model_of(Timing::before);
  const TransitionStructure structure = wear(model);
  std::vector<Trajectory> runs(20);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    ClosedLoop(model, {.name = "uniform"}, 8, static_cast<std::uint32_t>(r)).advance(10, runs[r]);
  }
  const TransitionEstimate found = estimate(model, runs, structure, 400);
  const std::size_t entries = found.transition.values().size();
  ASSERT_EQ(found.draws.size(), 200 * entries);
  for (std::size_t i = 0; i < found.draws.size(); ++i) {
    if (structure.is_free(i % entries)) continue;
    ASSERT_EQ(found.draws[i], structure.fixed_value(i % entries));
  }
  for (std::size_t e = 0; e < entries; ++e) {
    for (const auto* region : {&found.row_region, &found.joint_region}) {
      EXPECT_LE(region->lower[e], found.transition.values()[e]);
      EXPECT_GE(region->upper[e], found.transition.values()[e]);
    }
    if (structure.is_free(e)) {
      for (const auto* upper : {&found.upper, &found.row_region.upper, &found.joint_region.upper}) {
        EXPECT_LE((*upper)[e], structure.mass_left(e / 3)) << e;
      }
      continue;
    }
    for (const auto* limit : {&found.lower, &found.upper, &found.row_region.lower,
                              &found.row_region.upper, &found.joint_region.upper}) {
      EXPECT_EQ((*limit)[e], structure.fixed_value(e)) << e;
    }
  }
  // Rows 1 and 4 are one, whose transitions are told by both; visits are those of each.
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(found.lower[3 + j], found.lower[12 + j]);
    EXPECT_EQ(found.upper[3 + j], found.upper[12 + j]);
  }
  EXPECT_NE(found.visits[1], found.visits[4]);
  EXPECT_EQ(found.structure, structure.brief());
}

// A state that is for ever and whose readings end the run: its row is known, whatever was seen of
// it. Without the structure it is the prior.
TEST(GibbsStructure, AnAbsorbingStateNeedsNoVisit) {
  const Pomdp model = make_problem("corner/perfect-sparse");
  const int states = model.num_states();
  std::vector<Trajectory> runs(30);
  for (Trajectory& run : runs) {  // from 0 to the last state, where the run ends
    run.actions = {Action{0}, Action{0}};
    run.observations = {Observation{0}, Observation{states - 1}};
  }
  TransitionKnowledge known(states, model.num_actions());
  const State last{states - 1};
  for (Action a{0}; a < model.num_actions(); ++a) known.fix(model, a, last, last, 1.0);
  const auto flagged = [&](const TransitionEstimate& found) {
    return std::count_if(found.flagged.begin(), found.flagged.end(),
                         [&](const FlaggedRow& row) { return row.state == last; });
  };
  EXPECT_EQ(flagged(estimate(model, runs, {}, 200)), model.num_actions());
  const TransitionEstimate found = estimate(model, runs, {model, known}, 200);
  EXPECT_EQ(flagged(found), 0);
  EXPECT_EQ(found.transition(Action{0}, last, last), 1.0);
}

// With one row left open all else is fixed, and the estimate is Dirichlet of its transitions.
TEST(GibbsStructure, OneOpenRowIsDirichlet) {
  const Pomdp model = make_problem("corner/perfect-cycle");
  const int states = model.num_states();
  TransitionKnowledge known(states, model.num_actions());
  for (Action a{0}; a < model.num_actions(); ++a) {
    for (State s{0}; s < states; ++s) {
      if (a == 0 && s == 0) continue;
      for (State next{0}; next < states; ++next) {
        known.fix(model, a, s, next, model.transition()(a, s, next));
      }
    }
  }
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 5, 0).advance(300, runs[0]);
  const TransitionEstimate found = estimate(model, runs, {model, known}, 4000);
  double visits = 0.0;
  for (std::size_t t = 0; t + 1 < runs[0].size(); ++t) {
    visits += runs[0].observations[t] == 0 && runs[0].actions[t] == 0 ? 1.0 : 0.0;
  }
  EXPECT_DOUBLE_EQ(found.visits[0], visits);
  EXPECT_TRUE(found.flagged.empty());
  for (State next{0}; next < states; ++next) {
    const bool taken = model.transition()(Action{0}, State{0}, next) == 1.0;
    const double mean = (1.0 / states + (taken ? visits : 0.0)) / (1.0 + visits);
    const double deviation = std::sqrt(mean * (1.0 - mean) / (visits + 2.0));
    EXPECT_NEAR(found.transition(Action{0}, State{0}, next), mean, 5.5 * deviation / 60.0);
  }
}

TEST(GibbsStructure, NamesTheRowThatItRulesOut) {
  const Pomdp model = make_problem("corner/perfect-sparse");
  TransitionKnowledge known(model.num_states(), model.num_actions());
  known.fix(model, Action{0}, State{0}, State{1}, 0.0);
  std::vector<Trajectory> runs(1);
  runs[0].actions = {Action{0}, Action{0}};
  runs[0].observations = {Observation{0}, Observation{1}};
  try {
    static_cast<void>(estimate(model, runs, {model, known}, 100));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("row 2"),
                                             testing::HasSubstr("entries of the structure")));
  }
}

}  // namespace
}  // namespace oas
