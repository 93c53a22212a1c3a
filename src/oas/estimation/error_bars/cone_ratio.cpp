#include "oas/estimation/error_bars/detail/cone_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/core/sampling.hpp"
#include "oas/estimation/error_bars/detail/free_coordinates.hpp"

namespace oas::detail {

namespace {

constexpr std::uint64_t kDrawSeed = 19'870'602;
constexpr std::size_t kDraws = 400;
constexpr double kLevel = 0.95;
constexpr int kMostSweeps = 100;
constexpr double kStill = 1e-4;            // standard errors that a sweep moves
constexpr double kLeastOwn = 0.01;         // of a variance, that no other coordinate shares
constexpr double kLeastInformation = 4.0;  // a standard error of 1/2: all that [0,1] allows
constexpr double kLeaning = 0.02;          // square of a correlation that is felt
constexpr double kSameNumber = 0.99;
constexpr std::size_t kMostLeaning = 12;
constexpr double kLeastRatio = 0.4;  // about nine entries that lean on each other

// The least of (x - z)'H(x - z) over x from coordinate `first` on, those before held at 0; all but
// coordinate 0 at least 0. By one coordinate after the other.
double distance(const Matrix& precision, const Vector& point, Eigen::Index first) {
  Vector x = Vector::Zero(point.size());
  Vector slope = precision * point;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double moved = 0.0;
    for (Eigen::Index i = first; i < x.size(); ++i) {
      double step = slope(i) / precision(i, i);
      if (i > 0) step = std::max(step, -x(i));
      x(i) += step;
      slope -= step * precision.col(i);
      moved = std::max(moved, std::abs(step));
    }
    if (moved < kStill) break;
  }
  const Vector left = x - point;
  return left.dot(precision * left);
}

double upper_point(std::vector<double>& values) {
  const auto rank = static_cast<std::ptrdiff_t>(kLevel * static_cast<double>(values.size()));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

}  // namespace

double cone_ratio(const Matrix& covariance) {
  const Eigen::Index size = covariance.rows();
  if (size < 2) return 1.0;
  const Vector scale = covariance.diagonal().cwiseSqrt().cwiseInverse();
  Matrix correlation = scale.asDiagonal() * covariance * scale.asDiagonal();
  correlation *= 1.0 - kLeastOwn;
  correlation.diagonal().setOnes();
  const SymmetricEigen eigen = symmetric_eigen(correlation);
  const Vector values = eigen.values.cwiseMax(kLeastOwn);
  const Matrix precision =
      eigen.vectors * values.cwiseInverse().asDiagonal() * eigen.vectors.transpose();
  const Matrix root = eigen.vectors * values.cwiseSqrt().asDiagonal() * eigen.vectors.transpose();
  Rng rng({kDrawSeed, 0, Role::bootstrap});
  std::vector<double> plain;
  std::vector<double> differences;
  Vector normal(size);
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    for (double& one : normal) one = sample_normal(rng);
    const Vector point = root * normal;
    plain.push_back(point(0) * point(0));
    differences.push_back(distance(precision, point, 1) - distance(precision, point, 0));
  }
  return std::clamp(upper_point(plain) / upper_point(differences), kLeastRatio, 1.0);
}

std::vector<double> cone_ratios(const Summit& summit, const PenalisedFit& fit) {
  const std::size_t entries = fit.at.values().size();
  std::vector<double> ratios(entries, 1.0);
  if (fit.information.size() == 0) return ratios;
  const SymmetricEigen eigen = symmetric_eigen(fit.information);
  const Vector roots = eigen.values.cwiseMax(kLeastInformation).cwiseSqrt();
  // All entries let go, on either side of 0.
  const Matrix factor =
      FreeCoordinates(fit.at).expand(eigen.vectors * roots.cwiseInverse().asDiagonal());
  const Matrix covariance = factor * factor.transpose();
  const auto variance = [&](std::size_t i) {
    return covariance(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i));
  };
  std::vector<std::size_t> near_zero;
  for (std::size_t i = 0; i < entries; ++i) {
    const double value = summit.at.values()[i];
    if (variance(i) > 0.0 && value * value < variance(i)) near_zero.push_back(i);
  }
  for (std::size_t entry = 0; entry < entries; ++entry) {
    if (!(variance(entry) > 0.0)) continue;
    std::vector<std::pair<double, std::size_t>> leaning;
    for (const std::size_t i : near_zero) {
      const double shared =
          covariance(static_cast<Eigen::Index>(entry), static_cast<Eigen::Index>(i));
      const double square = shared * shared / (variance(entry) * variance(i));
      // In a row of two both entries are one number.
      if (i != entry && square > kLeaning && square < kSameNumber) leaning.emplace_back(-square, i);
    }
    std::sort(leaning.begin(), leaning.end());
    if (leaning.size() > kMostLeaning) leaning.resize(kMostLeaning);
    std::vector<Eigen::Index> chosen = {static_cast<Eigen::Index>(entry)};
    for (const auto& [square, i] : leaning) chosen.push_back(static_cast<Eigen::Index>(i));
    Matrix corner = covariance(chosen, chosen);
    if (corner.rows() > 1 && corner(0, 1) < 0.0) {  // either side is the same, to the draw
      corner.row(0) *= -1.0;
      corner.col(0) *= -1.0;
    }
    ratios[entry] = cone_ratio(corner);
  }
  return ratios;
}

}  // namespace oas::detail
