#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/core/low_discrepancy.hpp"
#include "oas/model/continuous_json.hpp"
#include "oas/model/model_json.hpp"
#include "support/property.hpp"
#include "support/random_densities.hpp"

namespace oas::test {
namespace {

using testing::HasSubstr;
using Kind = Density::Kind;

Density any_density() {
  Rng rng({any_seed(), 0, Role::test});
  return random_density(*rc::gen::element(Kind::gaussian, Kind::lognormal, Kind::beta, Kind::gamma,
                                          Kind::table, Kind::kernel, Kind::mixture)
                             .as("kind"),
                        rng);
}

// ∫ density from 0 to `end` by many midpoints, which come close to 0, where a gamma density may be
// infinite: x = end u⁴.
double integral_from_zero(const Density& density, double end) {
  constexpr int kPieces = 40'000;
  double sum = 0.0;
  for (int i = 0; i < kPieces; ++i) {
    const double u = (i + 0.5) / kPieces;
    sum += density(end * u * u * u * u) * 4.0 * u * u * u;
  }
  return sum * end / kPieces;
}

double integral(const Density& density, double low, double high) {
  return integral_from_zero(density, high) - integral_from_zero(density, low);
}

RC_GTEST_PROP(Density, IsTheDerivativeOfItsDistributionFunction, ()) {
  const Density density = any_density();
  const double low = density.quantile(0.1);
  const double high = density.quantile(0.9);
  RC_ASSERT(std::abs(integral(density, low, high) - (density.cdf(high) - density.cdf(low))) < 1e-3);
}

RC_GTEST_PROP(Density, QuantilesInvertTheDistributionFunction, ()) {
  const Density density = any_density();
  for (const double u : {1e-9, 0.01, 0.3, 0.5, 0.77, 0.999}) {
    RC_ASSERT(std::abs(density.cdf(density.quantile(u)) - u) < 1e-9);
  }
  RC_ASSERT(density.cdf(density.quantile(0.0)) == 0.0);
  RC_ASSERT(density.cdf(density.quantile(1.0)) == 1.0);
}

TEST(Density, EvenlySpreadNumbersBecomeDraws) {
  Rng rng({5, 0, Role::test});
  for (const Kind kind : {Kind::gaussian, Kind::lognormal, Kind::beta, Kind::gamma, Kind::poisson,
                          Kind::table, Kind::kernel, Kind::mixture}) {
    const Density density = random_density(kind, rng);
    constexpr int kPoints = 20'000;
    const LowDiscrepancy points(1, kPoints);
    for (const double level : {0.2, 0.5, 0.9}) {
      const double x = density.quantile(level);
      int below = 0;
      for (int k = 0; k < kPoints; ++k) {
        double u = 0.0;
        points.point(k, {&u, 1});
        below += density.from_uniform(u) <= x;
      }
      EXPECT_NEAR(below / static_cast<double>(kPoints), density.cdf(x), 1e-3)
          << to_string(kind) << " " << level;
    }
  }
}

TEST(Density, CountsHaveProbabilities) {
  const Density density = Density::poisson(3.5);
  double sum = 0.0;
  for (int k = 0; k < 60; ++k) {
    sum += density(k);
    EXPECT_NEAR(density.cdf(k), sum, 1e-12);
    EXPECT_NEAR(density.cdf(k + 0.5), sum, 1e-12);
  }
  EXPECT_NEAR(sum, 1.0, 1e-12);
  EXPECT_EQ(density(1.5), 0.0);
  EXPECT_EQ(density(-1.0), 0.0);
  EXPECT_EQ(density.quantile(density.cdf(4) - 1e-9), 4.0);
  EXPECT_EQ(
      Density::mixture({0.5, 0.5}, {Density::poisson(1), Density::poisson(9)}).quantile(0.999),
      19.0);
}

TEST(VectorDensity, GaussiansOfTwoComponents) {
  const double rho = 0.6;
  const VectorDensity density = VectorDensity::gaussian({1.0, -2.0}, {4.0, 1.2, 1.2, 1.0});
  const std::vector<double> x = {2.0, -1.0};
  const double quadratic = (0.25 - 2.0 * rho * 0.5 + 1.0) / (1.0 - rho * rho);
  EXPECT_NEAR(
      density(x),
      std::exp(-0.5 * quadratic) / (2.0 * std::numbers::pi * 2.0 * std::sqrt(1.0 - rho * rho)),
      1e-14);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(density.box(std::vector{1.0, -2.0}, std::vector{inf, inf}),
              0.25 + std::asin(rho) / (2.0 * std::numbers::pi), 3e-5);
  EXPECT_NEAR(density.box(std::vector{-inf, -inf}, std::vector{inf, inf}), 1.0, 1e-12);
}

TEST(VectorDensity, DrawsHaveTheCovariance) {
  Rng rng({3, 0, Role::test});
  const VectorDensity density = random_gaussian(3, rng);
  constexpr int kDraws = 200'000;
  Eigen::Vector3d mean = Eigen::Vector3d::Zero();
  Eigen::Matrix3d square = Eigen::Matrix3d::Zero();
  Eigen::Vector3d x;
  for (int i = 0; i < kDraws; ++i) {
    density.sample({x.data(), 3}, rng);
    mean += x / kDraws;
    square += x * x.transpose() / kDraws;
  }
  square -= mean * mean.transpose();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const double expected = density.covariance()[static_cast<std::size_t>(3 * i + j)];
      const double size = std::sqrt(density.covariance()[static_cast<std::size_t>(4 * i)] *
                                    density.covariance()[static_cast<std::size_t>(4 * j)]);
      EXPECT_NEAR(square(i, j), expected, 5.0 * 1.5 * size / std::sqrt(kDraws));
    }
  }
}

RC_GTEST_PROP(ContinuousModel, ReadsBackEqual, ()) {
  Rng rng({any_seed(), 0, Role::test});
  RandomModelOptions options;
  options.timing = any_timing();
  options.named = *rc::gen::arbitrary<bool>();
  std::vector<VectorDensity> densities;
  const bool gaussian = *rc::gen::arbitrary<bool>();
  for (int i = 0; i < options.num_states * options.num_actions; ++i) {
    densities.push_back(gaussian ? random_gaussian(2, rng)
                                 : VectorDensity({random_density(Kind::mixture, rng),
                                                  random_density(Kind::poisson, rng)}));
  }
  const ContinuousPomdp model = with_densities(options, any_seed(), std::move(densities));
  const std::string text = dump_json(model_to_json(model));
  RC_ASSERT(is_continuous_model(text));
  RC_ASSERT(parse_continuous_model(text, "m") == model);
}

std::string density_error(const std::string& density, int dimension = 1) {
  const std::string text =
      R"({"format":"oas-model/1","timing":"before","states":1,"actions":1,"observations":)"
      R"({"dimension":)" +
      std::to_string(dimension) + R"(},"density":[[)" + density + "]]}";
  try {
    static_cast<void>(parse_continuous_model(text, "m.json"));
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ContinuousModel, ErrorsNamePathAndValue) {
  const auto says = [](const std::string& density, const char* part, int dimension = 1) {
    const std::string error = density_error(density, dimension);
    EXPECT_THAT(error, HasSubstr("m.json: $.density[0][0]")) << density;
    EXPECT_THAT(error, HasSubstr(part)) << density;
  };
  EXPECT_EQ(density_error(R"({"kind":"gaussian","mean":0,"sd":1})"), "no error");
  says(R"({"kind":"gaussian","mean":0,"sd":0})", "sd is 0");
  says(R"({"kind":"gaussian","mean":0})", "\"sd\" is missing");
  says(R"({"kind":"gauss","mean":0,"sd":1})", "found \"gauss\"");
  says(R"({"kind":"gaussian","mean":"a","sd":1})", "mean");
  says(R"({"kind":"gaussian","mean":0,"sd":1,"skew":2})", "skew");
  says(R"({"kind":"beta","alpha":-1,"beta":2})", "alpha is -1");
  says(R"({"kind":"gamma","shape":1,"scale":0})", "scale is 0");
  says(R"({"kind":"poisson","mean":0})", "mean is 0");
  says(R"({"kind":"table","edges":[0,1,1],"probability":[0.5,0.5]})", "edges must ascend");
  says(R"({"kind":"table","edges":[0,1],"probability":[0.5,0.5]})", "2 edges for 2");
  says(R"({"kind":"table","edges":[0,1,2],"probability":[0.5,0.6]})", "probability");
  says(R"({"kind":"mixture","weights":[1],"parts":[]})", "1 weights for 0 parts");
  says(R"({"kind":"mixture","weights":[0.5,0.5],"parts":[{"kind":"poisson","mean":1},)"
       R"({"kind":"beta","alpha":1,"beta":1}]})",
       "counts and measurements");
  says(R"({"kind":"mixture","weights":[1],"parts":[{"kind":"mixture"}]})", "mixture of mixtures");
  says(R"({"kind":"gaussian","mean":0,"sd":1})", "1 components", 2);
  says(R"([{"kind":"gaussian","mean":0,"sd":1}])", "1 components", 2);
  says(R"({"kind":"gaussian","mean":[0,0],"covariance":[[1,2],[2,1]]})", "positive definite", 2);
  says(R"({"kind":"gaussian","mean":[0,0],"covariance":[[1,0.5],[0.4,1]]})", "symmetric", 2);
  says(R"({"kind":"gaussian","mean":[0,0],"covariance":[[1,0.5]]})", "covariance", 2);
  EXPECT_THAT(density_error("{}", 0), HasSubstr("$.observations.dimension"));
}

TEST(ContinuousModel, FiniteReadersSayWhatToDo) {
  const std::string text = dump_json(model_to_json(gaussian_model(Timing::before)));
  try {
    static_cast<void>(parse_model(text, "m.json"));
    FAIL();
  } catch (const ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("oas discretise"));
  }
}

TEST(ContinuousModel, ComponentsAreCountsEverywhereOrNowhere) {
  EXPECT_THROW(
      DensitySensors(
          2, 1, {VectorDensity({Density::poisson(2)}), VectorDensity({Density::gaussian(2, 1)})}),
      InvalidArgument);
}

}  // namespace
}  // namespace oas::test
