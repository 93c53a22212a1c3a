// The tools of the tests are tested too: a reference that is wrong proves nothing.

#include <gmock/gmock.h>

#include <Eigen/Core>
#include <filesystem>
#include <memory>
#include <numeric>

#include "support/allocations.hpp"
#include "support/chi_square.hpp"
#include "support/path_enumeration.hpp"
#include "support/pomdp_invariants.hpp"
#include "support/property.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"

namespace oas::test {
namespace {

// Two states, one action, two observations; numbers small enough to sum by hand.
Pomdp two_state_model(Timing timing) {
  PomdpParts parts;
  parts.timing = timing;
  parts.states = Labels(2, "state");
  parts.actions = Labels(1, "action");
  parts.observations = Labels(2, "observation");
  parts.start = {0.25, 0.75};
  parts.transition = TransitionModel(2, 1, {0.9, 0.1, 0.4, 0.6});
  parts.sensors = ObservationModel(2, 1, 2, {0.8, 0.2, 0.3, 0.7});
  return Pomdp(std::move(parts));
}

TEST(PathEnumeration, OneRowBeforeByHand) {
  const std::vector<Action> actions{Action{0}};
  const std::vector<Observation> observations{Observation{1}};
  const PathPosterior result =
      enumerate_paths(two_state_model(Timing::before), actions, observations);
  const double w0 = 0.25 * 0.2;
  const double w1 = 0.75 * 0.7;
  EXPECT_NEAR(result.likelihood, w0 + w1, 1e-15);
  EXPECT_NEAR(result.states(0, 0), w0 / (w0 + w1), 1e-15);
  EXPECT_NEAR(result.states(1, 0), (w0 * 0.9 + w1 * 0.4) / (w0 + w1), 1e-15);
}

TEST(PathEnumeration, OneRowAfterByHand) {
  const std::vector<Action> actions{Action{0}};
  const std::vector<Observation> observations{Observation{1}};
  const PathPosterior result =
      enumerate_paths(two_state_model(Timing::after), actions, observations);
  const double to0 = (0.25 * 0.9 + 0.75 * 0.4) * 0.2;
  const double to1 = (0.25 * 0.1 + 0.75 * 0.6) * 0.7;
  EXPECT_NEAR(result.likelihood, to0 + to1, 1e-15);
  EXPECT_NEAR(result.states(1, 0), to0 / (to0 + to1), 1e-15);
  EXPECT_NEAR(result.states(0, 0), 0.25 * (0.9 * 0.2 + 0.1 * 0.7) / (to0 + to1), 1e-15);
}

TEST(PathEnumeration, MissingObservationIsSummedOut) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = two_state_model(timing);
    const std::vector<Action> actions(3, Action{0});
    const auto likelihood = [&](Observation middle) {
      const std::vector<Observation> seen{Observation{0}, middle, Observation{1}};
      return enumerate_paths(model, actions, seen).likelihood;
    };
    EXPECT_NEAR(likelihood(kMissing), likelihood(Observation{0}) + likelihood(Observation{1}),
                1e-15);
  }
}

RC_GTEST_PROP(PathEnumeration, LikelihoodsOfAllStringsSumToOne, ()) {
  const Pomdp model = any_model(3, 2, 3);
  const std::vector<Action> actions{Action{0}, Action{model.num_actions() - 1}};
  double sum = 0.0;
  for (int first = 0; first < model.num_observations(); ++first) {
    for (int second = 0; second < model.num_observations(); ++second) {
      const std::vector<Observation> seen{Observation{first}, Observation{second}};
      sum += enumerate_paths(model, actions, seen).likelihood;
    }
  }
  RC_ASSERT(std::abs(sum - 1.0) < 1e-12);
}

RC_GTEST_PROP(RandomModels, KeepAllInvariants, ()) { expect_pomdp_invariants(any_model()); }

TEST(RandomModels, SeedDecides) {
  EXPECT_EQ(random_model({}, 7), random_model({}, 7));
  EXPECT_NE(random_model({}, 7), random_model({}, 8));
}

TEST(RandomModels, KeepTheAlphaAskedFor) {
  RandomModelOptions options;
  options.min_alpha = 0.3;
  const Pomdp model = random_model(options, 5);
  for (int a = 0; a < model.num_actions(); ++a) {
    const Matrix z = model.sensors().matrix(Action{a});
    EXPECT_GE(pseudo_inverse(z).smallest, 0.3);
  }
}

TEST(RandomModels, TransposeIsFarAway) {
  const Pomdp model = random_model({}, 3);
  const Matrix difference =
      model.transition().matrix(Action{0}) - transposed(model).transition().matrix(Action{0});
  EXPECT_GT(difference.norm(), 0.1);
}

TEST(ChiSquare, KnownQuantile) {
  // One degree of freedom, statistic 100/25 + 100/75 = 16/3.
  const std::vector<std::int64_t> counts{35, 65};
  EXPECT_NEAR(chi_square_p_value(counts, std::vector{0.25, 0.75}), 0.0209213, 1e-6);
}

TEST(ChiSquare, RejectsASmallBias) {
  // 50.5 % heads in 10^6 throws: ten standard deviations.
  const std::vector<std::int64_t> counts{505'000, 495'000};
  EXPECT_LT(chi_square_p_value(counts, std::vector{0.5, 0.5}), kFailureProbability);
}

TEST(ChiSquare, ImpossibleCellMustBeEmpty) {
  const std::vector<std::int64_t> counts{500, 500, 1};
  EXPECT_EQ(chi_square_p_value(counts, std::vector{0.5, 0.5, 0.0}), 0.0);
  const std::vector<std::int64_t> good{500, 500, 0};
  EXPECT_EQ(chi_square_p_value(good, std::vector{0.5, 0.5, 0.0}), 1.0);
}

TEST(ChiSquare, PoolsRareCells) {
  const std::vector<std::int64_t> counts{996, 1, 1, 1, 1};
  const std::vector<double> probabilities{0.996, 0.001, 0.001, 0.001, 0.001};
  EXPECT_TRUE(std::isnan(chi_square_p_value(counts, probabilities)));  // one cell is left
  const std::vector<std::int64_t> more{9960, 40, 0, 0, 0};
  EXPECT_LT(chi_square_p_value(more, probabilities), 1e-6);
}

TEST(KolmogorovSmirnov, SeesAShiftAndAcceptsTheTruth) {
  std::vector<double> samples(10'000);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = (static_cast<double>(i) + 0.5) / 10'000.0;
  }
  EXPECT_GT(kolmogorov_smirnov_p_value(samples, [](double x) { return x; }), 0.99);
  EXPECT_LT(kolmogorov_smirnov_p_value(samples, [](double x) { return x * x; }), 1e-6);
}

TEST(Allocations, CountsNewAndEigen) {
  const std::size_t before = allocations();
  const auto number = std::make_unique<int>(1);
  EXPECT_GE(allocations(), before + 1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const std::size_t middle = allocations();
  const Eigen::VectorXd vector = Eigen::VectorXd::Zero(1000 * *number);
  EXPECT_EQ(allocations(), middle + 1) << vector.sum();
#endif
}

TEST(Allocations, NothingHappensInALoopWithoutAny) {
  std::vector<int> values(100, 1);
  const std::size_t before = allocations();
  const int sum = std::accumulate(values.begin(), values.end(), 0);
  EXPECT_EQ(allocations(), before) << sum;
}

TEST(TemporaryDirectory, IsEmptyAndVanishes) {
  std::filesystem::path path;
  {
    const TemporaryDirectory folder;
    path = folder.path();
    EXPECT_TRUE(folder.entries().empty());
    spill(folder.file("b"), "text\n");
    spill(folder.file("a"), "");
    EXPECT_THAT(folder.entries(), testing::ElementsAre("a", "b"));
    EXPECT_EQ(slurp(folder.file("b")), "text\n");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace oas::test
