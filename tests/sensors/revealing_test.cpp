#include "oas/sensors/revealing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::HasSubstr;

TEST(Revealing, PerfectSensorsHaveAlphaOne) {
  const ObservationModel sensors(2, 1, 2, {1.0, 0.0, 0.0, 1.0});
  const SensorReport report = analyse_sensors(sensors);
  EXPECT_DOUBLE_EQ(report.alpha, 1.0);
  EXPECT_TRUE(report.revealing());
  EXPECT_TRUE(report.blind_actions().empty());
}

// Z = [1-e, e; e, 1-e] has singular values 1 and 1 - 2e.
TEST(Revealing, BinarySymmetricChannel) {
  const ObservationModel sensors(2, 2, 2, {0.9, 0.1, 0.1, 0.9, 0.7, 0.3, 0.3, 0.7});
  const SensorReport report = analyse_sensors(sensors);
  ASSERT_EQ(report.actions.size(), 2U);
  EXPECT_NEAR(report.actions[0].singular_values[0], 1.0, 1e-14);
  EXPECT_NEAR(report.actions[0].singular_values[1], 0.8, 1e-14);
  EXPECT_NEAR(report.actions[0].alpha, 0.8, 1e-14);
  EXPECT_NEAR(report.alpha, 0.4, 1e-14);
  EXPECT_EQ(report.weakest, Action{1});
  EXPECT_EQ(report.brief(), "alpha 0.4 (action 1)");
}

TEST(Revealing, BlindSensorIsReportedWithAlphaExactlyZero) {
  // Action 1 shows three states as mixtures of two: rank 2, and rounding may not hide it.
  const ObservationModel sensors(3, 2, 3,
                                 {0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.8,  //
                                  0.7, 0.2, 0.1, 0.1, 0.3, 0.6, 0.4, 0.25, 0.35});
  const SensorReport report = analyse_sensors(sensors);
  EXPECT_EQ(report.alpha, 0.0);
  EXPECT_EQ(report.actions[1].rank, 2);
  EXPECT_FALSE(report.revealing());
  EXPECT_THAT(report.blind_actions(), testing::ElementsAre(Action{1}));
  EXPECT_THAT(report.brief(), HasSubstr("1 of 2 actions do not tell all 3 states apart"));
}

TEST(Revealing, FewerObservationsThanStates) {
  const SensorReport report = analyse_sensors({3, 1, 2, {0.9, 0.1, 0.5, 0.5, 0.1, 0.9}});
  EXPECT_EQ(report.alpha, 0.0);
  EXPECT_EQ(report.actions[0].singular_values.size(), 2U);
  EXPECT_FALSE(report.revealing());
}

TEST(Revealing, NothingAnalysedNothingClaimed) {
  EXPECT_FALSE(SensorReport{}.revealing());
  EXPECT_EQ(SensorReport{}.brief(), "sensors not analysed");
  EXPECT_THROW(static_cast<void>(analyse_sensors(ObservationModel())), InvalidArgument);
}

// σ_S(Z_a ⊗ Z_b) = σ_S(Z_a) σ_S(Z_b): what makes α² out of pairs of observations.
RC_GTEST_PROP(Revealing, PairsOfSensorsMultiply, ()) {
  test::RandomModelOptions options;
  options.num_states = 3;
  options.num_actions = 2;
  options.num_observations = 4;
  const Pomdp model = test::random_model(options, test::any_seed());
  const auto z = [&](int a) { return model.sensors().matrix(Action{a}); };
  Eigen::MatrixXd product(16, 9);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 3; ++j) product.block(4 * i, 3 * j, 4, 3) = z(0)(i, j) * z(1);
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(product);
  const SensorReport report = analyse_sensors(model.sensors());
  const double expected = report.actions[0].alpha * report.actions[1].alpha;
  RC_ASSERT(std::abs(svd.singularValues()(8) - expected) < 1e-12);
  RC_ASSERT(report.alpha <= 1.0);
}

}  // namespace
}  // namespace oas
