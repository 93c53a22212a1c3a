#include <gtest/gtest.h>

#include "oas/belief/joint_kernel.hpp"
#include "oas/core/rng.hpp"
#include "oas/planning/horizon/detail/branches.hpp"
#include "oas/planning/horizon/detail/horizon_bounds.hpp"
#include "support/random_models.hpp"

/// The parts of the planner for a horizon.
namespace oas::detail {
namespace {

Eigen::VectorXd random_belief(Rng& rng, double zeros = 0.0) {
  const std::vector<double> row = test::random_rows(1, 4, 0.6, zeros, rng);
  return VectorView(row.data(), 4);
}

Eigen::MatrixXd random_vectors(int count, Rng& rng) {
  Eigen::MatrixXd vectors(4, count);
  for (Eigen::Index i = 0; i < vectors.size(); ++i) vectors.data()[i] = rng.uniform() * 4.0 - 2.0;
  return vectors;
}

TEST(UpperBounds, LieAboveTheConvexFunctionAndMeetItAtThePoints) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng({seed, 0, Role::policy});
    const Eigen::MatrixXd vectors = random_vectors(6, rng);
    const auto convex = [&](const Eigen::VectorXd& x) {
      return (vectors.transpose() * x).maxCoeff();
    };
    // One vector above all others, as coarse as the informed bound can be.
    const Eigen::MatrixXd above = (vectors.rowwise().maxCoeff().array() + 0.5).matrix();
    UpperBound bound(above);
    std::vector<Eigen::VectorXd> probes;
    for (int i = 0; i < 60; ++i) probes.push_back(random_belief(rng, 0.3));
    std::vector<double> before(probes.size(), 1e300);
    for (int i = 0; i < 100; ++i) {
      Eigen::VectorXd point = random_belief(rng, 0.3);
      if (i >= 50 && i < 54) point = Eigen::VectorXd::Unit(4, i - 50);
      bound.add(point, convex(point));
      EXPECT_NEAR(bound.value(point.data()), convex(point), 1e-12);
      for (std::size_t k = 0; k < probes.size(); ++k) {
        const double now = bound.value(probes[k].data());
        EXPECT_GE(now, convex(probes[k]) - 1e-12);
        EXPECT_LE(now, before[k] + 1e-12);  // also where points are dropped
        before[k] = now;
        const Eigen::VectorXd half = 0.5 * probes[k];
        EXPECT_NEAR(bound.value(half.data()), 0.5 * now, 1e-12);
      }
    }
    EXPECT_LT(bound.size(), 100U);  // corners are no points
  }
}

TEST(UpperBounds, ABetterValueAtTheSamePointReplacesTheOld) {
  UpperBound bound(Eigen::MatrixXd::Constant(4, 1, 1.0));
  const Eigen::VectorXd middle = Eigen::VectorXd::Constant(4, 0.25);
  for (int i = 1; i <= 40; ++i) bound.add(middle, 1.0 - 0.01 * i);
  EXPECT_NEAR(bound.value(middle.data()), 0.6, 1e-12);
  EXPECT_LT(bound.size(), 32U);
}

TEST(LowerBounds, AreTheLargestOfAllPlansAndForgetTheDominated) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng({seed, 1, Role::policy});
    const Eigen::MatrixXd vectors = random_vectors(40, rng);
    LowerBound bound;
    for (Eigen::Index k = 0; k < vectors.cols(); ++k) {
      EXPECT_EQ(bound.add({vectors.col(k), static_cast<int>(k), {}}), k);
      for (int i = 0; i < 20; ++i) {
        const Eigen::VectorXd x = random_belief(rng);
        Eigen::Index best = 0;
        const double value = (vectors.leftCols(k + 1).transpose() * x).maxCoeff(&best);
        EXPECT_NEAR(bound.best(x.data()).value, value, 1e-12);
        EXPECT_EQ(bound.best(x.data()).plan, best);
      }
    }
    const std::size_t size = bound.size();
    bound.add({vectors.col(3).array() - 1.0, 0, {}});  // nowhere better
    EXPECT_EQ(bound.size(), size);
    bound.add({vectors.rowwise().maxCoeff(), 0, {}});  // everywhere
    EXPECT_EQ(bound.size(), 1U);
    EXPECT_EQ(bound.plan(3).alpha, vectors.col(3));  // still named by others
  }
}

TEST(BranchesOfAStep, AreThoseOfTheJointKernel) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    test::RandomModelOptions options;
    options.num_states = 4;
    options.timing = timing;
    options.zero_fraction = 0.3;
    const Pomdp model = test::random_model(options, 3);
    const std::vector<double> kernel = joint_kernel(model, model.transition());
    const Branches branches(model);
    Rng rng({1, 2, Role::policy});
    const Eigen::VectorXd belief = random_belief(rng);
    const Eigen::MatrixXd future = random_vectors(model.num_observations(), rng);
    for (int a = 0; a < model.num_actions(); ++a) {
      Eigen::MatrixXd next;
      branches.follow(belief.data(), a, next);
      Eigen::VectorXd expected = Eigen::VectorXd::Zero(4);
      for (int o = 0; o < model.num_observations(); ++o) {
        const MatrixView k(kernel.data() + (a * model.num_observations() + o) * 16, 4, 4);
        EXPECT_LT((next.col(o) - k.transpose() * belief).norm(), 1e-14);
        expected += k * future.col(o);
      }
      EXPECT_LT((branches.expect(a, future) - expected).norm(), 1e-14);
    }
  }
}

}  // namespace
}  // namespace oas::detail
