#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "estimation/gibbs_support.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/gibbs/gibbs_chain.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "path_enumeration.hpp"
#include "support/random_models.hpp"

/// The estimator `gibbs` against the posterior by enumeration of all hidden paths.
namespace oas {
namespace {

TransitionEstimate gibbs(const AnyModel& model, const std::vector<Trajectory>& runs, int draws,
                         int threads = 1, std::optional<double> concentration = {},
                         int patience = 16) {
  EvidenceOptions settings;
  settings.draws = draws;
  settings.patience = patience;
  settings.concentration = concentration;
  EstimateOptions options;
  options.parallelism = {threads};
  return test::gibbs_estimate(model, runs, settings, options);
}

class GibbsOfTiming : public testing::TestWithParam<Timing> {};

// 160,000 draws: an error of a mean of sd · 4 / √160,000 allows for an autocorrelation time of 10
// at more than five standard errors; fixed seed.
TEST_P(GibbsOfTiming, IsThePosteriorByEnumeration) {
  for (const int states : {2, 3}) {
    const Pomdp model = test::small_model(states, GetParam());
    std::vector<Trajectory> runs(2);
    ClosedLoop(model, {.name = "uniform"}, 8, 0).advance(states == 2 ? 9 : 5, runs[0]);
    ClosedLoop(model, {.name = "uniform"}, 8, 1).advance(3, runs[1]);
    runs[0].observations[2] = kMissing;
    // The default is 1/S for rows and 1/2 for entries; with two states something else.
    const std::optional<double> asked = states == 2 ? std::optional(1.5) : std::nullopt;
    const double prior = asked.value_or(1.0 / states);
    const double hit = asked.value_or(0.5);
    const test::PathEnumeration exact(model, runs, {}, prior, hit, hit);
    const TransitionEstimate found = gibbs(model, runs, 160'000, 1, asked);
    for (std::size_t e = 0; e < exact.mean.size(); ++e) {
      const double deviation = exact.deviation(e);
      EXPECT_NEAR(found.transition.values()[e], exact.mean[e], deviation * 16.0 / 400.0) << e;
      EXPECT_NEAR(found.standard_error[e], deviation, 0.05 * deviation) << e;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, GibbsOfTiming, testing::Values(Timing::before, Timing::after),
                         [](const auto& one) { return std::string(to_string(one.param)); });

// Sensors that show the state leave nothing to be drawn: rows are Dirichlet of the counts.
TEST(Gibbs, IsDirichletUnderPerfectSensors) {
  const Pomdp model = make_problem("corner/perfect-sparse");
  ASSERT_EQ(model.timing(), Timing::before);
  const auto states = static_cast<std::size_t>(model.num_states());
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 3, 0).advance(1500, runs[0]);
  std::vector<double> counts(model.transition().values().size(), 0.0);
  for (std::size_t t = 0; t + 1 < runs[0].size(); ++t) {
    const auto row = static_cast<std::size_t>(runs[0].actions[t]) * states +
                     static_cast<std::size_t>(runs[0].observations[t]);
    ++counts[row * states + static_cast<std::size_t>(runs[0].observations[t + 1])];
  }
  const TransitionEstimate found = gibbs(model, runs, 8000);
  for (std::size_t row = 0; row < counts.size() / states; ++row) {
    double total = 1.0;  // 1/S for each entry
    for (std::size_t j = 0; j < states; ++j) total += counts[row * states + j];
    for (std::size_t e = row * states; e < (row + 1) * states; ++e) {
      const double mean = (1.0 / static_cast<double>(states) + counts[e]) / total;
      const double deviation = std::sqrt(mean * (1.0 - mean) / (total + 1.0));
      EXPECT_NEAR(found.transition.values()[e], mean, 5.5 * deviation / std::sqrt(8000.0));
      EXPECT_LE(found.lower[e], mean);
      EXPECT_GE(found.upper[e], mean);
      if (counts[e] == 0.0) {
        EXPECT_EQ(found.lower[e], 0.0);
      }
    }
    EXPECT_NEAR(found.visits[row], total - 1.0, 1e-9);
  }
}

// However many states there are: what was not seen is not known to be 0. Forty states that lead
// anywhere, fifteen visits of each: of 1600 intervals of 95 % (rows are independent, entries of a
// row nearly so) fewer than 1400 hold the truth with a probability below 1e-6.
TEST(Gibbs, IntervalsHoldWithManyStates) {
  test::RandomModelOptions options;
  options.num_states = 40;
  options.num_actions = 1;
  options.num_observations = 40;
  PomdpParts parts = test::random_model(options, 6).parts();
  std::vector<double> visible(40 * 40, 0.0);
  for (std::size_t s = 0; s < 40; ++s) visible[s * 41] = 1.0;
  parts.sensors = ObservationModel(40, 1, 40, std::move(visible));
  const Pomdp model(std::move(parts));
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 5, 0).advance(600, runs[0]);
  const TransitionEstimate found = gibbs(model, runs, 1000);
  int held = 0;
  for (std::size_t e = 0; e < found.lower.size(); ++e) {
    const double truth = model.transition().values()[e];
    held += static_cast<int>(found.lower[e] <= truth && truth <= found.upper[e]);
    EXPECT_LE(found.lower[e], found.transition.values()[e]);
  }
  EXPECT_GE(held, 1400);
}

// Paths without a transition, or with no other, put the bound into its interval; what is left
// without the transitions that were never seen are the dynamics.
TEST(Gibbs, IntervalsReachTheBounds) {
  for (const char* name : {"corner/perfect-cycle", "corner/flip"}) {
    const Pomdp model = make_problem(name);
    std::vector<Trajectory> runs(1);
    ClosedLoop(model, {.name = "uniform"}, 5, 0).advance(500, runs[0]);
    const TransitionEstimate found = gibbs(model, runs, 1000);
    const auto truth = model.transition().values();
    for (std::size_t e = 0; e < truth.size(); ++e) {
      EXPECT_EQ(truth[e] == 0.0 ? found.lower[e] : found.upper[e], truth[e]) << name << e;
    }
    EXPECT_EQ(without_unseen(found), model.transition()) << name;
    EXPECT_EQ(drawn_transitions(found).size(), 200U);
  }
}

TEST(Gibbs, OneStateLeavesNothingOpen) {
  const Pomdp model = test::small_model(1, Timing::before);
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 5, 0).advance(10, runs[0]);
  const TransitionEstimate found = gibbs(model, runs, 100);
  EXPECT_THAT(found.standard_error, testing::Each(0.0));
  EXPECT_THAT(found.lower, testing::Each(1.0));
}

TEST(Gibbs, RowsAloneDecideNotThreads) {
  const Pomdp model = make_problem("pest-control");
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 3, 0).advance(3000, runs[0]);
  const TransitionEstimate one = gibbs(model, runs, 200, 1);
  const TransitionEstimate three = gibbs(model, runs, 200, 3);
  EXPECT_EQ(one.transition, three.transition);
  EXPECT_EQ(one.lower, three.lower);
}

// Sensors that hardly tell the states apart: draws of a chain resemble each other for long. Chains
// that have not met go on, keep as many draws, and say so where they do not meet.
TEST(Gibbs, GoesOnUntilChainsAgree) {
  const Pomdp model = test::small_model_seen_by({0.5, 0.3, 0.2, 0.3, 0.4, 0.3, 0.2, 0.3, 0.5});
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 3, 0).advance(400, runs[0]);
  const TransitionEstimate hasty = gibbs(model, runs, 80, 1, {}, 1);
  EXPECT_EQ(hasty.passes, 120);
  const auto open = [](const FlaggedRow& row) { return !row.settled; };
  ASSERT_TRUE(std::any_of(hasty.flagged.begin(), hasty.flagged.end(), open));
  EXPECT_THAT(hasty.brief(), testing::HasSubstr("rows of T not settled"));
  EXPECT_THAT(hasty.warnings.front(), testing::HasSubstr("has not settled: the chains"));
  const TransitionEstimate patient = gibbs(model, runs, 80, 1, {}, 1000);
  EXPECT_GT(patient.passes, 120);
  EXPECT_EQ(patient.num_batches, 80);
  EXPECT_TRUE(std::none_of(patient.flagged.begin(), patient.flagged.end(), open));
  const TransitionEstimate again = gibbs(model, runs, 80, 3, {}, 1000);
  EXPECT_EQ(again.transition, patient.transition);
  EXPECT_EQ(again.upper, patient.upper);
}

// What is kept does not depend on how a chain came to its length.
TEST(Gibbs, ThinsAsIfItHadFromTheStart) {
  const Pomdp model = test::small_model(3, Timing::before);
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 3, 0).advance(50, runs[0]);
  TransitionLikelihood rows(model);
  rows.append(runs[0].actions, runs[0].observations);
  const detail::TransitionPrior prior(3, 2, {}, {});
  const Rng rng(StreamKey{4, 0, Role::test});
  for (const std::size_t keep : {std::size_t{20}, std::size_t{21}}) {
    detail::GibbsChain grown(rows, prior, rng);
    for (const std::size_t apart : {1, 2, 4, 8}) ASSERT_TRUE(grown.draw(keep, apart, {}));
    detail::GibbsChain straight(rows, prior, rng);
    ASSERT_TRUE(straight.draw(keep, 8, {}));
    EXPECT_EQ(grown.draws().sweeps.size(), keep);
    EXPECT_EQ(grown.draws().sweeps, straight.draws().sweeps);
    EXPECT_EQ(grown.draws().transition, straight.draws().transition);
    EXPECT_EQ(grown.draws().counts, straight.draws().counts);
    EXPECT_EQ(grown.sweeps(), 8 * (keep + keep / 2));
  }
}

// So sparse a prior draws transition models under which the rows cannot happen.
TEST(Gibbs, StartsWhereTheRowsCanHappen) {
  const Pomdp model = make_problem("corner/perfect-sparse");
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 3, 0).advance(500, runs[0]);
  const TransitionEstimate found = gibbs(model, runs, 100, 1, 0.001);
  EXPECT_EQ(found.num_batches, 100);
}

// A row that was never left, and a pair of states that no sensor tells apart.
TEST(Gibbs, FlagsWhatTheLogDoesNotTell) {
  const Pomdp model = test::small_model_seen_by({0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1, 0.8, 0.1});
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 3, 0).advance(2000, runs[0]);
  for (Action& action : runs[0].actions) action = Action{0};
  const TransitionEstimate found = gibbs(model, runs, 2000, 1, {}, 1);
  std::vector<int> flagged;
  for (const FlaggedRow& row : found.flagged) {
    flagged.push_back(row.action.value() * 3 + row.state.value());
  }
  EXPECT_THAT(flagged, testing::IsSupersetOf({1, 2, 3, 4, 5}));
}

// Blind sensors, one observation, nothing seen: the posterior is the prior. Draws of it are
// independent of each other, so that no patience is needed.
TEST(Gibbs, DrawsFromThePriorWhereNoReadingTells) {
  const Pomdp blind = test::small_model_seen_by({0.5, 0.3, 0.2, 0.5, 0.3, 0.2, 0.5, 0.3, 0.2});
  const Pomdp unread = test::small_model(3, Timing::after);
  for (const Pomdp* model : {&blind, &unread}) {
    std::vector<Trajectory> runs(1);
    ClosedLoop(*model, {.name = "uniform"}, 3, 0).advance(400, runs[0]);
    if (model == &unread) {
      std::fill(runs[0].observations.begin(), runs[0].observations.end(), kMissing);
    }
    const TransitionEstimate found = gibbs(*model, runs, 4000);
    EXPECT_EQ(found.passes, 6000);
    ASSERT_EQ(found.flagged.size(), 6U);
    EXPECT_EQ(found.flagged[0].reason, "no reading tells states apart: this is the prior");
    // Dirichlet(1/3, 1/3, 1/3): a deviation of 1/3 for each entry.
    for (const double mean : found.transition.values()) {
      EXPECT_NEAR(mean, 1.0 / 3.0, 5.5 / 3.0 / std::sqrt(4000.0));
    }
  }
}

// Chains that disagree about which of two states is which would do so for ever.
TEST(Gibbs, StopsWhereStatesCanBeSwapped) {
  const Pomdp model = test::small_model_seen_by({0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1, 0.8, 0.1});
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 3, 0).advance(400, runs[0]);
  const TransitionEstimate found = gibbs(model, runs, 400);
  EXPECT_EQ(found.passes, 600);
  ASSERT_EQ(found.flagged.size(), 6U);
  EXPECT_THAT(found.flagged[0].reason, testing::HasSubstr("can be swapped"));
  EXPECT_TRUE(found.flagged[0].settled);
}

TEST(Gibbs, NamesTheRowThatCannotHappen) {
  PomdpParts parts = make_problem("corner/perfect-sparse").parts();
  parts.start.assign(parts.start.size(), 0.0);
  parts.start.front() = 1.0;
  const Pomdp sure(std::move(parts));
  std::vector<Trajectory> runs(1);
  runs[0].actions = {Action{0}};
  runs[0].observations = {Observation{1}};
  try {
    static_cast<void>(gibbs(sure, runs, 100));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("row 1: after the rows before it, observation"));
  }
}

// Short runs that were cut out of longer ones, nearly all in state 0. Taken as beginning in all
// states alike they would show moves from 1 to 0 that nobody made.
TEST(Gibbs, LearnsWhereCutRunsBegan) {
  PomdpParts parts;
  parts.timing = Timing::before;
  parts.states = Labels(2, "state");
  parts.actions = Labels(1, "action");
  parts.observations = Labels(2, "observation");
  parts.transition = TransitionModel(2, 1, {0.9, 0.1, 0.05, 0.95});
  parts.sensors = ObservationModel(2, 1, 2, {0.75, 0.25, 0.25, 0.75});
  const Pomdp model(std::move(parts));
  Evidence evidence = make_evidence("gibbs", model);
  for (int run = 0; run < 800; ++run) {
    Rng rng({9, static_cast<std::uint32_t>(run), Role::test});
    int state = rng.uniform() < 0.97 ? 0 : 1;
    Trajectory rows;
    for (int t = 0; t < 6; ++t) {
      rows.actions.push_back(Action{0});
      rows.observations.push_back(Observation{rng.uniform() < (state == 0 ? 0.75 : 0.25) ? 0 : 1});
      state = rng.uniform() < model.transition()(Action{0}, State{state}, State{0}) ? 0 : 1;
    }
    evidence.start_run(RunStart::unknown());
    evidence.add(rows);
  }
  const TransitionEstimate estimate = evidence.estimate();
  for (std::size_t i = 0; i < 4; ++i) {
    const double truth = model.transition().values()[i];
    EXPECT_NEAR(estimate.transition.values()[i], truth, 0.06) << i;
    EXPECT_LE(estimate.lower[i], truth) << i;
    EXPECT_GE(estimate.upper[i], truth) << i;
  }
}

}  // namespace
}  // namespace oas
