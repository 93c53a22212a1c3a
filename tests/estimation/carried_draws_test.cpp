#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "estimation/gibbs_support.hpp"
#include "oas/estimation/error_bars/draws_at_maximum.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/transition_structure.hpp"
#include "oas/model/model_json.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "path_enumeration.hpp"

/// The dynamics that estimates by likelihood carry: drawn along hidden paths where rows are few,
/// else from the curvature of the likelihood.
namespace oas {
namespace {

std::vector<Trajectory> some_runs(const Pomdp& model, std::size_t steps, int runs = 1) {
  std::vector<Trajectory> all(static_cast<std::size_t>(runs));
  for (int run = 0; run < runs; ++run) {
    ClosedLoop(model, {.name = "uniform"}, 8, static_cast<std::uint32_t>(run))
        .advance(steps, all[static_cast<std::size_t>(run)]);
  }
  return all;
}

TransitionEstimate estimated(const std::string& estimator, const AnyModel& model,
                             const std::vector<Trajectory>& runs, const EstimateOptions& options,
                             const EvidenceOptions& settings = {}) {
  Evidence evidence = make_evidence(estimator, model, settings);
  for (const Trajectory& run : runs) {
    evidence.start_run();
    evidence.add(run);
  }
  return evidence.estimate(options);
}

EvidenceOptions fading() {
  EvidenceOptions settings;
  settings.forgetting.half_life = 2000.0;
  settings.forgetting.age = Age::log;
  return settings;
}

struct Spread {
  std::vector<double> mean;
  std::vector<double> deviation;
};

Spread spread_of(const TransitionEstimate& estimate) {
  const std::size_t entries = estimate.transition.values().size();
  const std::size_t count = estimate.draws.size() / entries;
  Spread spread{std::vector<double>(entries, 0.0), std::vector<double>(entries, 0.0)};
  for (std::size_t e = 0; e < entries; ++e) {
    for (std::size_t d = 0; d < count; ++d) {
      spread.mean[e] += estimate.draws[d * entries + e] / static_cast<double>(count);
    }
    for (std::size_t d = 0; d < count; ++d) {
      const double off = estimate.draws[d * entries + e] - spread.mean[e];
      spread.deviation[e] += off * off / static_cast<double>(count - 1);
    }
    spread.deviation[e] = std::sqrt(spread.deviation[e]);
  }
  return spread;
}

void expect_distributions(const TransitionEstimate& estimate) {
  const auto n = static_cast<std::size_t>(estimate.transition.num_states());
  for (std::size_t row = 0; row < estimate.draws.size() / n; ++row) {
    const auto first = estimate.draws.begin() + static_cast<std::ptrdiff_t>(row * n);
    EXPECT_NEAR(std::accumulate(first, first + static_cast<std::ptrdiff_t>(n), 0.0), 1.0, 1e-9);
    EXPECT_GE(*std::min_element(first, first + static_cast<std::ptrdiff_t>(n)), 0.0);
  }
}

class CarriedDraws : public testing::TestWithParam<Timing> {};

// 10,000 draws: five standard errors of a mean with an autocorrelation time of 10 are 0.16 of a
// deviation; fixed seed.
TEST_P(CarriedDraws, AreThePosteriorByEnumeration) {
  for (const int states : {2, 3}) {
    const Pomdp model = test::small_model(states, GetParam());
    std::vector<Trajectory> runs(2);
    ClosedLoop(model, {.name = "uniform"}, 8, 0).advance(states == 2 ? 9 : 5, runs[0]);
    ClosedLoop(model, {.name = "uniform"}, 8, 1).advance(3, runs[1]);
    runs[0].observations[2] = kMissing;
    const test::PathEnumeration exact(model, runs, {}, 1.0 / states, 0.5, 0.5);
    EstimateOptions options;
    options.carried_draws = 10'000;
    const Spread drawn = spread_of(estimated("oas-ml", model, runs, options));
    EvidenceOptions long_chains;
    long_chains.draws = 40'000;
    const Spread all = spread_of(test::gibbs_estimate(model, runs, long_chains, options));
    for (std::size_t e = 0; e < drawn.mean.size(); ++e) {
      EXPECT_NEAR(drawn.mean[e], exact.mean[e], 0.16 * all.deviation[e]) << e;
      EXPECT_NEAR(drawn.deviation[e], all.deviation[e], 0.16 * all.deviation[e]) << e;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, CarriedDraws, testing::Values(Timing::before, Timing::after),
                         [](const auto& one) { return std::string(to_string(one.param)); });

// Whoever climbs a likelihood carries draws, however they are made, and may be told not to.
TEST(CarriedDraws, ComeWithEveryEstimateByLikelihood) {
  for (const char* const name : {"corner/dense-3", "corner/wear-repair", "corner/cycle-3",
                                 "corner/blind-action", "corner/dense-3-after"}) {
    const Pomdp model = make_problem(name);
    const std::vector<Trajectory> runs = some_runs(model, 200);
    for (const EstimatorInfo& info : estimators()) {
      if (!info.climbs) continue;
      for (const EvidenceOptions& settings : {EvidenceOptions(), fading()}) {
        EstimateOptions options;
        const TransitionEstimate with =
            estimated(std::string(info.name), model, runs, options, settings);
        EXPECT_EQ(with.draws.size(), 200 * with.transition.values().size()) << name << info.name;
        expect_distributions(with);
        options.carried_draws = 0;
        const TransitionEstimate without =
            estimated(std::string(info.name), model, runs, options, settings);
        EXPECT_TRUE(without.draws.empty());
        EXPECT_EQ(without.transition, with.transition);
        EXPECT_EQ(without.upper, with.upper);
      }
    }
  }
}

TEST(CarriedDraws, AreTheSameForAnyNumberOfThreadsAndMemory) {
  const Pomdp model = make_problem("corner/wear-repair");
  const std::vector<Trajectory> runs = some_runs(model, 500, 3);
  EstimateOptions options;
  options.parallelism = {1};
  const TransitionEstimate one = estimated("oas-ml", model, runs, options);
  options.parallelism = {3};
  EXPECT_EQ(estimated("oas-ml", model, runs, options).draws, one.draws);
}

// Draws from the curvature have the spread that error bars say, and lie around the estimate.
TEST(CarriedDraws, OfWeightedRowsHaveTheSpreadOfTheErrorBars) {
  const Pomdp model = make_problem("corner/dense-3");
  const TransitionEstimate found =
      estimated("oas-ml", model, some_runs(model, 20'000), {}, fading());
  const Spread drawn = spread_of(found);
  for (std::size_t e = 0; e < drawn.mean.size(); ++e) {
    const double value = found.transition.values()[e];
    const double error = found.standard_error[e];
    if (!(std::min(value, 1.0 - value) > 4.0 * error)) continue;
    EXPECT_NEAR(drawn.mean[e], value, 0.5 * error) << e;
    EXPECT_NEAR(drawn.deviation[e], error, 0.3 * error) << e;
  }
}

// The third state follows the second one, and sensors see little: entries that are 0 are found
// within an error of it.
TransitionEstimate of_weak_sensors(std::uint32_t run, double confidence) {
  const Pomdp model = parse_model(R"({"format": "oas-model/1", "timing": "before", "states": 3,
    "actions": 1, "observations": 3, "observation_reward": [0, 0, 1],
    "transition": [[[0.9, 0.1, 0], [0, 0.9, 0.1], [0.1, 0, 0.9]]],
    "observation": [[[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]]})",
                                  "ring");
  std::vector<Trajectory> rows(1);
  ClosedLoop(model, {.name = "uniform"}, 8, run).advance(6000, rows[0]);
  EvidenceOptions settings = fading();
  settings.forgetting.half_life = 1e9;
  EstimateOptions options;
  options.confidence = confidence;
  options.carried_draws = 1000;
  return estimated("oas-ml", model, rows, options, settings);
}

// An entry within half an error of 0 is no small number of large counts: nearly all draws lie below
// the upper limit. Gibbs draws have their 95 % point at 0.7 of it.
TEST(CarriedDraws, FromTheCurvatureStayWithinLimitsNearZero) {
  int near = 0;
  for (std::uint32_t run = 0; run < 4; ++run) {
    const TransitionEstimate found = of_weak_sensors(run, 0.95);
    const std::size_t entries = found.transition.values().size();
    for (std::size_t e = 0; e < entries; ++e) {
      const double value = found.transition.values()[e];
      if (value < 1e-3 || value > 0.5 * found.standard_error[e]) continue;
      ++near;
      std::vector<double> drawn;
      for (std::size_t d = e; d < found.draws.size(); d += entries) drawn.push_back(found.draws[d]);
      std::sort(drawn.begin(), drawn.end());
      EXPECT_LT(drawn[drawn.size() * 95 / 100], 1.2 * found.upper[e]) << run << " " << e;
      EXPECT_GT(drawn[drawn.size() * 95 / 100], 0.4 * found.upper[e]) << run << " " << e;
    }
  }
  EXPECT_GT(near, 2);
}

TEST(CarriedDraws, DoNotDependOnTheLevelThatIsShown) {
  EXPECT_EQ(of_weak_sensors(0, 0.5).draws, of_weak_sensors(0, 0.999).draws);
}

// Of 300 entries a structure leaves three; a law over all of them would have next to nothing there.
TEST(CarriedDraws, OfUnknownRowsAreThePriorOverWhatIsOpen) {
  constexpr std::size_t kStates = 300;
  constexpr std::size_t kDraws = 1000;
  std::vector<double> values(kStates, 0.0);
  for (const std::size_t open : {7U, 8U, 9U}) values[open] = 1.0 / 3.0;
  JointErrors errors;
  errors.factor = Matrix::Zero(kStates, 1);
  errors.determined = {0};
  for (const double value : values) errors.evidence.push_back(EntryEvidence::certain(value));
  const std::vector<double> draws =
      draws_at_maximum(errors, values, kStates, kDraws, Rng({1, 0, Role::estimation}));
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t d = 0; d < kDraws; ++d) {
    const double* const row = draws.data() + d * kStates;
    ASSERT_NEAR(row[7] + row[8] + row[9], 1.0, 1e-12);
    sum += row[7];
    squares += row[7] * row[7];
  }
  // Dirichlet(1/3, 1/3, 1/3): mean 1/3, second moment 2/9; five standard errors of 1,000 draws.
  EXPECT_NEAR(sum / kDraws, 1.0 / 3.0, 0.06);
  EXPECT_NEAR(squares / kDraws, 2.0 / 9.0, 0.06);
}

// What a structure says holds in every draw, however it is made.
// Paths of 20,000 rows can be drawn, but chains need more sweeps to meet than there is time for.
TEST(CarriedDraws, ComeFromTheCurvatureWherePathsTakeTooLong) {
  const Pomdp model = make_problem("pest-control");
  EstimateOptions options;
  const TransitionEstimate estimate = estimated("oas-ml", model, some_runs(model, 20'000), options);
  for (const std::string& warning : estimate.warnings) {
    EXPECT_EQ(warning.find("draws"), std::string::npos) << warning;
  }
  expect_distributions(estimate);
  const Spread spread = spread_of(estimate);
  for (std::size_t e = 0; e < spread.deviation.size(); ++e) {
    EXPECT_NEAR(spread.mean[e], estimate.transition.values()[e], estimate.standard_error[e]);
    EXPECT_GT(spread.deviation[e], 0.7 * estimate.standard_error[e]);
    EXPECT_LT(spread.deviation[e], 1.4 * estimate.standard_error[e]);
  }
}

TEST(CarriedDraws, KeepToAStructure) {
  const Pomdp model = make_problem("corner/wear-repair");
  EstimateOptions options;
  options.structure = TransitionStructure(model, zeros_of(model.transition()));
  const std::vector<Trajectory> runs = some_runs(model, 600);
  for (const EvidenceOptions& settings : {EvidenceOptions(), fading()}) {
    const TransitionEstimate found = estimated("oas-ml", model, runs, options, settings);
    const std::size_t entries = found.transition.values().size();
    ASSERT_EQ(found.draws.size(), 200 * entries);
    for (std::size_t i = 0; i < found.draws.size(); ++i) {
      if (!options.structure.is_free(i % entries)) {
        ASSERT_EQ(found.draws[i], options.structure.fixed_value(i % entries));
      }
    }
  }
}

TEST(CarriedDraws, AreFewerOfLargeModels) {
  EXPECT_EQ(EstimateOptions().draws_to_carry(18), 200U);
  EXPECT_EQ(EstimateOptions().draws_to_carry(40U * 40U * 3U), 104U);
  EXPECT_EQ(EstimateOptions().draws_to_carry(100U * 100U * 3U), 40U);
  EXPECT_EQ(EstimateOptions::bare().draws_to_carry(18), 0U);
}

}  // namespace
}  // namespace oas
