#include "oas/estimation/moments/oas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/estimation/transition_error.hpp"
#include "oas/problems/named.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;

// A series of one batch whose moments are exactly D_a(s,s') = visits(a,s) T_a(s,s').
MomentSeries population_series(const Pomdp& model) {
  MomentSeries series;
  PairMoments moments(model.num_states(), model.num_actions());
  std::size_t i = 0;
  for (int a = 0; a < model.num_actions(); ++a) {
    for (int s = 0; s < model.num_states(); ++s) {
      for (int next = 0; next < model.num_states(); ++next) {
        moments.sums[i++] =
            (1.0 + a + 2.0 * s) * model.transition()(Action{a}, State{s}, State{next});
      }
    }
    moments.pairs[static_cast<std::size_t>(a)] = 1000;
  }
  series.rows = 2000;
  series.batches.push_back(moments);
  return series;
}

TEST(EstimateOas, ReturnsTheTruthOnPopulationMoments) {
  for (const ProblemInfo& problem : problems()) {
    const Pomdp model = problem.make();
    const TransitionEstimate estimate =
        estimate_oas(population_series(model), LeftInverses(model), model);
    EXPECT_LT(transition_error(model.transition(), estimate.transition).frobenius, 1e-12)
        << problem.name;
    EXPECT_EQ(estimate.status, EstimateStatus::ok);
  }
}

TEST(EstimateOas, ClipsAfterTheSumAndNormalises) {
  const Pomdp model = pest_control();
  MomentSeries series = population_series(model);
  auto& sums = series.batches[0].sums;
  sums[0] = 3.0;
  sums[1] = -1.0;  // clipped: the row becomes (1, 0)
  const TransitionEstimate estimate = estimate_oas(series, LeftInverses(model), model);
  EXPECT_EQ(estimate.transition(Action{0}, State{0}, State{0}), 1.0);
  EXPECT_EQ(estimate.transition(Action{0}, State{0}, State{1}), 0.0);
  EXPECT_DOUBLE_EQ(estimate.clipped[0], 0.25);
  EXPECT_DOUBLE_EQ(estimate.visits[0], 2.0);
}

TEST(EstimateOas, FlagsRowsWithoutMassAndMakesThemUniform) {
  const Pomdp model = pest_control();
  MomentSeries series = population_series(model);
  auto& moments = series.batches[0];
  moments.sums[2] = 0.0;
  moments.sums[3] = -2.0;
  const TransitionEstimate estimate = estimate_oas(series, LeftInverses(model), model);
  EXPECT_EQ(estimate.status, EstimateStatus::flagged);
  ASSERT_EQ(estimate.flagged.size(), 1U);
  EXPECT_EQ(estimate.flagged[0].action, Action{0});
  EXPECT_EQ(estimate.flagged[0].state, State{1});
  EXPECT_EQ(estimate.transition(Action{0}, State{1}, State{0}), 0.5);
  EXPECT_EQ(estimate.transition(Action{0}, State{1}, State{1}), 0.5);
}

TEST(EstimateOas, SaysWhenAnActionWasNeverSeen) {
  const Pomdp model = pest_control();
  PairCounts counts(model.num_actions(), model.num_observations());
  for (int i = 0; i < 100; ++i) {
    counts.add(Action{0}, Observation{i % 3}, Action{0}, Observation{(i * 7) % 3});
  }
  const TransitionEstimate estimate = estimate_oas(counts, model);
  int unseen = 0;
  for (const FlaggedRow& row : estimate.flagged) {
    if (row.action == 1) {
      ++unseen;
      EXPECT_THAT(row.reason, HasSubstr("never seen"));
    }
  }
  EXPECT_EQ(unseen, 2);
}

TEST(EstimateOas, RefusesALogWithoutPairs) {
  const Pomdp model = pest_control();
  const PairCounts counts(model.num_actions(), model.num_observations());
  try {
    static_cast<void>(estimate_oas(counts, model));
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("no pair of consecutive observed rows"));
  }
}

TEST(EstimateOas, RefusesABlindSensorAndNamesIt) {
  PomdpParts parts = pest_control().parts();
  std::vector<double> values(parts.sensors.values().begin(), parts.sensors.values().end());
  const auto block = static_cast<std::size_t>(parts.observations.size());
  for (std::size_t o = 0; o < block; ++o) values[3 * block + o] = values[2 * block + o];
  parts.sensors = ObservationModel(2, 2, parts.observations.size(), values);
  const Pomdp model(parts);
  try {
    const LeftInverses inverses(model);
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr(model.actions()[1]));
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
    EXPECT_THAT(error.what(), HasSubstr("singular values"));
  }
}

TEST(EstimateOas, ConfidenceOutOfRangeIsNamed) {
  OasOptions options;
  options.confidence = 1.0;
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.confidence = 0.0;
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.confidence = std::nan("");
  EXPECT_THROW(options.validate(), InvalidArgument);
}

// Folds one simulated run and estimates.
TransitionEstimate estimate_run(const Pomdp& model, const PolicyOptions& policy, std::size_t steps,
                                const FoldOptions& fold, std::uint32_t replication) {
  const LeftInverses inverses(model);
  ClosedLoop loop(model, policy, 20260, replication);
  Trajectory rows;
  loop.advance(steps, rows);
  PairFolder folder(inverses, model.timing(), fold);
  folder.add(rows.actions, rows.observations, rows.propensities);
  return estimate_oas(folder.finish(), inverses, model);
}

struct CoverageCase {
  Timing timing;
  const char* policy;
  Pairing pairing;
};

class Coverage : public ::testing::TestWithParam<CoverageCase> {};

// 95 % intervals hold the true entry in 93 to 97 % of all cases. 400 runs of a 3x3x4 model give
// 10800 entries, of which runs are independent: the standard error of the rate is below 0.5 %.
TEST_P(Coverage, IntervalsHoldWhatTheyPromise) {
  RandomPomdpOptions options;
  options.num_observations = 4;
  options.timing = GetParam().timing;
  options.min_alpha = 0.3;
  Rng rng({7, 0, Role::problem});
  const Pomdp model = random_pomdp(options, rng).model;
  PolicyOptions policy;
  policy.name = GetParam().policy;
  if (policy.name == "belief") policy.min_action_probability = 0.1;
  FoldOptions fold;
  fold.pairing = GetParam().pairing;
  fold.inverse_propensity = GetParam().timing == Timing::after;
  std::int64_t inside = 0;
  std::int64_t all = 0;
  for (std::uint32_t r = 0; r < 400; ++r) {
    const TransitionEstimate estimate = estimate_run(model, policy, 40'000, fold, r);
    const auto truth = model.transition().values();
    for (std::size_t i = 0; i < truth.size(); ++i, ++all) {
      inside += truth[i] >= estimate.lower[i] && truth[i] <= estimate.upper[i];
    }
  }
  const double rate = static_cast<double>(inside) / static_cast<double>(all);
  EXPECT_GT(rate, 0.93);
  EXPECT_LT(rate, 0.97);
}

INSTANTIATE_TEST_SUITE_P(
    All, Coverage,
    ::testing::Values(CoverageCase{Timing::before, "uniform", Pairing::disjoint},
                      CoverageCase{Timing::before, "belief", Pairing::disjoint},
                      CoverageCase{Timing::before, "belief", Pairing::overlapping},
                      CoverageCase{Timing::after, "uniform", Pairing::overlapping},
                      CoverageCase{Timing::after, "belief", Pairing::overlapping}));

}  // namespace
}  // namespace oas
