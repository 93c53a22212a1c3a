#include "oas/planning/grid/belief_grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

std::vector<double> random_belief(int num_states, Rng& rng) {
  std::vector<double> belief(static_cast<std::size_t>(num_states));
  sample_dirichlet(std::vector<double>(belief.size(), 0.5), belief, rng);
  return belief;
}

TEST(BeliefGrid, SizesAreBinomials) {
  EXPECT_EQ(BeliefGrid(3, 50).size(), 1326U);
  EXPECT_EQ(BeliefGrid(4, 50).size(), 23426U);
  EXPECT_EQ(BeliefGrid(5, 20).size(), 10626U);
  EXPECT_EQ(BeliefGrid(2, 7).size(), 8U);
  EXPECT_EQ(BeliefGrid(1, 7).size(), 1U);
  EXPECT_EQ(BeliefGrid(64, 1).size(), 64U);
}

TEST(BeliefGrid, RefusesWhatDoesNotFitAndNamesTheSize) {
  try {
    BeliefGrid grid(20, 50);
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("resolution 50 over 20 states has 4.625e+16"));
  }
  EXPECT_THROW(BeliefGrid(3, 0), InvalidArgument);
  EXPECT_THROW(BeliefGrid(0, 3), InvalidArgument);
}

TEST(BeliefGrid, RankAndUnrankAreInverse) {
  for (const auto& [num_states, resolution] :
       {std::pair{1, 3}, {2, 9}, {3, 12}, {4, 7}, {6, 5}, {12, 3}}) {
    const BeliefGrid grid(num_states, resolution);
    std::vector<int> counts(static_cast<std::size_t>(num_states));
    std::set<std::vector<int>> seen;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      grid.unrank(i, counts);
      EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), resolution);
      EXPECT_GE(*std::min_element(counts.begin(), counts.end()), 0);
      EXPECT_EQ(grid.rank(counts), i);
      seen.insert(counts);
    }
    EXPECT_EQ(seen.size(), grid.size());
  }
}

// p · (m/p) may be one rounding above m, for fine grids more than any fixed tolerance.
TEST(BeliefGrid, PrefixSumsOneRoundingAboveTheEndAreTheEnd) {
  for (const int resolution : {50, 9000, 1'000'000}) {
    const BeliefGrid grid(2, resolution);
    const auto m = static_cast<double>(resolution);
    double prefix = std::nextafter(m, 2.0 * m);
    std::array<std::uint32_t, 2> indices{};
    std::array<double, 2> weights{};
    ASSERT_EQ(grid.interpolate_prefix<2>(&prefix, indices.data(), weights.data()), 1);
    EXPECT_EQ(indices[0], static_cast<std::uint32_t>(resolution));
    EXPECT_EQ(weights[0], 1.0);
  }
}

TEST(BeliefGrid, CornersAreCertainties) {
  const BeliefGrid grid(4, 6);
  std::vector<double> belief(4);
  for (int s = 0; s < 4; ++s) {
    grid.point(grid.corner(s), belief);
    EXPECT_EQ(belief[static_cast<std::size_t>(s)], 1.0);
  }
}

TEST(BeliefGrid, GridPointsAreTheirOwnCell) {
  for (const auto& [num_states, resolution] : {std::pair{2, 1000}, {3, 50}, {5, 9}, {9, 4}}) {
    const BeliefGrid grid(num_states, resolution);
    std::vector<double> belief(static_cast<std::size_t>(num_states));
    std::array<std::uint32_t, kMaxGridStates> indices;
    std::array<double, kMaxGridStates> weights;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      grid.point(i, belief);
      ASSERT_EQ(grid.interpolate(belief, indices.data(), weights.data()), 1);
      EXPECT_EQ(indices[0], i);
      EXPECT_EQ(weights[0], 1.0);
    }
  }
}

// Barycentric: positive weights that sum to 1 and give the belief back, on vertices that differ
// from each other by at most one step in each prefix sum (the cell is a Freudenthal simplex).
RC_GTEST_PROP(BeliefGridProperty, InterpolationIsBarycentric, ()) {
  const int num_states = *rc::gen::inRange(1, 13).as("states");
  const int resolution = *rc::gen::inRange(1, num_states <= 4 ? 60 : 6).as("resolution");
  const BeliefGrid grid(num_states, resolution);
  Rng rng({test::any_seed(), 0, Role::test});
  const std::vector<double> belief = random_belief(num_states, rng);
  std::array<std::uint32_t, kMaxGridStates> indices;
  std::array<double, kMaxGridStates> weights;
  const int count = grid.interpolate(belief, indices.data(), weights.data());
  RC_ASSERT(count >= 1 && count <= num_states);
  std::vector<double> sum(belief.size(), 0.0);
  std::vector<double> vertex(belief.size());
  double total = 0.0;
  for (int k = 0; k < count; ++k) {
    RC_ASSERT(weights[k] > 0.0);
    RC_ASSERT(indices[k] < grid.size());
    grid.point(indices[k], vertex);
    double prefix_vertex = 0.0;
    double prefix_belief = 0.0;
    for (std::size_t s = 0; s < sum.size(); ++s) {
      sum[s] += weights[k] * vertex[s];
      prefix_vertex += vertex[s];
      prefix_belief += belief[s];
      RC_ASSERT(std::abs(prefix_vertex - prefix_belief) * resolution < 1.0 + 1e-9);
    }
    total += weights[k];
  }
  RC_ASSERT(std::abs(total - 1.0) < 1e-12);
  for (std::size_t s = 0; s < sum.size(); ++s) RC_ASSERT(std::abs(sum[s] - belief[s]) < 1e-11);
}

TEST(BeliefGrid, FixedSizesGiveTheSameCells) {
  const BeliefGrid grid(3, 50);
  Rng rng({7, 0, Role::test});
  std::array<std::uint32_t, kMaxGridStates> indices;
  std::array<std::uint32_t, kMaxGridStates> fixed_indices;
  std::array<double, kMaxGridStates> weights;
  std::array<double, kMaxGridStates> fixed_weights;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<double> belief = random_belief(3, rng);
    std::array<double, 3> prefix = {50 * belief[0], 50 * (belief[0] + belief[1]), 0.0};
    const int count = grid.interpolate(belief, indices.data(), weights.data());
    ASSERT_EQ(grid.interpolate_prefix<3>(prefix.data(), fixed_indices.data(), fixed_weights.data()),
              count);
    for (int k = 0; k < count; ++k) {
      EXPECT_EQ(indices[k], fixed_indices[k]);
      EXPECT_EQ(weights[k], fixed_weights[k]);
    }
  }
}

// A convex function is over-estimated everywhere: what makes the gain an upper bound.
TEST(BeliefGrid, InterpolationOverestimatesConvexFunctions) {
  Rng rng({11, 0, Role::test});
  for (const auto& [num_states, resolution] : {std::pair{2, 5}, {3, 4}, {5, 3}, {8, 2}}) {
    const BeliefGrid grid(num_states, resolution);
    std::vector<std::vector<double>> planes(6, std::vector<double>(num_states));
    for (auto& plane : planes) {
      for (double& value : plane) value = rng.uniform();
    }
    const auto convex = [&](const std::vector<double>& b) {
      double best = -1e9;
      for (const auto& plane : planes) {
        best = std::max(best, std::inner_product(b.begin(), b.end(), plane.begin(), 0.0));
      }
      return best;
    };
    std::array<std::uint32_t, kMaxGridStates> indices;
    std::array<double, kMaxGridStates> weights;
    for (int i = 0; i < 300; ++i) {
      const std::vector<double> belief = random_belief(num_states, rng);
      std::vector<double> vertex(belief.size());
      double interpolated = 0.0;
      const int count = grid.interpolate(belief, indices.data(), weights.data());
      for (int k = 0; k < count; ++k) {
        grid.point(indices[k], vertex);
        interpolated += weights[k] * convex(vertex);
      }
      EXPECT_GE(interpolated, convex(belief) - 1e-12);
    }
  }
}

}  // namespace
}  // namespace oas
