#include "oas/estimation/diagnosis/reading_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "oas/estimation/diagnosis/noncentrality.hpp"

namespace oas {

namespace {

constexpr int kOrder = 4;
constexpr double kNoRank = std::numeric_limits<double>::quiet_NaN();

// Orthonormal polynomials of degree 1 … 4 over evenly weighted places, [degree][place].
Matrix rank_polynomials(int places) {
  Matrix basis(kOrder + 1, places);
  for (int k = 0; k <= kOrder; ++k) {
    for (int i = 0; i < places; ++i) basis(k, i) = std::pow(2.0 * (i + 0.5) / places - 1.0, k);
    for (int j = 0; j < k; ++j) {
      basis.row(k) -= basis.row(k).dot(basis.row(j)) / places * basis.row(j);
    }
    basis.row(k) *= std::sqrt(places) / basis.row(k).norm();
  }
  return basis.bottomRows(kOrder);
}

// Each component and, where there are several, all together.
std::size_t parts_of(int dimension) {
  return static_cast<std::size_t>(dimension) + (dimension > 1 ? 1 : 0);
}

}  // namespace

const ReadingFit::Part& ReadingFit::worst() const {
  return *std::min_element(parts.begin(), parts.end(), [](const Part& x, const Part& y) {
    return x.p_value < y.p_value || (x.p_value == y.p_value && x.statistic > y.statistic);
  });
}

double ReadingFit::smallest_shift(double level, double power) const {
  const double needed =
      noncentrality_at_level(kDegrees, level / static_cast<double>(parts.size()), power);
  double fewest = rows;
  for (const Part& part : parts) fewest = std::min(fewest, part.rows);
  // A shift by δ moves the mean of an even rank by δ/(2√π), that of the first polynomial by √12 so.
  return std::sqrt(widening * needed / fewest) * std::sqrt(std::numbers::pi / 3.0);
}

ReadingRanks::ReadingRanks(const ReadingLikelihood& likelihood, std::uint64_t seed)
    : likelihood_(likelihood),
      rng_({seed, 1, Role::estimation}),
      own_(static_cast<std::size_t>(likelihood.sensors().num_states())),
      histograms_(parts_of(likelihood.sensors().dimension()),
                  std::vector<std::int64_t>(kPlaces, 0)),
      last_(histograms_.size(), kNoRank),
      products_(histograms_.size(), 0.0),
      pairs_(histograms_.size(), 0.0) {}

void ReadingRanks::enter(std::size_t part, int below, int equal) {
  const int rank = below + static_cast<int>(rng_.below(static_cast<std::uint32_t>(equal) + 1));
  ++histograms_[part][static_cast<std::size_t>(rank)];
  const double centred = static_cast<double>(rank) - 0.5 * (kPlaces - 1);
  if (!std::isnan(last_[part])) {
    products_[part] += centred * last_[part];
    pairs_[part] += 1.0;
  }
  last_[part] = centred;
}

void ReadingRanks::add(const ScoredRow& row, Action action, std::span<const double> reading,
                       bool starts_run) {
  const OtherReadings& others = row.readings;
  if (starts_run) std::fill(last_.begin(), last_.end(), kNoRank);
  const auto components = others.readings.cols();
  for (Eigen::Index i = 0; i < components; ++i) {
    const auto column = others.readings.col(i).array();
    const double value = reading[static_cast<std::size_t>(i)];
    if (std::isnan(value)) {
      last_[static_cast<std::size_t>(i)] = kNoRank;
      continue;
    }
    enter(static_cast<std::size_t>(i), static_cast<int>((column < value).count()),
          static_cast<int>((column == value).count()));
  }
  if (components > 1) {
    const Vector densities = others.likelihoods * row.emitter.transpose();
    likelihood_(action, reading, own_);  // the row's have lost a factor
    const double own =
        row.emitter.dot(Eigen::Map<const Eigen::RowVectorXd>(own_.data(), row.emitter.size()));
    enter(static_cast<std::size_t>(components), static_cast<int>((densities.array() < own).count()),
          static_cast<int>((densities.array() == own).count()));
  }
  rows_ += 1.0;
}

ReadingFit ReadingRanks::finish(double widening) const {
  ReadingFit fit;
  fit.widening = widening;
  fit.rows = rows_;
  if (rows_ == 0.0) return fit;
  const Matrix polynomials = rank_polynomials(kPlaces);
  const double variance = (kPlaces * kPlaces - 1.0) / 12.0;  // of a rank
  const boost::math::chi_squared law(ReadingFit::kDegrees);
  for (std::size_t p = 0; p < histograms_.size(); ++p) {
    ReadingFit::Part part;
    const bool together = p > 0 && p + 1 == histograms_.size();
    part.name = together                 ? "all components together"
                : histograms_.size() > 1 ? fmt::format("reading {}", p + 1)
                                         : "reading";
    part.histogram = histograms_[p];
    part.rows = static_cast<double>(
        std::accumulate(part.histogram.begin(), part.histogram.end(), std::int64_t{0}));
    if (part.rows == 0.0) continue;
    Vector sums = Vector::Zero(kOrder);
    double mean = 0.0;
    for (int i = 0; i < kPlaces; ++i) {
      const auto count = static_cast<double>(part.histogram[static_cast<std::size_t>(i)]);
      sums += count * polynomials.col(i);
      mean += count * (i - 0.5 * (kPlaces - 1)) / part.rows;
    }
    part.statistic = sums.squaredNorm() / part.rows;
    if (pairs_[p] > 0.0) {
      part.dependence = products_[p] / (pairs_[p] * variance);
      part.statistic += pairs_[p] * part.dependence * part.dependence;
    }
    // Densities that are off differently in states that last make neighbours depend, too.
    part.statistic /= widening;
    part.shift = 2.0 * std::sqrt(std::numbers::pi) * mean / kPlaces;
    part.p_value = boost::math::cdf(boost::math::complement(law, part.statistic));
    fit.parts.push_back(std::move(part));
  }
  fit.p_value = std::min(1.0, fit.worst().p_value * static_cast<double>(fit.parts.size()));
  return fit;
}

}  // namespace oas
