#include "support/chi_square.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace oas::test {

namespace {

struct Cell {
  double expected;
  double found;
};

}  // namespace

double chi_square_p_value(std::span<const std::int64_t> counts,
                          std::span<const double> probabilities) {
  const double total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  const double mass = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const auto found = static_cast<double>(counts[i]);
    if (probabilities[i] > 0.0) {
      cells.push_back({total * probabilities[i] / mass, found});
    } else if (found > 0.0) {
      return 0.0;
    }
  }
  const auto rarer = [](const Cell& x, const Cell& y) { return x.expected < y.expected; };
  std::sort(cells.begin(), cells.end(), rarer);
  std::size_t first = 0;  // cells before it were poured into their successor
  while (first + 1 < cells.size() && cells[first].expected < 5.0) {
    cells[first + 1].expected += cells[first].expected;
    cells[first + 1].found += cells[first].found;
    ++first;
  }
  const std::size_t used = cells.size() - first;
  if (counts.size() != probabilities.size() || used < 2) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double statistic = 0.0;
  for (std::size_t i = first; i < cells.size(); ++i) {
    const double difference = cells[i].found - cells[i].expected;
    statistic += difference * difference / cells[i].expected;
  }
  const boost::math::chi_squared distribution(static_cast<double>(used - 1));
  return boost::math::cdf(boost::math::complement(distribution, statistic));
}

double uniformity_p_value(std::span<const double> samples, const std::function<double(double)>& cdf,
                          int cells) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(cells), 0);
  for (const double sample : samples) {
    const int cell = static_cast<int>(cdf(sample) * cells);
    ++counts[static_cast<std::size_t>(std::clamp(cell, 0, cells - 1))];
  }
  return chi_square_p_value(counts, std::vector<double>(counts.size(), 1.0));
}

double kolmogorov_smirnov_p_value(std::vector<double> samples,
                                  const std::function<double(double)>& cdf) {
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double p = cdf(samples[i]);
    distance =
        std::max({distance, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  return std::min(1.0, 2.0 * std::exp(-2.0 * n * distance * distance));
}

}  // namespace oas::test
