#include "oas/sensors/density_family.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "support/random_densities.hpp"

namespace oas::test {
namespace {

using testing::HasSubstr;

std::vector<double> draws_of(const Density& density, int count, std::uint64_t seed) {
  Rng rng({seed, 0, Role::test});
  std::vector<double> sample;
  for (int i = 0; i < count; ++i)
    sample.push_back(density.from_uniform(0.5 * 0x1.0p-53 + rng.uniform()));
  return sample;
}

double log_likelihood(const Density& density, const std::vector<double>& sample) {
  double sum = 0.0;
  for (const double x : sample) sum += std::log(density(x));
  return sum;
}

TEST(DensityFamily, NormalsHaveMeanAndSpreadOfTheSample) {
  const std::vector<double> sample = {1.0, 2.0, 3.0, 4.0, 10.0};
  EXPECT_EQ(fit_density(DensityFamily::normal, sample, 1.0),
            Density::gaussian(4.0, std::sqrt(50.0 / 4.0)));
  std::vector<double> powers;
  for (const double x : sample) powers.push_back(std::exp(x));
  const Density logs = fit_density(DensityFamily::lognormal, powers, 1.0);
  EXPECT_NEAR(logs.parameters()[0], 4.0, 1e-12);
  EXPECT_NEAR(logs.parameters()[1], std::sqrt(50.0 / 4.0), 1e-12);
}

// No other parameters have a larger likelihood.
TEST(DensityFamily, GammaIsTheMaximum) {
  for (const double shape : {0.3, 2.0, 400.0}) {
    const auto sample = draws_of(Density::gamma(shape, 0.7), 200, 3);
    const Density fitted = fit_density(DensityFamily::gamma, sample, 0.0);
    const double best = log_likelihood(fitted, sample);
    for (const double by : {0.99, 1.01}) {
      const double k = fitted.parameters()[0];
      const double scale = fitted.parameters()[1];
      EXPECT_LT(log_likelihood(Density::gamma(by * k, scale), sample), best);
      EXPECT_LT(log_likelihood(Density::gamma(k, by * scale), sample), best);
      EXPECT_LT(log_likelihood(Density::gamma(k * by, scale / by), sample), best);
    }
  }
}

TEST(DensityFamily, MixturesFindTheirParts) {
  const Density truth =
      Density::mixture({0.3, 0.7}, {Density::gaussian(-2.0, 0.5), Density::gaussian(1.0, 1.0)});
  const auto sample = draws_of(truth, 2000, 5);
  const Density fitted = fit_density(DensityFamily::mixture, sample, 0.0);
  ASSERT_EQ(fitted.parts().size(), 2);
  EXPECT_GT(log_likelihood(fitted, sample), log_likelihood(truth, sample));
  for (const double x : {-3.0, -2.0, 0.0, 1.0, 3.0}) {
    EXPECT_NEAR(fitted(x), truth(x), 0.03) << x;
  }
}

TEST(DensityFamily, ThreePartsAreFoundWhereThereAreThree) {
  const Density truth = Density::mixture(
      {0.3, 0.4, 0.3},
      {Density::gaussian(-6.0, 0.5), Density::gaussian(0.0, 0.5), Density::gaussian(5.0, 0.5)});
  EXPECT_EQ(fit_density(DensityFamily::mixture, draws_of(truth, 300, 6), 0.0).parts().size(), 3);
}

// Readings that were rounded coincide; no part or kernel may close in on them.
TEST(DensityFamily, TiesGiveNoSpikes) {
  std::vector<double> sample(30, 1.0);
  for (int i = 0; i < 10; ++i) sample.push_back(2.0 + i % 3);
  const double resolution = resolution_of(sample);
  EXPECT_EQ(resolution, 1.0);
  for (const DensityFamily family : kDensityFamilies) {
    const Density fitted = fit_density(family, sample, resolution);
    EXPECT_LT(fitted(1.0), 2.0) << to_string(family);
  }
  EXPECT_EQ(resolution_of({3.0, 3.0}), 0.0);
}

TEST(DensityFamily, KernelsIntegrateToOneAndFollowTheSample) {
  const auto sample = draws_of(Density::gamma(2.0, 1.0), 400, 8);
  const Density fitted = fit_density(DensityFamily::kernel, sample, 0.0);
  EXPECT_EQ(fitted.parameters().size(), sample.size());
  for (const double x : {1.0, 2.0, 4.0})
    EXPECT_NEAR(fitted.cdf(x), Density::gamma(2.0, 1.0).cdf(x), 0.08);
  const auto many = draws_of(Density::gamma(2.0, 1.0), 4000, 8);
  EXPECT_EQ(fit_density(DensityFamily::kernel, many, 0.0).parameters().size(), 512);
}

TEST(DensityFamily, FaultsNameTheReading) {
  const auto says = [](DensityFamily family, const std::vector<double>& sample, const char* part,
                       std::optional<std::size_t> reading) {
    const auto fault = fault_of_sample(family, sample);
    ASSERT_TRUE(fault.has_value()) << part;
    EXPECT_THAT(fault->message, HasSubstr(part));
    EXPECT_EQ(fault->reading, reading);
  };
  const std::vector<double> good = {1, 2, 3, 4, 5, 6};
  for (const DensityFamily family :
       {DensityFamily::normal, DensityFamily::lognormal, DensityFamily::gamma}) {
    EXPECT_FALSE(fault_of_sample(family, good).has_value());
    says(family, {1, 2}, "2 labelled readings; a", {});
    says(family, {7, 7, 7, 7, 7, 7}, "all 6 readings are 7", 0);
  }
  says(DensityFamily::mixture, good, "at least 15", {});
  says(DensityFamily::gamma, {1, 2, 3, -4, 5, 6}, "-4 is not positive", 3);
  says(DensityFamily::lognormal, {1, 2, 0, 4, 5, 6}, "0 is not positive", 2);
  says(DensityFamily::normal, {}, "0 labelled readings", {});
  EXPECT_FALSE(
      fault_of_sample(DensityFamily::normal, std::vector{1.0, -1.0, 0.0, 2.0, 0.0}).has_value());
}

// Draws of a mean spread as the mean does, whatever the family.
TEST(DensityFamily, DrawsSpreadAsEstimatesDo) {
  const Density truth = Density::gamma(9.0, 0.5);
  const auto sample = draws_of(truth, 120, 9);
  const double expected = 1.5 / std::sqrt(120.0);
  for (const DensityFamily family : kDensityFamilies) {
    if (family == DensityFamily::poisson) continue;  // of counts; below
    const Density fitted = fit_density(family, sample, 0.0);
    constexpr int kDraws = 400;
    double sum = 0.0;
    double squares = 0.0;
    Rng rng({4, 0, Role::test});
    for (int k = 0; k < kDraws; ++k) {
      const Density drawn = draw_density(family, fitted, sample, 0.0, rng);
      const double middle = drawn.quantile(0.5);
      sum += middle;
      squares += middle * middle;
    }
    const double mean = sum / kDraws;
    const double spread = std::sqrt(squares / kDraws - mean * mean);
    EXPECT_NEAR(mean, fitted.quantile(0.5), 0.05) << to_string(family);
    EXPECT_GT(spread, 0.6 * expected) << to_string(family);
    EXPECT_LT(spread, 2.0 * expected) << to_string(family);
  }
}

// σ² of the posterior is Σ(x-x̄)²/χ² with n-1 degrees: mean s²(n-1)/(n-3).
TEST(DensityFamily, NormalsAreDrawnFromTheirPosterior) {
  const std::vector<double> sample = {-1.0, 0.0, 0.5, 1.0, 2.0, 3.5, 4.0, 6.0};
  const Density fitted = fit_density(DensityFamily::normal, sample, 0.0);
  constexpr int kDraws = 40'000;
  Rng rng({4, 0, Role::test});
  double variance = 0.0;
  double square = 0.0;
  for (int k = 0; k < kDraws; ++k) {
    const Density drawn = draw_density(DensityFamily::normal, fitted, sample, 0.0, rng);
    variance += drawn.parameters()[1] * drawn.parameters()[1] / kDraws;
    square += std::pow(drawn.parameters()[0] - fitted.parameters()[0], 2) / kDraws;
  }
  const double expected = fitted.parameters()[1] * fitted.parameters()[1] * 7.0 / 5.0;
  EXPECT_NEAR(variance, expected, 0.1 * expected);
  EXPECT_NEAR(square, expected / 8.0, 0.1 * expected / 8.0);
}

TEST(DensityFamily, CountsHaveTheirMean) {
  EXPECT_EQ(fit_density(DensityFamily::poisson, std::vector{0.0, 3.0, 1.0, 0.0, 4.0}, 1.0),
            Density::poisson(1.6));
  const std::vector<double> none(10, 0.0);
  EXPECT_FALSE(fault_of_sample(DensityFamily::poisson, none));
  EXPECT_EQ(fit_density(DensityFamily::poisson, none, 0.0), Density::poisson(0.05));
  for (const double wrong : {-1.0, 0.5, 1e300 * 1e10}) {
    const auto fault =
        fault_of_sample(DensityFamily::poisson, std::vector{1.0, 2.0, wrong, 2.0, 1.0});
    ASSERT_TRUE(fault) << wrong;
    EXPECT_EQ(fault->reading, 2U);
    EXPECT_THAT(fault->message, HasSubstr("is not a count"));
  }
  // Drawn means spread as posterior means do, Gamma(Σx + 1/2)/n.
  const std::vector<double> sample = draws_of(Density::poisson(3.0), 200, 11);
  const Density fitted = fit_density(DensityFamily::poisson, sample, 1.0);
  Rng rng({4, 0, Role::test});
  constexpr int kDraws = 4000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double mean =
        draw_density(DensityFamily::poisson, fitted, sample, 1.0, rng).parameters()[0];
    sum += mean;
    squares += mean * mean;
  }
  const double mean = sum / kDraws;
  const double lambda = fitted.parameters()[0];
  EXPECT_NEAR(mean, lambda + 0.5 / 200, 5.0 * std::sqrt(lambda / 200 / kDraws));
  EXPECT_NEAR(squares / kDraws - mean * mean, lambda / 200, 0.12 * lambda / 200);
}

TEST(DensityFamily, JointNormalsHaveTheCovarianceOfTheSample) {
  const std::vector<double> sample = {0, 0, 1, 2, 2, 3, 3, 7, 4, 8, 1, 1, 0, 2, 5, 9};
  const VectorDensity fitted = fit_joint_normal(sample, 2);
  EXPECT_NEAR(fitted.marginals()[0].parameters()[0], 2.0, 1e-12);
  EXPECT_NEAR(fitted.marginals()[1].parameters()[0], 4.0, 1e-12);
  EXPECT_NEAR(fitted.covariance()[0], 24.0 / 7.0, 1e-12);
  EXPECT_NEAR(fitted.covariance()[1], 43.0 / 7.0, 1e-12);
  // The posterior mean of Σ is squares / (n - 1 - d - 1).
  constexpr int kDraws = 40'000;
  Rng rng({4, 0, Role::test});
  double first = 0.0;
  double crossed = 0.0;
  for (int k = 0; k < kDraws; ++k) {
    const VectorDensity drawn = draw_joint_normal(sample, 2, rng);
    first += drawn.covariance()[0] / kDraws;
    crossed += drawn.covariance()[1] / kDraws;
  }
  EXPECT_NEAR(first, 24.0 / 4.0, 0.4);
  EXPECT_NEAR(crossed, 43.0 / 4.0, 0.7);
  EXPECT_THROW(static_cast<void>(fit_joint_normal(std::vector<double>{1, 2, 2, 4, 3, 6, 4, 8}, 2)),
               InvalidArgument);
}

}  // namespace
}  // namespace oas::test
