#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "oas/core/sampling.hpp"
#include "support/chi_square.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

using test::chi_square_p_value;
using test::kFailureProbability;
using test::kolmogorov_smirnov_p_value;
using test::uniformity_p_value;

Rng make_rng(std::uint64_t seed) { return Rng({seed, 0, Role::test}); }

template <class Draw>
std::vector<double> draws(std::size_t count, Draw draw) {
  std::vector<double> values(count);
  std::generate(values.begin(), values.end(), draw);
  return values;
}

const std::vector<std::vector<double>> kWeights = {
    {1.0, 1.0},
    {0.0, 1.0, 0.0, 2.0, 0.0},
    {1e-9, 1.0, 1e-3, 0.0},
    {1e300, 2e300, 3e300},
    {1e-300, 2e-300, 3e-300},
    {0.1, 0.2, 0.05, 0.25, 0.15, 0.12, 0.13},
};

TEST(CategoricalStatistics, FrequenciesMatchTheWeights) {
  for (std::size_t k = 0; k < kWeights.size(); ++k) {
    Rng rng = make_rng(10 + k);
    std::vector<std::int64_t> counts(kWeights[k].size(), 0);
    for (int i = 0; i < 300'000; ++i) {
      ++counts[static_cast<std::size_t>(sample_categorical(kWeights[k], rng))];
    }
    EXPECT_GT(chi_square_p_value(counts, kWeights[k]), kFailureProbability) << k;
  }
}

TEST(AliasStatistics, FrequenciesMatchTheWeights) {
  for (std::size_t k = 0; k < kWeights.size(); ++k) {
    Rng rng = make_rng(20 + k);
    const AliasTables tables(kWeights[k], static_cast<int>(kWeights[k].size()));
    std::vector<std::int64_t> counts(kWeights[k].size(), 0);
    for (int i = 0; i < 300'000; ++i) ++counts[static_cast<std::size_t>(tables.sample(0, rng))];
    EXPECT_GT(chi_square_p_value(counts, kWeights[k]), kFailureProbability) << k;
  }
}

TEST(AliasStatistics, EveryRowIsItsOwnDistribution) {
  constexpr int kRows = 6;
  constexpr int kWidth = 11;
  Rng setup = make_rng(30);
  const auto weights = test::random_rows(kRows, kWidth, 0.5, 0.3, setup);
  const AliasTables tables(weights, kWidth);
  Rng rng = make_rng(31);
  std::vector<std::int64_t> counts(kRows * kWidth, 0);
  for (int i = 0; i < 600'000; ++i) {
    const int row = i % kRows;
    ++counts[static_cast<std::size_t>(row * kWidth + tables.sample(row, rng))];
  }
  for (std::size_t row = 0; row < kRows; ++row) {
    EXPECT_GT(chi_square_p_value(std::span(counts).subspan(row * kWidth, kWidth),
                                 std::span(weights).subspan(row * kWidth, kWidth)),
              kFailureProbability)
        << row;
  }
}

TEST(NormalStatistics, MatchesTheNormalDistributionIncludingTails) {
  Rng rng = make_rng(40);
  const auto values = draws(1'000'000, [&] { return sample_normal(rng); });
  const boost::math::normal normal;
  const auto cdf = [&](double x) { return boost::math::cdf(normal, x); };
  EXPECT_GT(kolmogorov_smirnov_p_value(values, cdf), kFailureProbability);
  EXPECT_GT(uniformity_p_value(values, cdf, 1000), kFailureProbability);
  const std::vector<double> edges{-4.0, -3.0, -2.0, 2.0, 3.0, 4.0};
  std::vector<std::int64_t> counts(edges.size() + 1, 0);
  std::vector<double> probabilities(edges.size() + 1);
  for (const double x : values) {
    ++counts[static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), x) -
                                      edges.begin())];
  }
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    probabilities[i] = (i < edges.size() ? cdf(edges[i]) : 1.0) - (i > 0 ? cdf(edges[i - 1]) : 0.0);
  }
  EXPECT_GT(chi_square_p_value(counts, probabilities), kFailureProbability);
}

TEST(NormalStatistics, ConsecutiveValuesAreIndependent) {
  Rng rng = make_rng(41);
  std::vector<std::int64_t> counts(4, 0);
  for (int i = 0; i < 500'000; ++i) {
    const bool first = sample_normal(rng) > 0.0;
    const bool second = sample_normal(rng) > 0.0;
    ++counts[2U * first + second];
  }
  EXPECT_GT(chi_square_p_value(counts, std::vector<double>(4, 1.0)), kFailureProbability);
}

TEST(GammaStatistics, MatchesTheGammaDistribution) {
  for (const double shape : {0.05, 0.3, 0.9, 1.0, 1.5, 3.0, 50.0, 1e4}) {
    Rng rng = make_rng(50 + static_cast<std::uint64_t>(10 * shape));
    const auto values = draws(50'000, [&] { return sample_gamma(shape, rng); });
    const boost::math::gamma_distribution<> gamma(shape, 1.0);
    const auto cdf = [&](double x) { return boost::math::cdf(gamma, x); };
    EXPECT_GT(uniformity_p_value(values, cdf, 100), kFailureProbability) << shape;
    EXPECT_GT(kolmogorov_smirnov_p_value(values, cdf), kFailureProbability) << shape;
  }
}

TEST(GammaStatistics, MeanAndVarianceAreTheShape) {
  for (const double shape : {0.2, 1.0, 7.5}) {
    Rng rng = make_rng(60 + static_cast<std::uint64_t>(10 * shape));
    constexpr int kDraws = 400'000;
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < kDraws; ++i) {
      const double x = sample_gamma(shape, rng) - shape;
      sum += x;
      squares += x * x;
    }
    // Five standard errors; the fourth central moment of Gamma(k) is 3k² + 6k.
    EXPECT_NEAR(sum / kDraws, 0.0, 5.0 * std::sqrt(shape / kDraws));
    EXPECT_NEAR(squares / kDraws, shape,
                5.0 * std::sqrt((2.0 * shape * shape + 6.0 * shape) / kDraws));
  }
}

// Half of all Gamma(0.001) draws lie below the smallest double: cells far below 1 tell them apart.
TEST(GammaStatistics, TinyShapeSpreadsOverAllOrdersOfMagnitude) {
  constexpr double kShape = 0.001;
  Rng rng = make_rng(70);
  const std::vector<double> edges{1e-300, 1e-250, 1e-200, 1e-100, 1e-50, 1e-10, 1e-3};
  const boost::math::gamma_distribution<> gamma(kShape, 1.0);
  std::vector<std::int64_t> counts(edges.size() + 1, 0);
  std::vector<double> probabilities;
  for (const double edge : edges) probabilities.push_back(boost::math::cdf(gamma, edge));
  probabilities.push_back(1.0);
  for (std::size_t i = probabilities.size() - 1; i > 0; --i)
    probabilities[i] -= probabilities[i - 1];
  for (int i = 0; i < 200'000; ++i) {
    const double x = sample_gamma(kShape, rng);
    ++counts[static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), x) -
                                      edges.begin())];
  }
  EXPECT_GT(chi_square_p_value(counts, probabilities), kFailureProbability);
}

TEST(DirichletStatistics, MarginalsAreBeta) {
  const std::vector<double> concentration{0.1, 0.5, 2.0, 8.0};
  const double total = 10.6;
  Rng rng = make_rng(80);
  std::vector<std::vector<double>> columns(concentration.size());
  std::vector<double> out(concentration.size());
  for (int i = 0; i < 30'000; ++i) {
    sample_dirichlet(concentration, out, rng);
    for (std::size_t k = 0; k < out.size(); ++k) columns[k].push_back(out[k]);
  }
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const boost::math::beta_distribution<> beta(concentration[k], total - concentration[k]);
    const auto cdf = [&](double x) { return boost::math::cdf(beta, std::min(x, 1.0)); };
    EXPECT_GT(kolmogorov_smirnov_p_value(columns[k], cdf), kFailureProbability) << k;
    EXPECT_GT(uniformity_p_value(columns[k], cdf, 100), kFailureProbability) << k;
  }
}

TEST(DirichletStatistics, CovarianceIsNegativeAsItShouldBe) {
  const std::vector<double> concentration{1.0, 2.0, 3.0};
  Rng rng = make_rng(81);
  std::vector<double> out(3);
  constexpr int kDraws = 200'000;
  double sum = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    sample_dirichlet(concentration, out, rng);
    sum += (out[0] - 1.0 / 6.0) * (out[2] - 0.5);
  }
  // -α_i α_j / (α² (α + 1)); each product is below 1/4 in size, and mostly below 0.1.
  EXPECT_NEAR(sum / kDraws, -3.0 / (36.0 * 7.0), 5.0 * 0.1 / std::sqrt(kDraws));
}

// As concentrations go to 0 a draw becomes a vertex, i with probability α_i / Σα.
TEST(DirichletStatistics, TinyConcentrationsPickAVertex) {
  const std::vector<double> concentration{1e-6, 2e-6, 3e-6};
  Rng rng = make_rng(82);
  std::vector<double> out(3);
  std::vector<std::int64_t> counts(3, 0);
  for (int i = 0; i < 100'000; ++i) {
    sample_dirichlet(concentration, out, rng);
    const auto largest = std::max_element(out.begin(), out.end());
    ++counts[static_cast<std::size_t>(largest - out.begin())];
  }
  EXPECT_GT(chi_square_p_value(counts, concentration), kFailureProbability);
}

}  // namespace
}  // namespace oas
