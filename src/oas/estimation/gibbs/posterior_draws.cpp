#include "oas/estimation/gibbs/posterior_draws.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas::detail {

PosteriorDraws::PosteriorDraws(std::vector<std::span<const double>> chains, std::size_t entries)
    : chains_(std::move(chains)), entries_(entries), length_(chains_.front().size() / entries) {
  for (const std::span<const double> chain : chains_) {
    OAS_REQUIRE(chain.size() == length_ * entries_ && length_ > 0,
                "{} values of a chain for {} draws of {} entries", chain.size(), length_, entries_);
  }
}

std::vector<double> PosteriorDraws::some(std::size_t count) const {
  count = std::min(count, size());
  std::vector<double> result;
  for (std::size_t i = 0; i < count; ++i) {
    const double* first = draw(i * size() / count);
    result.insert(result.end(), first, first + entries_);
  }
  return result;
}

void PosteriorDraws::sort(std::size_t entry, std::vector<double>& out) const {
  out.resize(size());
  for (std::size_t d = 0; d < out.size(); ++d) out[d] = draw(d)[entry];
  std::sort(out.begin(), out.end());
}

double PosteriorDraws::mean(std::size_t entry) const { return mean_of(entry, 0, size()); }

double PosteriorDraws::variance(std::size_t entry) const { return variance_of(entry, 0, size()); }

double PosteriorDraws::disagreement(std::size_t entry) const {
  const std::size_t parts = 2 * chains_.size();
  const std::size_t length = size() / parts;
  double within = 0.0;
  std::vector<double> means;
  for (std::size_t part = 0; part < parts; ++part) {
    within += variance_of(entry, part * length, length) / static_cast<double>(parts);
    means.push_back(mean_of(entry, part * length, length));
  }
  const double centre =
      std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(parts);
  double between = 0.0;
  for (const double mean : means) {
    between += (mean - centre) * (mean - centre) / static_cast<double>(parts - 1);
  }
  return within > 0.0 ? std::sqrt(1.0 - 1.0 / static_cast<double>(length) + between / within) : 1.0;
}

double PosteriorDraws::mean_of(std::size_t entry, std::size_t first, std::size_t count) const {
  double sum = 0.0;
  for (std::size_t d = first; d < first + count; ++d) sum += draw(d)[entry];
  return sum / static_cast<double>(count);
}

double PosteriorDraws::variance_of(std::size_t entry, std::size_t first, std::size_t count) const {
  const double mean = mean_of(entry, first, count);
  double sum = 0.0;
  for (std::size_t d = first; d < first + count; ++d) {
    sum += (draw(d)[entry] - mean) * (draw(d)[entry] - mean);
  }
  return sum / static_cast<double>(count - 1);
}

}  // namespace oas::detail
