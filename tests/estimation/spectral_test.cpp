// The spectral estimators on exact populations, where they must return the truth, and the mistakes
// that are easily made with them, each of which must show.

#include "oas/estimation/spectral/spectral.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "oas/core/contracts.hpp"
#include "oas/estimation/transition_error.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "oas/sensors/left_inverse.hpp"
#include "spectral_population.hpp"
#include "support/worst.hpp"

namespace oas {
namespace {

using test::population_triples;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr double kExact = 1e-10;

Rng stream(std::uint64_t seed) { return Rng({seed, 0, Role::test}); }

Pomdp make_model(Timing timing, std::uint64_t seed, int observations = 4) {
  test::RandomModelOptions options;
  options.num_states = 3;
  options.num_actions = 2;
  options.num_observations = observations;
  options.timing = timing;
  options.concentration = 1.0;
  options.min_alpha = 0.3;
  for (std::uint64_t draw = 0;; ++draw) {  // T_a must be invertible
    const Pomdp model = test::random_model(options, 1000 * seed + draw);
    double smallest = 1.0;
    for (int a = 0; a < 2; ++a) {
      smallest = std::min(smallest, pseudo_inverse(model.transition().matrix(Action{a})).smallest);
    }
    if (smallest > 0.15) return model;
  }
}

ThreeViews views_of(const test::Triples& triples, int second, int third) {
  return {triples.sizes, triples.block(second, third), {}};
}

SpectralSensors sensors_of(const Pomdp& model, int second, int third, const Vector& tilt) {
  return {model.sensors().matrix(Action{second}), tilt,
          LeftInverses(model).transposed(third).transpose()};
}

double block_error(const Pomdp& model, int action, const Matrix& transition) {
  return (transition - model.transition().matrix(Action{action})).norm();
}

TEST(TensorPower, FindsAnOrthogonalDecomposition) {
  const Matrix vectors = test::random_rotation(4, 3);
  const std::array<double, 4> values = {5.0, 2.0, 1.5, 1.1};
  CubicTensor tensor(4);
  for (int s = 0; s < 4; ++s) tensor.add_rank_one(values[s], vectors.col(s));
  tensor(0, 1, 2) += 0.7;  // noise that symmetrising takes away
  tensor(1, 0, 2) -= 0.7;
  Rng rng = stream(1);
  const TensorEigenpairs pairs = tensor_power_method(tensor, {}, rng);
  test::Worst worst;
  for (int s = 0; s < 4; ++s) {
    double nearest = 10.0;
    for (int t = 0; t < 4; ++t) {
      nearest = std::min(nearest, (vectors.col(s) - pairs.vectors.col(t)).norm() +
                                      std::abs(values[s] - pairs.values(t)));
    }
    worst.take(nearest);
  }
  EXPECT_LT(worst.value(), 1e-12);
}

TEST(TensorPower, SameStreamSameBits) {
  CubicTensor tensor(3);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) tensor(i, j, (i + j) % 3) = 1.0 + i - 0.3 * j;
  }
  Rng one = stream(2);
  Rng two = stream(2);
  EXPECT_EQ(tensor_power_method(tensor, {}, one).vectors,
            tensor_power_method(tensor, {}, two).vectors);
}

TEST(LabelMatching, FindsThePermutationUnderNoise) {
  Rng rng = stream(3);
  const auto values = test::random_rows(6, 8, 0.5, 0.0, rng);
  const Matrix known = MatrixView(values.data(), 6, 8).transpose();
  const std::vector<int> order = {3, 5, 0, 1, 4, 2};
  Matrix estimated(8, 6);
  for (int s = 0; s < 6; ++s) {
    estimated.col(order[s]) = known.col(s).array() + 0.01 * (rng.uniform() - 0.5);
  }
  const LabelMatch match = match_labels(estimated, known);
  EXPECT_EQ(match.column, order);
  EXPECT_TRUE(match.certain());
  EXPECT_FALSE(match_labels(Matrix::Constant(8, 6, 0.125), known).certain());
}

// The cheapest assignment, not the greedy one: 1+1 beats 0+10.
TEST(LabelMatching, IsOptimalNotGreedy) {
  Matrix known(1, 2);
  known << 0.0, 1.0;
  Matrix estimated(1, 2);
  estimated << 0.4, 0.1;  // state 0 alone would take column 1, and so it should; state 1 the other
  EXPECT_EQ(match_labels(estimated, known).column, (std::vector<int>{1, 0}));
  estimated << 5.0, 1.0;
  EXPECT_EQ(match_labels(estimated, known).column, (std::vector<int>{1, 0}));
}

TEST(LabelMatching, OnePermutationForRowsAndColumns) {
  Matrix matrix(2, 2);
  matrix << 1, 2, 3, 4;
  LabelMatch match;
  match.column = {1, 0};
  Matrix expected(2, 2);
  expected << 4, 3, 2, 1;
  EXPECT_EQ(relabelled(matrix, match), expected);
}

struct PopulationCase {
  Timing timing;
  const char* policy;
};

class SpectralPopulation : public ::testing::TestWithParam<PopulationCase> {
 protected:
  [[nodiscard]] static Matrix policy(std::uint64_t seed) {
    return test::policy_of(GetParam().policy, 2, 4, seed);
  }
};

// Every block of a memoryless log, exact: T, the emissions after the correction, the weights.
TEST_P(SpectralPopulation, BlocksAreExact) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Pomdp model = make_model(GetParam().timing, seed);
    const Matrix pi = policy(seed);
    const test::Triples triples = population_triples(model, pi);
    Rng rng = stream(seed);
    for (int second = 0; second < 2; ++second) {
      for (int third = 0; third < 2; ++third) {
        const Vector tilt = pi.block(second * 4, third, 4, 1);
        const SpectralBlock block = solve_spectral_block(
            views_of(triples, second, third), sensors_of(model, second, third, tilt), {}, rng);
        ASSERT_EQ(block.decomposition.status, DecompositionStatus::ok)
            << block.decomposition.message;
        const int learned = model.timing() == Timing::before ? second : third;
        EXPECT_LT(block_error(model, learned, block.transition), kExact);
        EXPECT_LT((block.emission - model.sensors().matrix(Action{second})).norm(), kExact);
        EXPECT_NEAR(block.weights.sum(), 1.0, kExact);
        EXPECT_LT((block.decomposition.means[2].colwise().sum().array() - 1.0).abs().maxCoeff(),
                  kExact)
            << "columns of V3 are distributions";
        EXPECT_LT((block.weights - triples.middle_state(second, third)).norm(), kExact);
      }
    }
  }
}

// The same with weighted triples through the pooled estimator.
TEST_P(SpectralPopulation, PooledThroughSensorsIsExact) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Pomdp model = make_model(GetParam().timing, seed);
    const TripleFolder log = test::as_folder(population_triples(model, policy(seed)), 2, 4, 58);
    for (const auto pooling : {SpectralPooling::sensors, SpectralPooling::blocks}) {
      SpectralOptions options;
      options.pooling = pooling;
      Rng rng = stream(seed);
      const TransitionEstimate estimate = estimate_spectral(log, model, options, rng);
      EXPECT_EQ(estimate.status, EstimateStatus::ok);
      EXPECT_LT(transition_error(model.transition(), estimate.transition).frobenius, kExact);
      EXPECT_TRUE(estimate.warnings.empty()) << estimate.warnings.front();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SpectralPopulation,
                         ::testing::Values(PopulationCase{Timing::before, "uniform"},
                                           PopulationCase{Timing::before, "memoryless"},
                                           PopulationCase{Timing::after, "uniform"},
                                           PopulationCase{Timing::after, "memoryless"}));

// While one action is held the views are those of a hidden Markov model, in both timings.
TEST(SpectralConstant, IsExactOnPopulationMoments) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const Pomdp model = make_model(timing, seed);
      const TripleCounts one_hot = test::constant_triples(model, ConstantViews::one_hot, 58);
      const TripleCounts columns =
          test::constant_triples(model, ConstantViews::emission_columns, 58);
      for (const bool estimated : {false, true}) {
        SpectralOptions options;
        options.estimated_sensors = estimated;
        Rng rng = stream(seed);
        const TransitionEstimate plain =
            estimate_constant(one_hot, ConstantViews::one_hot, model, options, rng);
        ASSERT_EQ(plain.status, EstimateStatus::ok);
        EXPECT_LT(transition_error(model.transition(), plain.transition).frobenius, kExact);
        const TransitionEstimate helped =
            estimate_constant(columns, ConstantViews::emission_columns, model, options, rng);
        EXPECT_LT(transition_error(model.transition(), helped.transition).frobenius, kExact);
        const Vector stationary = stationary_distribution(model.transition().matrix(Action{1}));
        const double total = static_cast<double>(one_hot.total(1));
        for (int s = 0; s < 3; ++s) {
          EXPECT_NEAR(plain.visits[static_cast<std::size_t>(3 + s)] / total, stationary(s), 1e-9);
        }
      }
    }
  }
}

// The traps. Each mistake, made here on purpose on exact moments, must be far from exact.
class SpectralTrap : public ::testing::Test {
 protected:
  // Both T_a strongly asymmetric, so that no permutation or transposition can pass.
  const Pomdp model_ = make_model(Timing::after, 2);
  const Matrix policy_ = test::policy_of("memoryless", 2, 4, 2);
  const test::Triples triples_ = population_triples(model_, policy_);

  [[nodiscard]] SpectralBlock solve(const Vector& tilt) const {
    Rng rng = stream(9);
    return solve_spectral_block(views_of(triples_, 0, 1), sensors_of(model_, 0, 1, tilt), {}, rng);
  }
};

TEST_F(SpectralTrap, WithoutTheSecondViewCorrectionEmissionsAreWrong) {
  const Matrix known = model_.sensors().matrix(Action{0});
  const Vector tilt = policy_.block(0, 1, 4, 1);
  EXPECT_LT((solve(tilt).emission - known).norm(), kExact);
  const SpectralBlock uncorrected = solve({});
  EXPECT_GT((uncorrected.emission - known).norm(), 0.1);
  EXPECT_GT(uncorrected.labels.largest_distance, 0.1);
}

// A tilt can be strong enough to swap names: two states that only the action tells apart.
TEST(SpectralTraps, WithoutTheCorrectionLabelsAreSwapped) {
  const Pomdp model = test::tilted_labels_model();
  Matrix policy(4, 2);  // [(a,o)][a']: after o = 0 hardly ever action 1
  policy << 0.98, 0.02, 0.02, 0.98, 0.98, 0.02, 0.02, 0.98;
  const test::Triples triples = population_triples(model, policy);
  Rng rng = stream(4);
  const auto solve = [&](const Vector& tilt) {
    return solve_spectral_block(views_of(triples, 0, 0), sensors_of(model, 0, 0, tilt), {}, rng);
  };
  EXPECT_LT(block_error(model, 0, solve(policy.block(0, 0, 2, 1)).transition), kExact);
  EXPECT_TRUE(solve(policy.block(0, 0, 2, 1)).labels.certain());
  EXPECT_FALSE(solve({}).labels.certain());
}

TEST_F(SpectralTrap, PermutingOneSideOnlyOrTransposingShows) {
  Rng rng = stream(9);
  const TripleCounts counts = test::constant_triples(model_, ConstantViews::one_hot, 58);
  const auto cells = counts.block(0);
  const ThreeViews views{counts.sizes(), {cells.begin(), cells.end()}, {}};
  const Matrix known = model_.sensors().matrix(Action{0});
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    rng = stream(seed);
    const Decomposition raw = decompose(views, 3, {}, rng);
    ASSERT_EQ(raw.status, DecompositionStatus::ok);
    const LabelMatch labels = match_labels(raw.means[1], known);
    const Matrix unnamed = (pseudo_inverse(raw.means[1]).inverse * raw.means[2]).transpose();
    EXPECT_LT(block_error(model_, 0, relabelled(unnamed, labels)), kExact);
    EXPECT_GT(block_error(model_, 0, relabelled(unnamed.transpose(), labels)), 0.1);
    if (labels.column == std::vector<int>{0, 1, 2}) continue;
    ++moved;
    const Matrix columns_only = unnamed(Eigen::all, labels.column);
    const Matrix rows_only = unnamed(labels.column, Eigen::all);
    EXPECT_GT(block_error(model_, 0, columns_only), 0.05);
    EXPECT_GT(block_error(model_, 0, rows_only), 0.05);
  }
  EXPECT_GT(moved, 0) << "no start gave another order";
}

// Labels come from the sensors: another model with the same sensors, whose T matches the columns of
// the estimate better after a permutation, gets no say.
TEST(SpectralTraps, LabelsDoNotComeFromTheModelsOwnTransition) {
  const Pomdp model = make_model(Timing::before, 3);
  const TripleFolder log =
      test::as_folder(population_triples(model, test::policy_of("uniform", 2, 4, 3)), 2, 4, 58);
  const Pomdp other = model.with_transition(test::rotated_states(model.transition()));
  for (const Pomdp& given : {model, other, model.without_transition()}) {
    Rng rng = stream(3);
    const TransitionEstimate estimate = estimate_spectral(log, given, {}, rng);
    EXPECT_LT(transition_error(model.transition(), estimate.transition).frobenius, kExact);
  }
}

// With more observations than states M2 has eigenvalues 0 besides the S that count.
TEST(SpectralTraps, TheLargestEigenvaluesAreUsed) {
  const Pomdp model = make_model(Timing::before, 5, 7);
  const test::Triples triples = population_triples(model, test::policy_of("uniform", 2, 7, 5));
  Rng rng = stream(5);
  const SpectralBlock block =
      solve_spectral_block(views_of(triples, 1, 0), sensors_of(model, 1, 0, {}), {}, rng);
  ASSERT_EQ(block.decomposition.status, DecompositionStatus::ok);
  EXPECT_LT(block_error(model, 1, block.transition), kExact);
  EXPECT_GT(block.decomposition.smallest_eigenvalue, 1e-4);
}

// Blocks need actions that depend on the last row at most; before timing through the sensors does
// not, and says nothing.
TEST(SpectralValidity, LongerMemoryIsFoundAndWarnedOf) {
  RandomPomdpOptions random;
  random.num_observations = 4;
  random.min_alpha = 0.3;
  Rng problem({3, 0, Role::problem});
  const Pomdp model = random_pomdp(random, problem).model;
  const TripleFolder belief = test::played(model, "belief", 400'000);
  const TripleFolder uniform = test::played(model, "uniform", 400'000);
  const TripleFolder memoryless = test::played(model, "memoryless", 400'000);
  SpectralOptions blocks;
  blocks.pooling = SpectralPooling::blocks;
  const auto warnings = [&](const TripleFolder& log, const SpectralOptions& options) {
    Rng rng = stream(6);
    return estimate_spectral(log, model, options, rng).warnings;
  };
  EXPECT_THAT(warnings(belief, blocks), Contains(HasSubstr("more than the row before")));
  EXPECT_THAT(warnings(uniform, blocks), Not(Contains(HasSubstr("more than the row before"))));
  EXPECT_THAT(warnings(memoryless, blocks), Not(Contains(HasSubstr("more than the row before"))));
  EXPECT_THAT(warnings(belief, {}), Not(Contains(HasSubstr("more than the row before"))));
}

// Failures are statuses and flagged rows, never numbers made up.
TEST(SpectralFailure, FewRowsAreFlaggedWithTheReason) {
  const Pomdp model = make_model(Timing::before, 7);
  const TripleFolder log = test::played(model, "uniform", 12);
  Rng rng = stream(7);
  const TransitionEstimate estimate = estimate_spectral(log, model, {}, rng);
  EXPECT_EQ(estimate.status, EstimateStatus::flagged);
  ASSERT_FALSE(estimate.flagged.empty());
  EXPECT_THAT(estimate.flagged.front().reason, HasSubstr("triples"));
  const FlaggedRow& row = estimate.flagged.front();
  EXPECT_DOUBLE_EQ(estimate.transition(row.action, row.state, State{0}), 1.0 / 3.0);
  EXPECT_THAT(estimate.warnings, Contains(HasSubstr("decompositions failed")));
}

TEST(SpectralFailure, EveryStatusCanBeMet) {
  Rng rng = stream(8);
  const auto status = [&](std::vector<double> weights, int states) {
    return decompose({{2, 2, 2}, std::move(weights), {}}, states, {}, rng).status;
  };
  EXPECT_EQ(status(std::vector<double>(8, 0.0), 2), DecompositionStatus::no_data);
  EXPECT_EQ(status(std::vector<double>(8, 1.0), 2), DecompositionStatus::rank_deficient);
  EXPECT_EQ(status(std::vector<double>(8, 1.0), 3), DecompositionStatus::rank_deficient);
  // Views 1 and 2 agree, 1 and 3 agree, 2 and 3 disagree: no mixture does that.
  EXPECT_EQ(status({16, 12, 12, 0, 0, 12, 12, 16}, 2), DecompositionStatus::not_positive);
  EXPECT_EQ(status({4, 2, 2, 1, 2, 1, 1, 50}, 2), DecompositionStatus::ok);
  // Noise is no mixture of three, least of all when the power method is stopped at once.
  DecompositionOptions hasty;
  hasty.power = {1, 3};
  std::set<DecompositionStatus> met;
  for (int i = 0; i < 3000; ++i) {
    std::vector<double> noise(27);
    for (double& weight : noise) weight = rng.uniform();
    const Decomposition result = decompose({{3, 3, 3}, noise, {}}, 3, hasty, rng);
    met.insert(result.status);
    EXPECT_EQ(result.message.empty(), result.status == DecompositionStatus::ok);
  }
  EXPECT_THAT(met, Contains(DecompositionStatus::weights_off));
  EXPECT_THAT(met, Contains(DecompositionStatus::weight_above_one));
}

TEST(SpectralFailure, WrongInputIsNamed) {
  const Pomdp model = make_model(Timing::before, 7);
  Rng rng = stream(7);
  EXPECT_THROW(static_cast<void>(estimate_spectral(TripleFolder(2, 4), model, {}, rng)),
               InvalidArgument);
  EXPECT_THROW(static_cast<void>(estimate_spectral(TripleFolder(3, 4), model, {}, rng)),
               InvalidArgument);
  SpectralOptions options;
  options.decomposition.power.restarts = 0;
  EXPECT_THROW(options.validate(), InvalidArgument);
  options = {};
  options.decomposition.weight_tolerance = 0.0;
  EXPECT_THROW(options.validate(), InvalidArgument);
}

}  // namespace
}  // namespace oas
