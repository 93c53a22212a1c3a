// The estimator's theorem on exact populations, without any sampling: a policy that reacts to the
// last row, the stationary law of the closed loop, and the moments D_a it leads to.

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/counts/pair_moments.hpp"
#include "oas/counts/weighted_pairs.hpp"
#include "support/random_models.hpp"
#include "support/worst.hpp"

namespace oas {
namespace {

constexpr int kStates = 3;
constexpr int kActions = 3;
constexpr int kObservations = 4;
constexpr int kSymbols = kActions * kObservations;  // (action, observation) of one row

Pomdp make_model(Timing timing, std::uint64_t seed) {
  test::RandomModelOptions options;
  options.num_states = kStates;
  options.num_actions = kActions;
  options.num_observations = kObservations;
  options.timing = timing;
  options.concentration = 1.0;
  options.min_alpha = 0.2;
  return test::random_model(options, seed);
}

// π(a | last row), one row per symbol; reacts strongly, floor ι = 0.02.
Matrix reactive_policy(std::uint64_t seed) {
  Rng rng({seed, 7, Role::test});
  const auto values = test::random_rows(kSymbols, kActions, 0.3, 0.0, rng);
  return (MatrixView(values.data(), kSymbols, kActions).array() * (1.0 - kActions * 0.02) + 0.02)
      .matrix();
}

// P(row symbol, s' | s, a) · [a is the symbol's action].
double step(const Pomdp& model, int s, int symbol, int next) {
  const Action a{symbol / kObservations};
  const State emitter{model.timing() == Timing::before ? s : next};
  return model.transition()(a, State{s}, State{next}) *
         model.sensors()(a, emitter, Observation{symbol % kObservations});
}

// P(row t = x, row t+1 = y) in the stationary closed loop. The chain lives on (state, last row).
Matrix pair_distribution(const Pomdp& model, const Matrix& policy) {
  constexpr int kSize = kStates * kSymbols;
  Matrix chain(kSize, kSize);
  for (int from = 0; from < kSize; ++from) {
    for (int to = 0; to < kSize; ++to) {
      const int symbol = to % kSymbols;
      chain(from, to) = policy(from % kSymbols, symbol / kObservations) *
                        step(model, from / kSymbols, symbol, to / kSymbols);
    }
  }
  const Vector stationary = stationary_distribution(chain);
  Matrix pairs = Matrix::Zero(kSymbols, kSymbols);
  for (int now = 0; now < kSize; ++now) {  // (s_{t+1}, row t)
    for (int next = 0; next < kSize; ++next) {
      pairs(now % kSymbols, next % kSymbols) += stationary(now) * chain(now, next);
    }
  }
  return pairs;
}

// Population moments by the library: every pair of rows as a run of its own with its weight, which
// PairFolder takes as one over the propensity of the second row.
PairMoments population_moments(const Pomdp& model, const Matrix& weights) {
  const LeftInverses inverses(model);
  FoldOptions options;
  options.inverse_propensity = true;
  PairFolder folder(inverses, model.timing(), options);
  for (int x = 0; x < kSymbols; ++x) {
    for (int y = 0; y < kSymbols; ++y) {
      folder.start_run();
      folder.add(std::vector{Action{x / kObservations}, Action{y / kObservations}},
                 std::vector{Observation{x % kObservations}, Observation{y % kObservations}},
                 std::vector{1.0, 1.0 / weights(x, y)});
    }
  }
  return folder.finish().total();
}

Matrix row_normalised(Matrix matrix) {
  for (Eigen::Index s = 0; s < matrix.rows(); ++s) matrix.row(s) /= matrix.row(s).sum();
  return matrix;
}

double transition_error(const Pomdp& model, int action, const Matrix& moments) {
  return (row_normalised(moments) - model.transition().matrix(Action{action})).norm();
}

double worst_error(const Pomdp& model, const PairMoments& moments) {
  test::Worst worst;
  for (int a = 0; a < kActions; ++a) {
    worst.take(transition_error(model, a, moments.matrix(a)));
  }
  return worst.value();
}

// Each pair's weight divided by the probability of its second action.
Matrix divided_by_propensity(Matrix pairs, const Matrix& policy) {
  for (int x = 0; x < kSymbols; ++x) {
    for (int y = 0; y < kSymbols; ++y) pairs(x, y) /= policy(x, y / kObservations);
  }
  return pairs;
}

TEST(Population, PairProbabilitiesSumToOne) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Matrix pairs = pair_distribution(make_model(timing, 1), reactive_policy(1));
    EXPECT_NEAR(pairs.sum(), 1.0, 1e-13);
    // Stationary: rows t and t+1 have the same law.
    EXPECT_LT((pairs.rowwise().sum() - pairs.colwise().sum().transpose()).norm(), 1e-13);
  }
}

TEST(Population, BeforeTimingIsExactUnderAReactivePolicy) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Pomdp model = make_model(Timing::before, seed);
    const Matrix pairs = pair_distribution(model, reactive_policy(seed));
    EXPECT_LT(worst_error(model, population_moments(model, pairs)), 1e-12) << seed;
  }
}

// The same through integer counts and project(): probabilities as multiples of 2^-50, entered bit
// by bit and doubled in between.
TEST(Population, BeforeTimingIsExactThroughCounts) {
  const Pomdp model = make_model(Timing::before, 2);
  const Matrix pairs = pair_distribution(model, reactive_policy(2));
  PairCounts counts(kActions, kObservations);
  for (int bit = 50; bit >= 0; --bit) {
    counts.merge(PairCounts(counts));
    for (int x = 0; x < kSymbols; ++x) {
      for (int y = 0; y < kSymbols; ++y) {
        const auto scaled = static_cast<std::int64_t>(std::llround(std::ldexp(pairs(x, y), 50)));
        if (((scaled >> bit) & 1) == 0) continue;
        counts.add(Action{x / kObservations}, Observation{x % kObservations},
                   Action{y / kObservations}, Observation{y % kObservations});
      }
    }
  }
  EXPECT_NEAR(std::ldexp(static_cast<double>(counts.total()), -50), 1.0, 1e-12);
  EXPECT_LT(worst_error(model, project(counts, LeftInverses(model), Timing::before)), 1e-12);
}

// One block L_a N_{a,a'} L_{a'}ᵀ for a fixed a' is no multiple of T_a, row by row: a' depends on
// o_t. So is anything non-linear done per block.
TEST(Population, SingleBlocksDoNotFactor) {
  int wrong = 0;
  double clipped_error = 0.0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Pomdp model = make_model(Timing::before, seed);
    const Matrix pairs = pair_distribution(model, reactive_policy(seed));
    const LeftInverses inverses(model);
    for (int a = 0; a < kActions; ++a) {
      Matrix clipped = Matrix::Zero(kStates, kStates);
      for (int next = 0; next < kActions; ++next) {
        const Matrix block =
            inverses.transposed(a).transpose() *
            pairs.block(a * kObservations, next * kObservations, kObservations, kObservations) *
            inverses.transposed(next);
        wrong += transition_error(model, a, block) > 0.01;
        clipped += block.cwiseMax(0.0);
      }
      clipped_error = std::max(clipped_error, transition_error(model, a, clipped));
    }
  }
  EXPECT_GT(wrong, 20 * kActions * kActions * 9 / 10) << "nearly all blocks are off by far";
  EXPECT_GT(clipped_error, 0.05) << "clipping per block stays wrong with all the data of the world";
}

TEST(Population, AfterTimingIsExactWithInversePropensities) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Pomdp model = make_model(Timing::after, seed);
    const Matrix policy = reactive_policy(seed);
    const Matrix pairs = pair_distribution(model, policy);
    const Matrix weighted = divided_by_propensity(pairs, policy);
    EXPECT_LT(worst_error(model, population_moments(model, weighted)), 1e-12) << seed;
    EXPECT_GT(worst_error(model, population_moments(model, pairs)), 0.01)
        << "without weights the answer is wrong";
  }
}

TEST(Population, AfterTimingNeedsNoWeightsIfActionsIgnoreObservations) {
  const Pomdp model = make_model(Timing::after, 3);
  Matrix policy(kSymbols, kActions);
  for (int x = 0; x < kSymbols; ++x) {  // depends on the last action only
    policy.row(x) = x / kObservations == 0 ? Eigen::RowVector3d(0.7, 0.2, 0.1)
                                           : Eigen::RowVector3d(0.1, 0.3, 0.6);
  }
  const Matrix pairs = pair_distribution(model, policy);
  EXPECT_LT(worst_error(model, population_moments(model, pairs)), 1e-12);
}

// Data of several policies may be pooled: each is right, and so is any mixture.
TEST(Population, PoolingOverPoliciesIsExact) {
  const Pomdp model = make_model(Timing::before, 4);
  const Matrix pooled = 0.3 * pair_distribution(model, reactive_policy(1)) +
                        0.7 * pair_distribution(model, reactive_policy(2));
  EXPECT_LT(worst_error(model, population_moments(model, pooled)), 1e-12);
}

// Population moments with weights of our own choice; pairs carry their probability over the
// propensity of the second action where `options` ask for it.
PairMoments weighted_population(const Pomdp& model, const Matrix& pairs, const Matrix& policy,
                                const LeftInverses& inverses, FoldOptions options) {
  const bool divided = options.inverse_propensity;
  options.inverse_propensity = true;  // PairFolder's way of taking any weight
  PairFolder folder(inverses, model.timing(), options);
  const Matrix weights = divided ? divided_by_propensity(pairs, policy) : pairs;
  for (int x = 0; x < kSymbols; ++x) {
    for (int y = 0; y < kSymbols; ++y) {
      folder.start_run();
      folder.add(std::vector{Action{x / kObservations}, Action{y / kObservations}},
                 std::vector{Observation{x % kObservations}, Observation{y % kObservations}},
                 std::vector{1.0, 1.0 / weights(x, y)});
    }
  }
  return folder.finish().total();
}

// Marginals as of a log of 10^9 rows with these propensities, or with others that it says.
ObservationMarginals marginals_of(const Matrix& pairs, const Matrix& policy,
                                  std::optional<double> said = {}) {
  ObservationMarginals marginals(kActions, kObservations);
  for (int x = 0; x < kSymbols; ++x) {
    for (int y = 0; y < kSymbols; ++y) {
      const double propensity = policy(x, y / kObservations);
      marginals.add(Action{y / kObservations}, Observation{y % kObservations},
                    std::llround(1e9 * pairs(x, y)), said.value_or(propensity));
    }
  }
  return marginals;
}

// The sensor of action 2 shows nothing.
Pomdp with_blind_action(const Pomdp& model) {
  PomdpParts parts = model.parts();
  std::vector<double> values(parts.sensors.values().begin(), parts.sensors.values().end());
  std::fill(values.end() - kStates * kObservations, values.end(), 1.0 / kObservations);
  parts.sensors = ObservationModel(kStates, kActions, kObservations, values);
  return Pomdp(parts);
}

TEST(WeightedPopulation, WeightsOfLeastVarianceAreExactInBothTimings) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    int by_propensity = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Pomdp model = make_model(timing, seed);
      const Matrix policy = reactive_policy(seed);
      const Matrix pairs = pair_distribution(model, policy);
      const WeightedPairs weights = weighted_pairs(model, marginals_of(pairs, policy), true);
      by_propensity += weights.fold.inverse_propensity;
      const PairMoments moments =
          weighted_population(model, pairs, policy, weights.inverses, weights.fold);
      EXPECT_LT(worst_error(model, moments), 1e-10) << seed;
    }
    EXPECT_GE(by_propensity, timing == Timing::before ? 0 : 20);
  }
}

TEST(WeightedPopulation, ABlindSecondActionIsLeftOutByPropensityOnly) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Pomdp model = with_blind_action(make_model(Timing::before, seed));
    const Matrix policy = reactive_policy(seed);
    const Matrix pairs = pair_distribution(model, policy);
    const WeightedPairs weights = weighted_pairs(model, marginals_of(pairs, policy), true);
    ASSERT_EQ(weights.fold.second_weight[2], 0.0);
    EXPECT_NEAR(weights.fold.second_weight[0] + weights.fold.second_weight[1], 1.0, 1e-12);
    const PairMoments right =
        weighted_population(model, pairs, policy, weights.inverses, weights.fold);
    // The same selection without propensities: what one is tempted to do.
    FoldOptions tempting;
    tempting.second_weight = {1.0, 1.0, 0.0};
    const PairMoments selected =
        weighted_population(model, pairs, policy, weights.inverses, tempting);
    for (int a = 0; a < 2; ++a) {
      EXPECT_LT(transition_error(model, a, right.matrix(a)), 1e-10) << seed;
      wrong += transition_error(model, a, selected.matrix(a)) > 0.05;
    }
    EXPECT_EQ(right.matrix(2).cwiseAbs().maxCoeff(), 0.0);
  }
  EXPECT_GT(wrong, 30) << "of 40: selecting pairs by the second action is no way";
}

TEST(WeightedPopulation, ABlindFirstActionIsLeftOutFreelyInAfterTiming) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Pomdp model = with_blind_action(make_model(Timing::after, seed));
    const Matrix policy = reactive_policy(seed);
    const Matrix pairs = pair_distribution(model, policy);
    const WeightedPairs weights = weighted_pairs(model, marginals_of(pairs, policy), true);
    ASSERT_EQ(weights.fold.first_weight[2], 0.0);
    const PairMoments moments =
        weighted_population(model, pairs, policy, weights.inverses, weights.fold);
    for (int a = 0; a < 2; ++a) {
      EXPECT_LT(transition_error(model, a, moments.matrix(a)), 1e-10) << seed;
    }
  }
}

TEST(WeightedPopulation, WithoutPropensitiesABlindSensorIsRefused) {
  const Pomdp model = with_blind_action(make_model(Timing::before, 1));
  const Matrix policy = reactive_policy(1);
  const Matrix pairs = pair_distribution(model, policy);
  const ObservationMarginals none = marginals_of(pairs, policy, 0.0);
  EXPECT_THROW(static_cast<void>(weighted_pairs(model, none, true)), InvalidArgument);
  EXPECT_NO_THROW(static_cast<void>(weighted_pairs(model, none, false)));
  const ObservationMarginals certain = marginals_of(pairs, policy, 1.0);
  EXPECT_THROW(static_cast<void>(weighted_pairs(model, certain, true)), InvalidArgument);
}

// Gauss-Markov: with W = 1/P(o) every component has the least variance among left inverses.
TEST(WeightedPopulation, TheWeightedInverseHasTheLeastVariance) {
  double gain = 0.0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Pomdp model = make_model(Timing::before, seed);
    const Matrix policy = reactive_policy(seed);
    const ObservationMarginals marginals = marginals_of(pair_distribution(model, policy), policy);
    const LeftInverses plain(model);
    const LeftInverses weighted = weighted_pairs(model, marginals, true).inverses;
    for (int a = 0; a < kActions; ++a) {
      const Matrix left = weighted.transposed(a).transpose();
      const Matrix identity = left * model.sensors().matrix(Action{a});
      EXPECT_LT((identity - Matrix::Identity(kStates, kStates)).norm(), 1e-9);
      Vector probabilities(kObservations);
      for (int o = 0; o < kObservations; ++o) {
        const auto cell = static_cast<std::size_t>(a * kObservations + o);
        probabilities(o) = static_cast<double>(marginals.counts()[cell]);
      }
      for (int s = 0; s < kStates; ++s) {
        const auto variance = [&](const LeftInverses& inverses) {
          return inverses.transposed(a).col(s).cwiseAbs2().dot(probabilities);
        };
        EXPECT_LE(variance(weighted), variance(plain) * (1.0 + 1e-6));
        gain += variance(plain) / variance(weighted) / (20.0 * kActions * kStates);
      }
    }
  }
  EXPECT_GT(gain, 1.02);
}

// Proof that the tests above see a transposed answer.
TEST(Population, TransposedMomentsAreCaught) {
  const Pomdp model = make_model(Timing::before, 5);
  const Matrix pairs = pair_distribution(model, reactive_policy(5));
  const PairMoments moments = population_moments(model, pairs);
  EXPECT_GT(transition_error(model, 0, moments.matrix(0).transpose()), 0.01);
}

}  // namespace
}  // namespace oas
