#include "oas/study/statistics.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "oas/core/contracts.hpp"

namespace oas {
namespace {

TEST(Statistics, StudentIntervalByHand) {
  // Mean 3, s² = 2.5, t_4(0.975) = 2.776445.
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const MeanInterval interval = student_interval(values);
  EXPECT_DOUBLE_EQ(interval.mean, 3.0);
  EXPECT_NEAR(interval.upper - 3.0, 2.7764451052 * std::sqrt(0.5), 1e-8);
  EXPECT_NEAR(3.0 - interval.lower, 2.7764451052 * std::sqrt(0.5), 1e-8);
  EXPECT_EQ(interval.count, 5);
}

TEST(Statistics, OneValueHasNoInterval) {
  const std::vector<double> one = {2.0};
  EXPECT_TRUE(std::isnan(student_interval(one).lower));
  EXPECT_DOUBLE_EQ(student_interval(one).mean, 2.0);
  EXPECT_THROW(static_cast<void>(student_interval({})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(student_interval(one, 1.0)), InvalidArgument);
}

TEST(Statistics, BootstrapLeansTowardsTheTail) {
  const std::vector<double> skewed = {1, 1.1, 1.2, 1.3, 1.1, 1.2, 1.4, 9};
  Rng rng({1, 0, Role::bootstrap});
  const MeanInterval boot = bootstrap_interval(skewed, 0.95, 4000, rng);
  const MeanInterval student = student_interval(skewed);
  EXPECT_DOUBLE_EQ(boot.mean, student.mean);
  EXPECT_GT(boot.upper, student.upper);
  EXPECT_GT(boot.lower, student.lower);
  // Two values but for one: resamples without it would put the end at some thousands.
  const std::vector<double> outlier = {1, 1.0001, 1, 1.0001, 1, 1.0001, 1, 1.0001, 1, 9};
  const MeanInterval cut = bootstrap_interval(outlier, 0.95, 4000, rng);
  EXPECT_EQ(cut.upper, 9.0);
  EXPECT_GE(cut.lower, 1.0);
  const std::vector<double> equal(8, 2.0);
  EXPECT_DOUBLE_EQ(bootstrap_interval(equal, 0.95, 4000, rng).upper, 2.0);
}

TEST(Statistics, SlopeOfAPowerIsItsExponent) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 1; i < 9; ++i) {
    x.push_back(i * 10.0);
    y.push_back(3.0 * std::pow(i * 10.0, -0.7));
  }
  EXPECT_NEAR(log_log_slope(x, y).value(), -0.7, 1e-12);
  y[3] = -1.0;  // not positive: left out
  EXPECT_NEAR(log_log_slope(x, y).value(), -0.7, 1e-12);
  const std::vector<double> same = {2, 2};
  EXPECT_FALSE(log_log_slope(same, same).has_value());
}

TEST(Statistics, Median) {
  EXPECT_DOUBLE_EQ(median(std::vector<double>{3, 1, 2}), 2.0);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace oas
