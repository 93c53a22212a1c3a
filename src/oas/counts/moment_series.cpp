#include "oas/counts/moment_series.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas {

void RowBooks::enter(std::span<const Observation> observations,
                     std::span<const double> propensities) {
  rows += static_cast<std::int64_t>(observations.size());
  missing += std::count(observations.begin(), observations.end(), kMissing);
  std::int64_t certain = 0;
  double smallest = smallest_propensity;
  for (const double propensity : propensities) {
    certain += propensity == 1.0;
    smallest = std::min(smallest, propensity);
  }
  certain_actions += certain;
  smallest_propensity = smallest;
}

void RowBooks::append(const RowBooks& other) {
  for (const auto& [length, count] : other.run_lengths) run_lengths[length] += count;
  rows += other.rows;
  runs += other.runs;
  missing += other.missing;
  certain_actions += other.certain_actions;
  smallest_propensity = std::min(smallest_propensity, other.smallest_propensity);
}

void RowBooks::save(ByteWriter& out) const {
  for (const std::int64_t value : {rows, runs, missing, certain_actions}) out.put(value);
  out.put(smallest_propensity);
  out.put(static_cast<std::int64_t>(run_lengths.size()));
  for (const auto& [length, count] : run_lengths) {
    out.put(length);
    out.put(count);
  }
}

void RowBooks::load(ByteReader& in) {
  for (std::int64_t* value : {&rows, &runs, &missing, &certain_actions}) {
    *value = in.get_integer(0, std::int64_t{1} << 60);
  }
  smallest_propensity = in.get<double>();
  run_lengths.clear();
  for (std::int64_t left = in.get_integer(0, 1 << 30); left > 0; --left) {
    const auto length = in.get<std::int64_t>();
    run_lengths[length] = in.get<std::int64_t>();
  }
}

PairMoments MomentSeries::total() const {
  OAS_REQUIRE(!batches.empty(), "a moment series without batches has no total");
  PairMoments sum(batches.front().num_states, batches.front().num_actions);
  for (const PairMoments& batch : batches) sum.add(batch);
  return sum;
}

double MomentSeries::effective_batches() const {
  if (weights.empty()) return static_cast<double>(batches.size());
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  return sum * sum / std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
}

void MomentSeries::append(MomentSeries other) {
  std::move(other.batches.begin(), other.batches.end(), std::back_inserter(batches));
  for (const auto& [first, end] : other.spans) spans.emplace_back(rows + first, rows + end);
  weights.insert(weights.end(), other.weights.begin(), other.weights.end());
  RowBooks::append(other);
}

void MomentSeries::forget(const Forgetting& forgetting) {
  forgetting.check_age(runs);
  if (!forgetting.active() || forgetting.by_run()) return;
  OAS_REQUIRE(spans.size() == batches.size(), "{} batches with {} spans of rows", batches.size(),
              spans.size());
  std::vector<PairMoments> kept;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const auto [first, end] = spans[b];
    const double weight = forgetting.mean_weight(rows - end, end - first);
    if (!(weight > 0.0) || rows - end >= forgetting.reach()) continue;
    batches[b].multiply(weight);
    kept.push_back(std::move(batches[b]));
    weights.push_back(weight);
  }
  batches = std::move(kept);
  spans.clear();
}

}  // namespace oas
