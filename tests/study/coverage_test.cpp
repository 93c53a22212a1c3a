#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <vector>

#include "oas/core/sampling.hpp"
#include "oas/study/statistics.hpp"

/// 95 % means 93 to 97 %: how often intervals from ten runs hold the true mean. With 20,000 tries
/// the standard error of the share is 0.0015, so a true 95 % leaves the window with probability
/// below 1e-30.
namespace oas {
namespace {

constexpr int kRuns = 10;

double coverage(int tries, double truth, const std::function<double(Rng&)>& draw,
                const std::function<MeanInterval(const std::vector<double>&)>& interval) {
  Rng rng({11, 0, Role::test});
  int inside = 0;
  std::vector<double> values(kRuns);
  for (int i = 0; i < tries; ++i) {
    for (double& value : values) value = draw(rng);
    const MeanInterval found = interval(values);
    inside += found.lower <= truth && truth <= found.upper ? 1 : 0;
  }
  return static_cast<double>(inside) / tries;
}

MeanInterval student(const std::vector<double>& values) { return student_interval(values); }

TEST(Coverage, StudentOnNormalValues) {
  const double share = coverage(
      20'000, 0.0, [](Rng& rng) { return sample_normal(rng); }, student);
  EXPECT_GT(share, 0.93);
  EXPECT_LT(share, 0.97);
}

// Errors of an estimator are norms: skewed a little.
TEST(Coverage, StudentOnNorms) {
  const auto norm = [](Rng& rng) {
    double squares = 0.0;
    for (int i = 0; i < 6; ++i) squares += std::pow(sample_normal(rng), 2);
    return std::sqrt(squares);
  };
  const double truth = std::sqrt(2.0) * std::tgamma(3.5) / std::tgamma(3.0);
  const double share = coverage(20'000, truth, norm, student);
  EXPECT_GT(share, 0.93);
  EXPECT_LT(share, 0.97);
}

// Where Student's interval is wrong the bootstrap's is right.
TEST(Coverage, BootstrapOnExponentialValues) {
  const auto draw = [](Rng& rng) { return sample_gamma(1.0, rng); };
  Rng resampling({12, 0, Role::bootstrap});
  const double boot = coverage(4'000, 1.0, draw, [&](const std::vector<double>& values) {
    return bootstrap_interval(values, 0.95, 400, resampling);
  });
  EXPECT_GT(boot, 0.93);
  EXPECT_LT(boot, 0.97);
  EXPECT_LT(coverage(20'000, 1.0, draw, student), 0.93);
}

// The exponent of a curve: points of one run depend on each other, so the interval is over runs.
TEST(Coverage, SlopesOverRuns) {
  const std::vector<double> x = {1, 2, 4, 8, 16};
  const auto slope = [&](Rng& rng) {
    std::vector<double> y;
    double common = sample_normal(rng);
    for (const double at : x) {
      common += 0.5 * sample_normal(rng);
      y.push_back(std::pow(at, -0.5) * std::exp(0.1 * common));
    }
    return log_log_slope(x, y).value();
  };
  const double share = coverage(20'000, -0.5, slope, student);
  EXPECT_GT(share, 0.93);
  EXPECT_LT(share, 0.97);
}

}  // namespace
}  // namespace oas
