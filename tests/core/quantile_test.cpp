#include "oas/core/quantile.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "oas/core/rng.hpp"

namespace oas {
namespace {

TEST(Quantile, IsInterpolatedBetweenNeighbours) {
  const std::vector<double> sorted = {1.0, 2.0, 4.0};
  EXPECT_EQ(sorted_quantile(sorted, 0.0), 1.0);
  EXPECT_EQ(sorted_quantile(sorted, 0.5), 2.0);
  EXPECT_EQ(sorted_quantile(sorted, 0.75), 3.0);
  EXPECT_EQ(sorted_quantile(sorted, 1.0), 4.0);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sorted_quantile(std::vector{1.0, infinity, infinity}, 0.75), infinity);
}

TEST(Quantile, TheKthOfNDrawsHasItsShareOfNPlusOneBelow) {
  std::vector<double> sorted;
  for (int k = 1; k <= 39; ++k) sorted.push_back(k);
  EXPECT_DOUBLE_EQ(limit_of_draws(sorted, 0.025), 1.0);
  EXPECT_DOUBLE_EQ(limit_of_draws(sorted, 0.5), 20.0);
  EXPECT_DOUBLE_EQ(limit_of_draws(sorted, 0.9), 36.0);
  EXPECT_DOUBLE_EQ(limit_of_draws(sorted, 0.975), 39.0);
  EXPECT_EQ(limit_of_draws(sorted, 0.001), 1.0);  // no draw is farther out
  EXPECT_EQ(limit_of_draws(sorted, 0.999), 39.0);
  EXPECT_EQ(limit_of_draws(std::vector{7.0}, 0.025), 7.0);
}

// 40,000 times 79 draws and one more: 5 standard deviations. Quantiles would hold 92.5 %.
TEST(Quantile, LimitsOfFewDrawsHoldAFurtherOne) {
  Rng rng({5, 0, Role::bootstrap});
  constexpr int kTimes = 40'000;
  std::vector<double> draws(79);
  int held = 0;
  for (int i = 0; i < kTimes; ++i) {
    for (double& draw : draws) draw = rng.uniform();
    std::sort(draws.begin(), draws.end());
    const double next = rng.uniform();
    held += limit_of_draws(draws, 0.025) <= next && next <= limit_of_draws(draws, 0.975);
  }
  EXPECT_NEAR(static_cast<double>(held) / kTimes, 0.95, 0.0055);
}

}  // namespace
}  // namespace oas
