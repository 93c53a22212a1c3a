#include <gmock/gmock.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/theory/cell_search.hpp"
#include "oas/theory/cells.hpp"
#include "oas/theory/revealing.hpp"
#include "oas/theory/soft_features.hpp"
#include "support/property.hpp"
#include "support/random_densities.hpp"

namespace oas::test {
namespace {

using Kind = Density::Kind;

DensitySensors line_sensors(std::uint64_t seed, Kind kind, int num_states = 3) {
  Rng rng({seed, 0, Role::test});
  std::vector<VectorDensity> densities;
  for (int i = 0; i < num_states; ++i)
    densities.emplace_back(VectorDensity({random_density(kind, rng)}));
  return {num_states, 1, std::move(densities)};
}

TEST(Cells, HoldTheirUpperEnd) {
  const Cells cells({{0.0, 1.0}, {5.0}});
  EXPECT_EQ(cells.num_cells(), 6);
  EXPECT_EQ(cells.cell(std::vector{-1.0, 4.0}).value(), 0);
  EXPECT_EQ(cells.cell(std::vector{0.0, 5.0}).value(), 0);
  EXPECT_EQ(cells.cell(std::vector{0.5, 5.1}).value(), 3);
  EXPECT_EQ(cells.cell(std::vector{1.5, 5.1}).value(), 5);
  EXPECT_THROW(Cells({{1.0, 1.0}}), InvalidArgument);
  EXPECT_EQ(parse_cells(R"({"cells":{"splits":[[0,1],[5]]}})", "f"), cells);
  EXPECT_THROW(static_cast<void>(parse_cells(R"({"cells":{"splits":[[1,0]]}})", "f")), ParseError);
  EXPECT_THROW(static_cast<void>(parse_cells("{}", "f")), ParseError);
}

// Frequencies of cells over many draws, for lines, counts and dependent vectors.
TEST(Cells, ProbabilitiesAgreeWithDraws) {
  Rng rng({11, 0, Role::test});
  const std::vector<VectorDensity> densities = {
      VectorDensity({random_density(Kind::mixture, rng), random_density(Kind::beta, rng)}),
      random_gaussian(2, rng)};
  const Cells cells({{-1.0, 0.3, 1.2}, {0.2, 0.6}});
  const ObservationModel sensors = cell_sensors(DensitySensors(2, 1, densities), cells);
  constexpr int kDraws = 400'000;
  for (State s{0}; s < 2; ++s) {
    std::vector<double> share(static_cast<std::size_t>(cells.num_cells()), 0.0);
    std::vector<double> x(2);
    for (int i = 0; i < kDraws; ++i) {
      densities[static_cast<std::size_t>(s)].sample(x, rng);
      share[static_cast<std::size_t>(cells.cell(x))] += 1.0 / kDraws;
    }
    for (int u = 0; u < cells.num_cells(); ++u) {
      const double p = sensors(Action{0}, s, Observation{u});
      EXPECT_NEAR(share[static_cast<std::size_t>(u)], p, 5.5 * std::sqrt(p / kDraws) + 2e-5);
    }
  }
}

TEST(CellSearch, RefiningHelpsAndIsRepeatable) {
  for (const Kind kind : {Kind::gaussian, Kind::gamma, Kind::poisson, Kind::mixture}) {
    const DensitySensors sensors = line_sensors(2, kind);
    CellSearchOptions options;
    options.cells = 4;
    options.trials = 50;
    options.method = "random";
    const CellSearch random = find_cells(sensors, options);
    options.method = "refined";
    const CellSearch refined = find_cells(sensors, options);
    EXPECT_GT(refined.alpha, random.alpha) << to_string(kind);
    EXPECT_EQ(refined.cells.num_cells(), 4);
    EXPECT_DOUBLE_EQ(analyse_sensors(cell_sensors(sensors, refined.cells)).alpha, refined.alpha);
    EXPECT_EQ(find_cells(sensors, options).cells, refined.cells);
  }
  EXPECT_THROW(static_cast<void>(find_cells(line_sensors(2, Kind::beta), {.cells = 2})),
               InvalidArgument);
}

// Three numbers per interval are not enough for a rule; very many midpoints are.
Matrix brute_means(const DensitySensors& sensors, double low, double high) {
  constexpr int kPieces = 400'000;
  const int n = sensors.num_states();
  Matrix means = Matrix::Zero(n, n);
  Vector p(n);
  for (int i = 0; i < kPieces; ++i) {
    const double x = std::lerp(low, high, (i + 0.5) / kPieces);
    sensors.likelihood(Action{0}, {&x, 1}, {p.data(), static_cast<std::size_t>(n)});
    if (p.sum() > 0.0) means += p * p.transpose() / p.sum() * ((high - low) / kPieces);
  }
  return means;
}

TEST(SoftFeatures, MeansAreThoseOfABruteForceIntegral) {
  for (const Kind kind : {Kind::gaussian, Kind::mixture, Kind::table}) {
    const DensitySensors sensors = line_sensors(4, kind);
    const Matrix means = soft_sensors(sensors).matrix(Action{0});
    const Matrix expected = brute_means(sensors, -30.0, 60.0);
    EXPECT_LT((means - expected).cwiseAbs().maxCoeff(), kind == Kind::gaussian ? 1e-9 : 1e-3)
        << to_string(kind);
    EXPECT_LT((means - means.transpose()).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LT((means.rowwise().sum() - Vector::Ones(3)).cwiseAbs().maxCoeff(), 1e-8);
  }
}

TEST(SoftFeatures, VectorsWithAnIdleComponentAreLikeLines) {
  const DensitySensors line = line_sensors(9, Kind::gamma);
  std::vector<VectorDensity> densities;
  for (State s{0}; s < 3; ++s) {
    densities.emplace_back(
        VectorDensity({line(Action{0}, s).marginals().front(), Density::gaussian(1.0, 2.0)}));
  }
  const Matrix means = soft_sensors(DensitySensors(3, 1, densities)).matrix(Action{0});
  const Matrix expected = soft_sensors(line).matrix(Action{0});
  EXPECT_LT((means - expected).cwiseAbs().maxCoeff(), 5e-4);
}

TEST(SoftFeatures, MeansCanBeLearnedFromRows) {
  const DensitySensors sensors = line_sensors(4, Kind::gaussian);
  const Matrix expected = soft_sensors(sensors).matrix(Action{0});
  Rng rng({1, 0, Role::test});
  SoftSample sample(3, 2, std::size_t{1} << 30);
  const std::vector<double> weights = {0.6, 0.1, 0.3};
  std::vector<double> features(3);
  std::vector<double> all;
  constexpr int kRows = 200'000;
  for (int t = 0; t < kRows; ++t) {
    double x = 0.0;
    sensors(Action{0}, State{sample_categorical(weights, rng)}).sample({&x, 1}, rng);
    sensors.likelihood(Action{0}, {&x, 1}, features);
    const double sum = features[0] + features[1] + features[2];
    for (double& value : features) value /= sum;
    sample.add(Action{0}, features);
    all.insert(all.end(), features.begin(), features.end());
  }
  const Vector found = mixture_weights(all, 3);
  for (int s = 0; s < 3; ++s) EXPECT_NEAR(found(s), weights[static_cast<std::size_t>(s)], 0.02);
  const ObservationModel learned = sample.sensors();
  EXPECT_LT((Matrix(learned.matrix(Action{0})) - expected).cwiseAbs().maxCoeff(), 0.02);
  EXPECT_EQ(Matrix(learned.matrix(Action{1})), Matrix(Matrix::Identity(3, 3)));
}

}  // namespace
}  // namespace oas::test
