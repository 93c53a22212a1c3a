#include "oas/core/sampling.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "oas/core/contracts.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

// The tables themselves, so that probabilities can be added up instead of sampled.
template <auto Member>
struct Reveal {
  friend auto& cells_of(const AliasTables& tables) { return tables.*Member; }
};
auto& cells_of(const AliasTables& tables);
template struct Reveal<&AliasTables::cells_>;

using testing::HasSubstr;
using testing::StrEq;
using testing::ThrowsMessage;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Rng make_rng(std::uint64_t seed) { return Rng({seed, 0, Role::test}); }

// P(outcome) in one row, exactly as sample() draws: a column, then its keep in units of 2^-64.
std::vector<double> row_probabilities(const AliasTables& tables, int row, int width) {
  std::vector<double> probabilities(static_cast<std::size_t>(width), 0.0);
  for (int column = 0; column < width; ++column) {
    const auto& cell = cells_of(tables)[static_cast<std::size_t>(row * width + column)];
    const double keep = static_cast<double>(cell.keep) * 0x1.0p-64;
    probabilities.at(static_cast<std::size_t>(cell.outcome[1])) += keep / width;
    probabilities.at(static_cast<std::size_t>(cell.outcome[0])) += (1.0 - keep) / width;
  }
  return probabilities;
}

// Weights over many orders of magnitude, some of them zero.
std::vector<double> wild_weights(int count, Rng& rng) {
  std::vector<double> weights(static_cast<std::size_t>(count));
  for (double& weight : weights) {
    weight = rng.uniform() < 0.3 ? 0.0 : std::pow(10.0, 30.0 * rng.uniform() - 15.0);
  }
  weights[rng.below(static_cast<std::uint32_t>(count))] = 1.0;
  return weights;
}

RC_GTEST_PROP(AliasTables, CellsAddUpToTheWeights, ()) {
  const int width = *rc::gen::inRange(1, 40).as("width");
  const int rows = *rc::gen::inRange(1, 5).as("rows");
  Rng rng = make_rng(test::any_seed());
  std::vector<double> weights;
  for (int row = 0; row < rows; ++row) {
    const auto more = wild_weights(width, rng);
    weights.insert(weights.end(), more.begin(), more.end());
  }
  const AliasTables tables(weights, width);
  for (int row = 0; row < rows; ++row) {
    const auto first = weights.begin() + row * width;
    const double sum = std::accumulate(first, first + width, 0.0);
    const auto probabilities = row_probabilities(tables, row, width);
    for (int i = 0; i < width; ++i) {
      const double expected = first[i] / sum;
      const double found = probabilities[static_cast<std::size_t>(i)];
      RC_ASSERT(std::abs(found - expected) < 1e-14);
      if (first[i] == 0.0) RC_ASSERT(found == 0.0);
    }
  }
}

// The smallest normal weights and the smallest of all: the scale must not overflow.
TEST(AliasTables, TinyWeightsAreWeights) {
  for (const double unit : {1e-200, 1e-307, 1e-310, std::numeric_limits<double>::denorm_min()}) {
    const AliasTables tables(std::vector{unit, 0.0, 3.0 * unit, 0.0}, 4);
    const auto probabilities = row_probabilities(tables, 0, 4);
    EXPECT_NEAR(probabilities[0], 0.25, 1e-12) << unit;
    EXPECT_EQ(probabilities[1], 0.0) << unit;
    EXPECT_NEAR(probabilities[2], 0.75, 1e-12) << unit;
    EXPECT_EQ(probabilities[3], 0.0) << unit;
  }
}

TEST(AliasTables, SampleReadsTheTableWithOneDraw) {
  Rng rng = make_rng(3);
  const AliasTables tables(std::vector{0.0, 1.0, 0.0, 1.0, 0.0, 0.0}, 3);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(tables.sample(0, rng), 1);
    ASSERT_EQ(tables.sample(1, rng), 0);
  }
  EXPECT_EQ(rng.position(), 2000U);
}

TEST(AliasTables, RowsMayListTheirOutcomes) {
  Rng rng = make_rng(4);
  const AliasTables tables(std::vector{2.0, 1.0, 3.0, 5.0}, std::vector{7, 9, 4, 0}, {0, 3, 4});
  std::vector<int> counts(10);
  for (int i = 0; i < 60'000; ++i) {
    ++counts[static_cast<std::size_t>(tables.sample(0, rng))];
    ASSERT_EQ(tables.sample(1, rng), 0);
  }
  EXPECT_EQ(rng.position(), 120'000U);
  EXPECT_NEAR(counts[7], 20'000, 700);  // 6 standard errors
  EXPECT_NEAR(counts[9], 10'000, 550);
  EXPECT_EQ(counts[7] + counts[9] + counts[4], 60'000);
}

TEST(AliasTables, ErrorsNameTheValues) {
  EXPECT_THAT(
      [] {
        AliasTables(std::vector{1.0}, std::vector{0}, {0, 1, 1});
      },
      ThrowsMessage<InvalidArgument>(StrEq("row 1 has no outcome")));
  EXPECT_THAT(
      [] {
        AliasTables(std::vector{1.0, 2.0, 3.0}, 2);
      },
      ThrowsMessage<InvalidArgument>(StrEq("3 weights are not rows of 2")));
  EXPECT_THAT([] { AliasTables(std::vector{1.0}, 0); },
              ThrowsMessage<InvalidArgument>(StrEq("1 weights are not rows of 0")));
  EXPECT_THAT(
      [] {
        AliasTables(std::vector{1.0, 0.0, 0.0, 0.0}, 2);
      },
      ThrowsMessage<InvalidArgument>(StrEq("categorical weights sum to 0")));
  EXPECT_THAT(
      [] {
        AliasTables(std::vector{1.0, -0.5}, 2);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("categorical weight 1 is -0.5")));
}

// Inversion: the smallest index whose cumulative weight exceeds u times the sum.
RC_GTEST_PROP(Categorical, InvertsTheCumulativeWeights, ()) {
  const int width = *rc::gen::inRange(1, 30).as("width");
  Rng rng = make_rng(test::any_seed());
  const std::vector<double> weights = wild_weights(width, rng);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (int draw = 0; draw < 50; ++draw) {
    const double target = Rng(rng.key(), rng.position()).uniform() * sum;
    const int index = sample_categorical(weights, rng);
    RC_ASSERT(index >= 0 && index < width);
    RC_ASSERT(weights[static_cast<std::size_t>(index)] > 0.0);
    const double below = std::accumulate(weights.begin(), weights.begin() + index, 0.0);
    const double above = below + weights[static_cast<std::size_t>(index)];
    RC_ASSERT(below <= target + 1e-12 * sum);
    RC_ASSERT(above >= target - 1e-12 * sum);
  }
}

// Rounding can leave a sliver behind the last positive weight, here for every second draw; it must
// not fall to the zero that follows.
TEST(Categorical, SliverNeverGoesToAZero) {
  Rng rng = make_rng(11);
  const std::vector<double> weights{0.0, std::numeric_limits<double>::denorm_min(), 0.0};
  for (int i = 0; i < 100; ++i) ASSERT_EQ(sample_categorical(weights, rng), 1);
}

TEST(Categorical, TakesOneDraw) {
  Rng rng = make_rng(4);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(sample_categorical(std::vector{0.0, 0.2, 0.0}, rng), 1);
  EXPECT_EQ(rng.position(), 10U);
}

TEST(Categorical, ErrorsNameTheValues) {
  Rng rng = make_rng(5);
  const auto message = [&](std::vector<double> weights, const char* text) {
    EXPECT_THAT([&] { sample_categorical(weights, rng); },
                ThrowsMessage<InvalidArgument>(HasSubstr(text)));
  };
  message({}, "categorical weights sum to 0");
  message({0.0, 0.0}, "categorical weights sum to 0");
  message({1.0, kNaN}, "categorical weight 1 is nan; weights must be finite and not negative");
  message({kInfinity}, "categorical weight 0 is inf");
  message({2.0, -1.0}, "categorical weight 1 is -1");
}

TEST(Gamma, ErrorsNameTheShape) {
  Rng rng = make_rng(6);
  for (const double shape : {0.0, -1.0, kNaN, kInfinity}) {
    EXPECT_THAT([&] { sample_gamma(shape, rng); },
                ThrowsMessage<InvalidArgument>(HasSubstr(fmt::format("gamma shape is {}", shape))));
  }
}

TEST(Gamma, IsPositiveAndFiniteForExtremeShapes) {
  Rng rng = make_rng(7);
  for (const double shape : {1e-300, 1e-5, 0.999999, 1.0, 1e6, 1e15}) {
    for (int i = 0; i < 200; ++i) {
      const double x = sample_gamma(shape, rng);
      ASSERT_TRUE(std::isfinite(x) && x >= 0.0) << shape;
    }
  }
}

TEST(Dirichlet, ErrorsNameTheValues) {
  Rng rng = make_rng(8);
  std::vector<double> out(2);
  EXPECT_THAT([&] { sample_dirichlet(std::vector{1.0}, out, rng); },
              ThrowsMessage<InvalidArgument>(StrEq("Dirichlet: 1 concentrations for 2 values")));
  EXPECT_THAT([&] { sample_dirichlet({}, {}, rng); },
              ThrowsMessage<InvalidArgument>(StrEq("Dirichlet: 0 concentrations for 0 values")));
  EXPECT_THAT(
      [&] {
        sample_dirichlet(std::vector{1.0, 0.0}, out, rng);
      },
      ThrowsMessage<InvalidArgument>(StrEq("Dirichlet concentration 1 is 0; it must be positive")));
}

void expect_points_of_the_simplex(double concentration) {
  Rng rng = make_rng(9);
  const std::vector<double> concentrations{concentration, concentration, 2.0 * concentration};
  std::vector<double> out(3);
  for (int i = 0; i < 2000; ++i) {
    sample_dirichlet(concentrations, out, rng);
    ASSERT_NEAR(out[0] + out[1] + out[2], 1.0, 1e-12) << concentration;
    ASSERT_GE(*std::min_element(out.begin(), out.end()), 0.0) << concentration;
  }
}

TEST(Dirichlet, IsAlwaysAPointOfTheSimplex) {
  for (const double concentration : {1e-300, 1e-100, 1e-8, 1e-3, 0.1, 1.0, 1e3, 1e12}) {
    expect_points_of_the_simplex(concentration);
  }
}

// Any positive number is allowed, and "the result is always a point of the simplex".
TEST(Dirichlet, EvenForSubnormalConcentrations) { expect_points_of_the_simplex(1e-310); }

}  // namespace
}  // namespace oas
