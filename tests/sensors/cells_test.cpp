#include <gmock/gmock.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/sensors/cell_search.hpp"
#include "oas/sensors/cells.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/sensors/soft_features.hpp"
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

// All cells at once, against one box after the other and against quadrature.
TEST(Cells, TwoDependentComponentsAreExact) {
  for (const double correlation : {0.0, 0.3, -0.7, 0.95, -0.999, 0.9999}) {
    const VectorDensity density = VectorDensity::gaussian(
        {1.0, -2.0}, {4.0, 2.0 * 0.5 * correlation, 2.0 * 0.5 * correlation, 0.25});
    // Also at the means, where Owen's function has limits only.
    const Cells cells({{-3.0, 0.2, 1.0, 1.5, 8.0}, {-2.9, -2.0, -1.9}});
    const ObservationModel sensors = cell_sensors(DensitySensors(1, 1, {density}), cells);
    double sum = 0.0;
    for (int i = 0; i < 6; ++i) {
      for (int k = 0; k < 4; ++k) {
        const auto bound = [&](std::size_t c, int which) {
          const auto& splits = cells.splits()[c];
          if (which < 0) return -1e3;
          return which == static_cast<int>(splits.size()) ? 1e3
                                                          : splits[static_cast<std::size_t>(which)];
        };
        // ∫ φ(z) P(second in its interval | first = 1 + 2 z) dz.
        const double low = std::max(-9.0, (bound(0, i - 1) - 1.0) / 2.0);
        const double high = std::min(9.0, (bound(0, i) - 1.0) / 2.0);
        constexpr int kPieces = 200'000;
        double expected = 0.0;
        const double root = 0.5 * std::sqrt(1.0 - correlation * correlation);
        const auto below = [&](double y, double z) {
          const double shift = -2.0 + 0.5 * correlation * z;
          return 0.5 * std::erfc((shift - y) / root * std::sqrt(0.5));
        };
        for (int piece = 0; piece < kPieces; ++piece) {
          const double z = std::lerp(low, high, (piece + 0.5) / kPieces);
          expected += std::exp(-0.5 * z * z) * (below(bound(1, k), z) - below(bound(1, k - 1), z));
        }
        expected *= (high - low) / kPieces / std::sqrt(2.0 * 3.14159265358979323846);
        const double found = sensors(Action{0}, State{0}, Observation{4 * i + k});
        EXPECT_NEAR(found, expected, 2e-9) << correlation << " " << i << " " << k;
        sum += found;
      }
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

// Three dependent components: compared by points, and what is returned is exact.
TEST(CellSearch, ManyDependentComponentsAreSearchedRoughlyAndJudgedExactly) {
  Rng rng({12, 0, Role::test});
  std::vector<VectorDensity> densities;
  for (int s = 0; s < 2; ++s) densities.push_back(random_gaussian(3, rng));
  const DensitySensors sensors(2, 1, densities);
  CellSearchOptions options;
  options.cells = 2;
  options.trials = 50;
  int told = 0;
  const CellSearch found = find_cells(sensors, options, [&] { ++told; });
  EXPECT_GE(told, found.evaluations);
  EXPECT_GE(found.evaluations, 50);
  EXPECT_DOUBLE_EQ(analyse_sensors(cell_sensors(sensors, found.cells)).alpha, found.alpha);
  options.method = "random";
  options.trials = 1;
  EXPECT_GT(found.alpha, find_cells(sensors, options).alpha);
}

// Counts are split between whole numbers, and no cell is empty.
TEST(CellSearch, CellsOfCountsAllHoldSome) {
  std::vector<VectorDensity> densities;
  for (const double mean : {0.5, 2.0, 5.0}) {
    densities.emplace_back(VectorDensity({Density::poisson(mean)}));
  }
  const DensitySensors sensors(3, 1, densities);
  for (const char* method : {"even", "random", "refined"}) {
    for (const int cells : {4, 6, 8, 12, 16}) {
      CellSearchOptions options;
      options.cells = cells;
      options.trials = 50;
      options.method = method;
      const Cells found = find_cells(sensors, options).cells;
      EXPECT_LE(found.num_cells(), cells);
      EXPECT_GE(found.num_cells(), 3);
      for (const double split : found.splits().front()) {
        EXPECT_EQ(split, std::floor(split) + 0.5) << method << ' ' << cells;
      }
    }
  }
}

TEST(CellSearch, RefiningHelpsAndIsRepeatable) {
  for (const Kind kind :
       {Kind::gaussian, Kind::lognormal, Kind::gamma, Kind::poisson, Kind::kernel, Kind::mixture}) {
    const DensitySensors sensors = line_sensors(2, kind);
    CellSearchOptions options;
    options.cells = 4;
    options.trials = 50;
    options.method = "random";
    const CellSearch random = find_cells(sensors, options);
    options.method = "refined";
    const CellSearch refined = find_cells(sensors, options);
    EXPECT_GE(refined.alpha, random.alpha) << to_string(kind);
    EXPECT_TRUE(refined.alpha > random.alpha || kind == Kind::poisson) << to_string(kind);
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
  for (const Kind kind :
       {Kind::gaussian, Kind::lognormal, Kind::kernel, Kind::mixture, Kind::table}) {
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
