#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/sensors/detail/family_rivals.hpp"

namespace oas::detail {

namespace {

// Standard errors by which a flexible family must be better. With 2, two humps of 30 readings are
// too often taken for one.
constexpr double kClearly = 1.0;
constexpr double kFarBehind = 4.0;  // standard errors

double weighted_sum(std::span<const double> scores, std::span<const double> weights) {
  if (weights.empty()) return std::accumulate(scores.begin(), scores.end(), 0.0);
  return std::inner_product(scores.begin(), scores.end(), weights.begin(), 0.0);
}

}  // namespace

std::pair<double, double> mean_difference(std::span<const double> a, std::span<const double> b) {
  const auto n = static_cast<double>(a.size());
  double mean = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) mean += (a[i] - b[i]) / n;
  double squares = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    squares += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
  }
  return {mean, std::sqrt(squares / (n * (n - 1.0)))};
}

std::vector<double> bootstrap_weights(std::size_t readings, Rng& rng) {
  std::vector<double> weights(readings);
  double sum = 0.0;
  for (double& weight : weights) sum += weight = sample_gamma(1.0, rng);
  for (double& weight : weights) weight *= static_cast<double>(readings) / sum;
  return weights;
}

void FamilyRivals::add(DensityFamily family, std::vector<double> scores) {
  OAS_ASSERT(rivals_.empty() || rivals_.front().scores.size() == scores.size());
  rivals_.push_back({family, std::move(scores)});
  const Rival& best = *highest({}, false);
  for (Rival& one : rivals_) {
    const auto [behind, error] = mean_difference(best.scores, one.scores);
    one.far_behind = behind > kFarBehind * error;
  }
}

const FamilyRivals::Rival* FamilyRivals::highest(std::span<const double> weights,
                                                 bool simple) const {
  const Rival* best = nullptr;
  double most = 0.0;
  for (const Rival& one : rivals_) {
    if ((simple && !is_simple(one.family)) || (!weights.empty() && one.far_behind)) continue;
    const double score = weighted_sum(one.scores, weights);
    if (best != nullptr && !(score > most)) continue;
    best = &one;
    most = score;
  }
  return best;
}

DensityFamily FamilyRivals::chosen(std::span<const double> weights) const {
  const Rival* best = highest(weights, false);
  const Rival* simple = highest(weights, true);
  if (simple == nullptr || simple == best) return best->family;
  const double n = static_cast<double>(best->scores.size());
  const double gain =
      (weighted_sum(best->scores, weights) - weighted_sum(simple->scores, weights)) / n;
  const double error = mean_difference(best->scores, simple->scores).second;
  return gain > kClearly * error ? best->family : simple->family;
}

DensityFamily FamilyRivals::draw(Rng& rng) const {
  return chosen(bootstrap_weights(rivals_.front().scores.size(), rng));
}

std::vector<DensityFamily> FamilyRivals::in_doubt() const {
  std::vector<DensityFamily> families;
  for (const Rival& one : rivals_) {
    if (!one.far_behind || one.family == choice()) families.push_back(one.family);
  }
  return families;
}

const std::vector<double>& FamilyRivals::scores(DensityFamily family) const {
  const auto place = std::find_if(rivals_.begin(), rivals_.end(),
                                  [&](const Rival& one) { return one.family == family; });
  OAS_ASSERT(place != rivals_.end());
  return place->scores;
}

}  // namespace oas::detail
