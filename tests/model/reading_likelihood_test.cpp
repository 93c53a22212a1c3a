#include "oas/model/reading_likelihood.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "support/random_densities.hpp"

namespace oas::test {
namespace {

const double kNan = std::nan("");

// ∫ density over the components that are NaN, by many midpoints.
double integrated(const VectorDensity& density, std::vector<double> x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isnan(x[i])) continue;
    constexpr int kPieces = 4000;
    double sum = 0.0;
    for (int k = 0; k < kPieces; ++k) {
      x[i] = std::lerp(-40.0, 40.0, (k + 0.5) / kPieces);
      sum += density(x) * 80.0 / kPieces;
    }
    return sum;
  }
  return density(x);
}

TEST(VectorDensity, ComponentsThatWereNotSeenAreIntegratedOut) {
  Rng rng({2, 0, Role::test});
  const std::vector<VectorDensity> densities = {
      random_gaussian(2, rng),
      VectorDensity({random_density(Density::Kind::kernel, rng),
                     random_density(Density::Kind::gaussian, rng)}),
      VectorDensity(
          {Density::mixture({0.4, 0.6}, {Density::gaussian(0, 1), Density::gaussian(3, 2)}),
           random_density(Density::Kind::kernel, rng)})};
  for (const VectorDensity& density : densities) {
    for (const std::vector<double>& x :
         {std::vector{0.3, kNan}, std::vector{kNan, -1.2}, std::vector{0.3, -1.2}}) {
      EXPECT_NEAR(density(x), integrated(density, x), 1e-6 * (1.0 + density(x)));
    }
    EXPECT_EQ(density(std::vector{kNan, kNan}), 1.0);
  }
  // One of three, and two of three.
  const VectorDensity three = random_gaussian(3, rng);
  const std::vector<double>& c = three.covariance();
  const auto mean = [&](std::size_t i) { return three.marginals()[i].parameters()[0]; };
  const VectorDensity pair = VectorDensity::gaussian({mean(0), mean(2)}, {c[0], c[2], c[6], c[8]});
  EXPECT_DOUBLE_EQ(three(std::vector{0.5, kNan, 1.5}), pair(std::vector{0.5, 1.5}));
  EXPECT_DOUBLE_EQ(three(std::vector{kNan, 0.7, kNan}), three.marginals()[1](0.7));
}

DensitySensors two_states() {
  return {2,
          1,
          {VectorDensity({Density::gaussian(0, 1), Density::gamma(2, 1)}),
           VectorDensity({Density::gaussian(5, 1), Density::gamma(6, 1)})}};
}

TEST(ReadingLikelihood, WithoutOutliersIsTheDensity) {
  const ReadingLikelihood plain(two_states());
  std::vector<double> out(2);
  plain(Action{0}, std::vector{0.3, 2.0}, out);
  EXPECT_EQ(out[0], two_states()(Action{0}, State{0})(std::vector{0.3, 2.0}));
  EXPECT_THROW(ReadingLikelihood(two_states(), 1.0), InvalidArgument);
}

TEST(ReadingLikelihood, OutliersTellNothingAndOthersNearlyAllTheyDid) {
  const ReadingLikelihood plain(two_states());
  const ReadingLikelihood robust(two_states(), 0.01);
  std::vector<double> before(2);
  std::vector<double> out(2);
  const auto odds = [&](const std::vector<double>& x) {
    plain(Action{0}, x, before);
    robust(Action{0}, x, out);
    return out[0] / out[1];
  };
  // An outlier in one component leaves the other one its say.
  const double far = odds({1000.0, 2.0});
  EXPECT_EQ(before[0], 0.0);
  odds({kNan, 2.0});
  EXPECT_NEAR(far, out[0] / out[1], 1e-9);
  EXPECT_NEAR(far, before[0] / before[1], 0.2 * far);
  EXPECT_NEAR(odds({1000.0, kNan}), 1.0, 1e-9);
  EXPECT_NEAR(odds({1e100, -3.0}), 1.0, 1e-9);  // a gamma sensor says nothing negative
  // Between the states all is as it was, up to a hundredth.
  EXPECT_NEAR(odds({2.5, kNan}), 1.0, 1e-9);
  EXPECT_GT(odds({0.0, 1.0}), 1e3);
}

// The contaminated densities are densities.
TEST(ReadingLikelihood, IntegratesToOne) {
  const DensitySensors sensors(
      2, 1, {VectorDensity({Density::gaussian(0, 1)}), VectorDensity({Density::gaussian(4, 2)})});
  const ReadingLikelihood robust(sensors, 0.2);
  std::vector<double> out(2);
  std::vector<double> sums(2, 0.0);
  constexpr int kPieces = 200'000;
  for (int k = 0; k < kPieces; ++k) {
    // tan spreads the line over a bounded interval, as the broad component needs.
    const double angle = std::lerp(-M_PI / 2, M_PI / 2, (k + 0.5) / kPieces);
    const std::vector<double> x = {10.0 * std::tan(angle)};
    robust(Action{0}, x, out);
    const double weight = 10.0 / std::pow(std::cos(angle), 2) * M_PI / kPieces;
    for (std::size_t s = 0; s < 2; ++s) sums[s] += weight * out[s];
  }
  EXPECT_NEAR(sums[0], 1.0, 1e-4);
  EXPECT_NEAR(sums[1], 1.0, 1e-4);
}

// Draws are spread as the likelihood says: P(X <= c) = (1-ε) F(c) + ε G(c) for each component. Six
// standard deviations of 40,000 draws have a probability of 2e-9.
TEST(ReadingLikelihood, DrawsFollowTheLikelihood) {
  constexpr double kShare = 0.2;
  constexpr int kDraws = 40'000;
  Rng random({4, 0, Role::test});
  const std::vector<DensitySensors> kinds = {two_states(), {1, 1, {random_gaussian(2, random)}}};
  for (const DensitySensors& sensors : kinds) {
    const ReadingLikelihood robust(sensors, kShare);
    const State last{sensors.num_states() - 1};
    const auto& marginals = sensors(Action{0}, last).marginals();
    std::vector<std::vector<double>> draws(kDraws, std::vector<double>(2));
    Rng rng({3, 0, Role::test});
    for (auto& x : draws) robust.sample(Action{0}, last, x, rng);
    double together = 0.0;
    for (std::size_t i = 0; i < 2; ++i) {
      const double low = sensors(Action{0}, State{0}).marginals()[i].quantile(0.001);
      const double high = marginals[i].quantile(0.999);
      const auto cauchy = [&](double c) {
        return 0.5 + std::atan((c - 0.5 * (low + high)) / (0.5 * (high - low))) / M_PI;
      };
      for (const double level : {0.05, 0.5, 0.95}) {
        const double c = marginals[i].quantile(level);
        const double expected = (1.0 - kShare) * level + kShare * cauchy(c);
        const double below = static_cast<double>(
            std::ranges::count_if(draws, [&](const auto& x) { return x[i] <= c; }));
        EXPECT_NEAR(below / kDraws, expected, 6.0 * 0.5 / std::sqrt(kDraws)) << i << " " << level;
      }
    }
    // Dependent components are outliers together.
    const auto far = [&](double x, std::size_t i) {
      return x < marginals[i].quantile(1e-9) || x > marginals[i].quantile(1.0 - 1e-9);
    };
    std::vector<double> single(2, 0.0);
    for (const auto& x : draws) {
      for (std::size_t i = 0; i < 2; ++i) single[i] += far(x[i], i) / (kShare * kDraws);
      together += (far(x[0], 0) && far(x[1], 1)) / (kShare * kDraws);
    }
    const double share = sensors(Action{0}, last).dependent() ? 1.0 : kShare;
    EXPECT_NEAR(together, share * single[0] * single[1], 6.0 * 0.5 / std::sqrt(kShare * kDraws));
  }
}

// The part of the likelihood that is no outlier's.
TEST(ReadingLikelihood, TrustIsTheProbabilityOfNoOutlier) {
  constexpr double kShare = 0.05;
  const ReadingLikelihood plain(two_states());
  const ReadingLikelihood robust(two_states(), kShare);
  std::vector<double> trust(2);
  std::vector<double> likelihood(2);
  for (const double x : {-3.0, 0.0, 2.0, 5.0, 40.0}) {
    for (const double y : {-1.0, 0.5, 9.0}) {
      for (State s{0}; s < 2; ++s) {
        const std::vector<double> reading = {x, y};
        robust.trust(Action{0}, s, reading, trust);
        for (std::size_t i = 0; i < 2; ++i) {
          std::vector<double> alone = {kNan, kNan};
          alone[i] = reading[i];
          robust(Action{0}, alone, likelihood);
          EXPECT_NEAR(trust[i] * likelihood[static_cast<std::size_t>(s)],
                      (1.0 - kShare) * two_states()(Action{0}, s).marginals()[i](reading[i]),
                      1e-15);
        }
        plain.trust(Action{0}, s, reading, trust);
        EXPECT_THAT(trust, testing::ElementsAre(1.0, 1.0));
      }
    }
  }
  Rng rng({5, 0, Role::test});
  const DensitySensors dependent(1, 1, {random_gaussian(2, rng)});
  const ReadingLikelihood both(dependent, kShare);
  const std::vector<double> reading = {1.0, -2.0};
  both.trust(Action{0}, State{0}, reading, trust);
  likelihood.resize(1);
  both(Action{0}, reading, likelihood);
  const double good = (1.0 - kShare) * dependent(Action{0}, State{0})(reading);
  EXPECT_NEAR(trust[0], good / likelihood[0], 1e-12);
  EXPECT_EQ(trust[0], trust[1]);
  // What was not seen is not trusted, and does not enter what is said of the other one.
  const std::vector<double> half = {1.0, kNan};
  both.trust(Action{0}, State{0}, half, trust);
  both(Action{0}, half, likelihood);
  EXPECT_NEAR(trust[0] * likelihood[0],
              (1.0 - kShare) * dependent(Action{0}, State{0}).marginals()[0](1.0), 1e-12);
  EXPECT_EQ(trust[1], 0.0);
  plain.trust(Action{0}, State{0}, half, trust);
  EXPECT_THAT(trust, testing::ElementsAre(1.0, 0.0));
}

TEST(ReadingLikelihood, LeavesOutComponentsThatCannotBe) {
  const ReadingLikelihood plain(two_states());
  std::vector<double> x = {0.5, -1.0};
  EXPECT_TRUE(plain.leave_out_impossible(Action{0}, x));
  EXPECT_EQ(x[0], 0.5);
  EXPECT_TRUE(std::isnan(x[1]));
  EXPECT_FALSE(plain.leave_out_impossible(Action{0}, x));
}

}  // namespace
}  // namespace oas::test
