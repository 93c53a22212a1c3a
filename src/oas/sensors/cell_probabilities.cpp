#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/owens_t.hpp>
#include <cmath>
#include <limits>

#include "oas/core/low_discrepancy.hpp"
#include "oas/sensors/detail/cell_probabilities.hpp"

namespace oas::detail {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kPoints = 4096;

double normal_cdf(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }

// Owen's T with the slope rise / (h root); its limit from above at h = 0.
double owens(double h, double rise, double root) {
  if (h == 0.0) return std::copysign(0.25, rise);
  return boost::math::owens_t(h, rise / (h * root));
}

// P(X <= h, Y <= k) of two standard normals with this correlation, and root = √(1 - correlation²).
double normal_plane(double h, double k, double correlation, double root) {
  if (h == -kInfinity || k == -kInfinity) return 0.0;
  if (h == kInfinity) return normal_cdf(k);
  if (k == kInfinity) return normal_cdf(h);
  if (h == 0.0 && k == 0.0)
    return 0.25 + std::asin(correlation) / boost::math::constants::two_pi<double>();
  const double crossed = h * k < 0.0 || (h * k == 0.0 && h + k < 0.0) ? 0.5 : 0.0;
  return 0.5 * (normal_cdf(h) + normal_cdf(k)) - crossed - owens(h, k - correlation * h, root) -
         owens(k, h - correlation * k, root);
}

// The bounds of all intervals: -∞, the split points, ∞.
std::vector<double> bounds_of(const std::vector<double>& splits) {
  std::vector<double> bounds = {-kInfinity};
  bounds.insert(bounds.end(), splits.begin(), splits.end());
  bounds.push_back(kInfinity);
  return bounds;
}

}  // namespace

CellProbabilities::CellProbabilities(const VectorDensity& density, bool rough)
    : density_(&density) {
  if (!rough || !density.dependent() || density.dimension() <= 2) return;
  const auto d = static_cast<std::size_t>(density.dimension());
  const LowDiscrepancy evenly(density.dimension(), kPoints);
  points_.resize(d * kPoints);
  for (int i = 0; i < kPoints; ++i) {
    const std::span<double> point(points_.data() + static_cast<std::size_t>(i) * d, d);
    evenly.point(i, point);
    density.from_uniform(point, point);
  }
}

void CellProbabilities::operator()(const std::vector<std::vector<double>>& splits,
                                   std::span<double> out) {
  if (!density_->dependent() || density_->dimension() == 1) {
    independent(splits, out);
  } else if (density_->dimension() == 2) {
    plane(splits, out);
  } else if (points_.empty()) {
    boxes(splits, out);
  } else {
    shares(splits, out);
  }
  for (double& value : out) value = std::max(0.0, value);
}

void CellProbabilities::independent(const std::vector<std::vector<double>>& splits,
                                    std::span<double> out) const {
  std::size_t filled = 1;
  out[0] = 1.0;
  for (std::size_t c = 0; c < splits.size(); ++c) {
    std::vector<double> parts;
    double below = 0.0;
    for (const double bound : bounds_of(splits[c])) {
      const double above = density_->marginals()[c].cdf(bound);
      if (bound != -kInfinity) parts.push_back(above - below);
      below = above;
    }
    for (std::size_t i = filled; i-- > 0;) {  // from behind: out[i] becomes out[i m] …
      const double before = out[i];
      for (std::size_t k = 0; k < parts.size(); ++k) {
        out[i * parts.size() + k] = before * parts[k];
      }
    }
    filled *= parts.size();
  }
}

void CellProbabilities::plane(const std::vector<std::vector<double>>& splits,
                              std::span<double> out) {
  const auto& covariance = density_->covariance();
  const double first = std::sqrt(covariance[0]);
  const double second = std::sqrt(covariance[3]);
  const double correlation = covariance[1] / (first * second);
  const double root = std::sqrt((1.0 - correlation) * (1.0 + correlation));
  const auto mean = [&](std::size_t c) { return density_->marginals()[c].parameters()[0]; };
  const std::vector<double> rows = bounds_of(splits[0]);
  const std::vector<double> columns = bounds_of(splits[1]);
  const std::size_t width = columns.size();
  const bool same_size = rows.size() == rows_.size() && width == columns_.size();
  corners_.resize(rows.size() * width);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      if (same_size && rows[i] == rows_[i] && columns[k] == columns_[k]) continue;
      corners_[i * width + k] = normal_plane((rows[i] - mean(0)) / first,
                                             (columns[k] - mean(1)) / second, correlation, root);
    }
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double* const here = corners_.data() + i * width;
    const double* const above = here - width;
    for (std::size_t k = 1; k < width; ++k) {
      out[(i - 1) * (width - 1) + k - 1] = (here[k] - here[k - 1]) - (above[k] - above[k - 1]);
    }
  }
  rows_ = rows;
  columns_ = columns;
}

void CellProbabilities::boxes(const std::vector<std::vector<double>>& splits,
                              std::span<double> out) const {
  const std::size_t d = splits.size();
  std::vector<double> low(d);
  std::vector<double> high(d);
  for (std::size_t u = 0; u < out.size(); ++u) {
    std::size_t rest = u;
    for (std::size_t c = d; c-- > 0;) {
      const std::size_t i = rest % (splits[c].size() + 1);
      low[c] = i == 0 ? -kInfinity : splits[c][i - 1];
      high[c] = i == splits[c].size() ? kInfinity : splits[c][i];
      rest /= splits[c].size() + 1;
    }
    out[u] = density_->box(low, high);
  }
}

void CellProbabilities::shares(const std::vector<std::vector<double>>& splits,
                               std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  for (auto point = points_.begin(); point != points_.end();) {
    std::size_t cell = 0;
    for (const std::vector<double>& list : splits) {
      const auto above = std::lower_bound(list.begin(), list.end(), *point++);
      cell = cell * (list.size() + 1) + static_cast<std::size_t>(above - list.begin());
    }
    out[cell] += 1.0 / kPoints;
  }
}

}  // namespace oas::detail
