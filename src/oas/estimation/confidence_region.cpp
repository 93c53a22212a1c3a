#include "oas/estimation/confidence_region.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"

namespace oas {

namespace {

constexpr std::uint64_t kDrawSeed = 20'190'301;
constexpr double kMostDraws = 10'000.0;
constexpr double kFewestDraws = 2000.0;
constexpr double kMostWork = 2e9;    // multiplications for all draws
constexpr double kMostStored = 4e6;  // numbers kept for quantiles
constexpr std::size_t kMostEntries = 2048;
constexpr Eigen::Index kChunk = 64;    // draws at a time
constexpr double kWholeSimplex = 2.0;  // the largest L1 distance of two distributions

// Two-sided critical value of one entry.
double critical_value(double confidence, double degrees) {
  const double p = 0.5 + 0.5 * confidence;
  if (std::isinf(degrees)) return boost::math::quantile(boost::math::normal(), p);
  return boost::math::quantile(boost::math::students_t(degrees), p);
}

// The least of `values` that a share `level` of them does not exceed.
double upper_quantile(std::vector<double>& values, double level) {
  const auto n = static_cast<double>(values.size());
  const auto rank = static_cast<std::ptrdiff_t>(std::clamp(std::ceil(level * n), 1.0, n)) - 1;
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

std::size_t row_length(const JointErrors& errors) {
  return static_cast<std::size_t>(errors.factor.rows()) / errors.determined.size();
}

void check_sizes(const JointErrors& errors, std::span<const double> values) {
  const auto entries = static_cast<std::size_t>(errors.factor.rows());
  OAS_REQUIRE(entries == values.size() && !errors.determined.empty() &&
                  entries % errors.determined.size() == 0,
              "errors of {} entries in {} rows for {} values", entries, errors.determined.size(),
              values.size());
}

// The same covariance with as few columns as it needs.
Matrix narrow(const Matrix& factor) {
  if (factor.cols() <= factor.rows()) return factor;
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(factor * factor.transpose());
  const Vector& values = eigen.eigenvalues();
  const double least = 1e-14 * std::max(values(values.size() - 1), 0.0);
  const Eigen::Index null = (values.array() <= least).count();
  return eigen.eigenvectors().rightCols(values.size() - null) *
         values.tail(values.size() - null).cwiseSqrt().asDiagonal();
}

// What the draws say of every row: [row][draw].
struct RowDraws {
  std::vector<std::vector<double>> largest;  // max |error / se|
  std::vector<std::vector<double>> l1;       // Σ |error|
};

RowDraws draw_rows(const JointErrors& errors, const std::vector<double>& standard_error) {
  const std::size_t num_rows = errors.determined.size();
  const std::size_t n = row_length(errors);
  const Matrix factor = narrow(errors.factor);
  const double work = static_cast<double>(factor.size()) + 1.0;
  const auto draws = static_cast<std::size_t>(
      std::clamp(std::min(kMostWork / work, kMostStored / static_cast<double>(num_rows)),
                 kFewestDraws, kMostDraws));
  RowDraws result;
  result.largest.assign(num_rows, std::vector<double>(draws, 0.0));
  result.l1 = result.largest;
  Rng rng({kDrawSeed, 0, Role::bootstrap});
  Matrix normal(factor.cols(), kChunk);
  for (std::size_t first = 0; first < draws; first += kChunk) {
    for (double& value : normal.reshaped()) value = sample_normal(rng);
    Matrix drawn = factor * normal;
    if (std::isfinite(errors.degrees)) {
      for (Eigen::Index k = 0; k < kChunk; ++k) {
        const double square = 2.0 * sample_gamma(0.5 * errors.degrees, rng);
        drawn.col(k) *= std::sqrt(errors.degrees / square);
      }
    }
    const std::size_t count = std::min<std::size_t>(kChunk, draws - first);
    for (std::size_t row = 0; row < num_rows; ++row) {
      if (errors.determined[row] == 0) continue;
      for (std::size_t i = row * n; i < (row + 1) * n; ++i) {
        const double scale = standard_error[i] > 0.0 ? 1.0 / standard_error[i] : 0.0;
        for (std::size_t k = 0; k < count; ++k) {
          const double size =
              std::abs(drawn(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)));
          double& largest = result.largest[row][first + k];
          largest = std::max(largest, size * scale);
          result.l1[row][first + k] += size;
        }
      }
    }
  }
  return result;
}

// Fills one region from critical values and radii of rows.
void fill_region(std::span<const double> values, const std::vector<double>& standard_error,
                 ConfidenceRegion& region) {
  const std::size_t n = values.size() / region.factor.size();
  region.lower.resize(values.size());
  region.upper.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double factor = region.factor[i / n];
    const bool known = std::isfinite(factor) && std::isfinite(standard_error[i]);
    const double half = known ? factor * standard_error[i] : 2.0;
    region.lower[i] = std::max(0.0, values[i] - half);
    region.upper[i] = std::min(1.0, values[i] + half);
  }
  for (double& radius : region.l1) {
    radius = std::isfinite(radius) ? std::min(radius, kWholeSimplex) : kWholeSimplex;
  }
}

// Bonferroni's for every row, and for all rows at once.
void bonferroni(std::span<const double> values, std::size_t num_rows, double degrees,
                TransitionEstimate& estimate) {
  const std::size_t n = values.size() / num_rows;
  // Two entries that sum to 1 have one error.
  const auto per_row = static_cast<double>(n == 2 ? 1 : n);
  std::vector<double> width(num_rows, 0.0);
  double determined = 0.0;
  for (std::size_t row = 0; row < num_rows; ++row) {
    const auto first = estimate.standard_error.begin() + static_cast<std::ptrdiff_t>(row * n);
    width[row] = std::accumulate(first, first + static_cast<std::ptrdiff_t>(n), 0.0);
    determined += std::isfinite(width[row]);
  }
  const auto fill = [&](double entries, ConfidenceRegion& region) {
    const double factor =
        critical_value(1.0 - (1.0 - estimate.confidence) / std::max(entries, 1.0), degrees);
    for (const double sum : width) {
      region.factor.push_back(std::isfinite(sum) ? factor
                                                 : std::numeric_limits<double>::quiet_NaN());
      region.l1.push_back(factor * sum);
    }
    fill_region(values, estimate.standard_error, region);
  };
  estimate.row_region = {};
  estimate.joint_region = {};
  fill(per_row, estimate.row_region);
  fill(per_row * determined, estimate.joint_region);
}

}  // namespace

void set_error_bars(const JointErrors& errors, std::span<const double> values,
                    TransitionEstimate& estimate) {
  check_sizes(errors, values);
  const double critical = critical_value(estimate.confidence, errors.degrees);
  const std::size_t n = row_length(errors);
  estimate.standard_error.resize(values.size());
  estimate.lower.resize(values.size());
  estimate.upper.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool known = errors.determined[i / n] != 0;
    const double error = errors.factor.row(static_cast<Eigen::Index>(i)).norm();
    const double half = critical * error;
    estimate.standard_error[i] = known ? error : std::numeric_limits<double>::quiet_NaN();
    estimate.lower[i] = known ? std::max(0.0, values[i] - half) : 0.0;
    estimate.upper[i] = known ? std::min(1.0, values[i] + half) : 1.0;
  }
}

void add_regions(const JointErrors& errors, std::span<const double> values,
                 TransitionEstimate& estimate) {
  check_sizes(errors, values);
  OAS_REQUIRE(estimate.standard_error.size() == values.size(), "{} standard errors for {} values",
              estimate.standard_error.size(), values.size());
  const std::size_t num_rows = errors.determined.size();
  if (values.size() > kMostEntries) {
    return bonferroni(values, num_rows, errors.degrees, estimate);
  }
  RowDraws draws = draw_rows(errors, estimate.standard_error);
  // A row with one free direction is a single entry, whatever the draws say.
  const double single = critical_value(estimate.confidence, errors.degrees);
  const std::size_t count = draws.largest.front().size();
  std::vector<double> largest(count, 0.0);
  std::vector<double> stretch(count, 0.0);
  estimate.row_region = {};
  estimate.joint_region = {};
  for (std::size_t row = 0; row < num_rows; ++row) {
    for (std::size_t k = 0; k < count; ++k)
      largest[k] = std::max(largest[k], draws.largest[row][k]);
    std::vector<double> sorted = draws.l1[row];
    const double radius = upper_quantile(sorted, estimate.confidence);
    for (std::size_t k = 0; k < count && radius > 0.0; ++k) {
      stretch[k] = std::max(stretch[k], draws.l1[row][k] / radius);
    }
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    const bool known = errors.determined[row] != 0;
    estimate.row_region.factor.push_back(
        known ? std::max(single, upper_quantile(draws.largest[row], estimate.confidence))
              : unknown);
    estimate.row_region.l1.push_back(known ? radius : unknown);
  }
  const double factor = std::max(single, upper_quantile(largest, estimate.confidence));
  const double wider = std::max(1.0, upper_quantile(stretch, estimate.confidence));
  for (std::size_t row = 0; row < num_rows; ++row) {
    const bool known = errors.determined[row] != 0;
    estimate.joint_region.factor.push_back(known ? factor
                                                 : std::numeric_limits<double>::quiet_NaN());
    estimate.joint_region.l1.push_back(wider * estimate.row_region.l1[row]);
  }
  fill_region(values, estimate.standard_error, estimate.row_region);
  fill_region(values, estimate.standard_error, estimate.joint_region);
}

void add_bonferroni_regions(std::span<const double> values, TransitionEstimate& estimate) {
  if (estimate.standard_error.empty()) return;
  OAS_REQUIRE(estimate.standard_error.size() == values.size() && !estimate.visits.empty(),
              "{} standard errors for {} values", estimate.standard_error.size(), values.size());
  bonferroni(values, estimate.visits.size(), std::numeric_limits<double>::infinity(), estimate);
}

}  // namespace oas
