#include "oas/counts/pair_folder.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr std::size_t kMaxBatches = 128;      // between 64 and 128 are kept
constexpr std::int64_t kFirstBatchPairs = 8;  // doubled whenever there would be more batches
constexpr std::int64_t kFewestRows = 64;      // of a batch with weights by age
constexpr std::int64_t kShortestSpan = 16;    // where batches are made of several

// Short against the weights' own scale; where spans are batches, long enough for batches that
// hardly depend on each other.
std::int64_t rows_per_batch(const Forgetting& forgetting) {
  forgetting.validate();
  double rows = 1e15;
  if (forgetting.half_life > 0.0) rows = forgetting.half_life / 16.0;
  if (forgetting.window > 0) rows = std::min(rows, static_cast<double>(forgetting.window) / 128.0);
  return std::max(forgetting.by_run() ? kShortestSpan : kFewestRows,
                  static_cast<std::int64_t>(rows));
}

void multiply(PairMoments& moments, double weight) {
  for (double& sum : moments.sums) sum *= weight;
}

}  // namespace

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
  for (const auto& [length, count] : other.run_lengths) run_lengths[length] += count;
  rows += other.rows;
  runs += other.runs;
  missing += other.missing;
  certain_actions += other.certain_actions;
  smallest_propensity = std::min(smallest_propensity, other.smallest_propensity);
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
    multiply(batches[b], weight);
    kept.push_back(std::move(batches[b]));
    weights.push_back(weight);
  }
  batches = std::move(kept);
  spans.clear();
}

PairFolder::PairFolder(const LeftInverses& inverses, Timing timing, const FoldOptions& options)
    : inverses_(&inverses),
      timing_(timing),
      options_(options),
      current_(inverses.num_states(), inverses.num_actions()),
      batch_pairs_(kFirstBatchPairs),
      weighted_(current_),
      batch_weight_(static_cast<double>(kFirstBatchPairs)) {
  const auto symbols = static_cast<std::int64_t>(inverses.num_actions()) *
                       static_cast<std::int64_t>(inverses.num_observations());
  const bool weighted = options.inverse_propensity || !options.first_weight.empty() ||
                        !options.second_weight.empty() || options.forgetting.active();
  if (!weighted && symbols * symbols <= options.max_dense_cells) {
    counts_.emplace(inverses.num_actions(), inverses.num_observations());
  }
  series_.batches.reserve(kMaxBatches + 1);
  if (options.forgetting.active()) batch_rows_ = rows_per_batch(options.forgetting);
}

void PairFolder::start_run() {
  end_run();
  previous_.reset();
  first_of_pair_ = true;
  ++series_.runs;
}

void PairFolder::add(std::span<const Action> actions, std::span<const Observation> observations,
                     std::span<const double> propensities) {
  const std::size_t n = actions.size();
  OAS_REQUIRE(observations.size() == n && (propensities.empty() || propensities.size() == n),
              "{} actions, {} observations, {} propensities", n, observations.size(),
              propensities.size());
  OAS_REQUIRE(n == 0 || !propensities.empty() || !options_.inverse_propensity,
              "pairs are to be weighted by propensities, and there are none");
  if (series_.runs == 0 && n > 0) start_run();
  for (std::size_t t = 0; t < n; ++t) {
    const PairRow row{actions[t], observations[t]};
    double weight = 1.0;
    if (!propensities.empty()) {
      series_.certain_actions += propensities[t] == 1.0;
      series_.smallest_propensity = std::min(series_.smallest_propensity, propensities[t]);
      if (options_.inverse_propensity) weight = 1.0 / propensities[t];
    }
    const bool seen = row.observation != kMissing;
    series_.missing += !seen;
    if (previous_ && seen && !(options_.pairing == Pairing::disjoint && first_of_pair_)) {
      if (!options_.first_weight.empty()) {
        weight *= options_.first_weight[static_cast<std::size_t>(previous_->action)];
      }
      if (!options_.second_weight.empty()) {
        weight *= options_.second_weight[static_cast<std::size_t>(row.action)];
      }
      add_pair(*previous_, row, weight);
    }
    previous_ = seen ? std::optional(row) : std::nullopt;
    first_of_pair_ = !first_of_pair_;
    ++series_.rows;
    ++run_rows_;
    if (batch_rows_ > 0 && spanned_rows() - span_first_ == batch_rows_) close_span();
  }
}

void PairFolder::add_pair(PairRow first, PairRow second, double weight) {
  if (counts_) {
    counts_->add(first.action, first.observation, second.action, second.observation);
  } else {
    oas::add_pair(first, second, weight, *inverses_, timing_, current_);
  }
  if (++pairs_in_batch_ == batch_pairs_ && batch_rows_ == 0) close_batch();
}

void PairFolder::close_batch() {
  if (pairs_in_batch_ == 0) return;
  if (counts_) {
    series_.batches.push_back(project(*counts_, *inverses_, timing_));
    counts_->clear();
  } else {
    series_.batches.push_back(current_);
    current_.clear();
  }
  pairs_in_batch_ = 0;
  if (series_.batches.size() == kMaxBatches) halve_batches();
}

// Spans that are older than all that counts go.
void PairFolder::close_span() {
  MomentSeries& all = spanned();
  all.batches.push_back(current_);
  const std::int64_t rows = spanned_rows();
  all.spans.emplace_back(span_first_, rows);
  span_first_ = rows;
  current_.clear();
  pairs_in_batch_ = 0;
  const std::int64_t reach = options_.forgetting.reach();
  const auto is_old = [&](const auto& span) { return rows - span.second >= reach; };
  // In one go when half of them are old, so that a span costs nothing to speak of.
  if (!is_old(all.spans[all.spans.size() / 2])) return;
  const auto young = std::find_if_not(all.spans.begin(), all.spans.end(), is_old);
  const auto old = young - all.spans.begin();
  all.spans.erase(all.spans.begin(), young);
  all.batches.erase(all.batches.begin(), all.batches.begin() + old);
}

void PairFolder::end_run() {
  if (run_rows_ > 0) ++series_.run_lengths[run_rows_];
  if (options_.forgetting.by_run()) weigh_run();
  run_rows_ = 0;
}

// Now the age of its rows is known.
void PairFolder::weigh_run() {
  const std::int64_t rows = run_rows_;
  if (rows > span_first_) close_span();
  for (std::size_t i = 0; i < run_.spans.size(); ++i) {
    const auto [first, end] = run_.spans[i];
    const double weight = options_.forgetting.mean_weight(rows - end, end - first);
    if (!(weight > 0.0) || rows - end >= options_.forgetting.reach()) continue;
    multiply(run_.batches[i], weight);
    weighted_.add(run_.batches[i]);
    weight_ += weight * static_cast<double>(end - first);
    if (weight_ >= batch_weight_) close_weighted();
  }
  run_.batches.clear();
  run_.spans.clear();
  span_first_ = 0;
}

void PairFolder::close_weighted() {
  if (weighted_.total_pairs() > 0) {
    series_.batches.push_back(weighted_);
    series_.weights.push_back(weight_);
  }
  weighted_.clear();
  weight_ = 0.0;
  if (series_.batches.size() == kMaxBatches) halve_batches();
}

void PairFolder::halve_batches() {
  auto& batches = series_.batches;
  for (std::size_t i = 0; i + 1 < batches.size(); i += 2) {
    batches[i].add(batches[i + 1]);
    if (i > 0) batches[i / 2] = std::move(batches[i]);
  }
  batches.resize(batches.size() / 2, PairMoments(current_.num_states, current_.num_actions));
  batch_pairs_ *= 2;
  auto& weights = series_.weights;
  for (std::size_t i = 0; i + 1 < weights.size(); i += 2) {
    weights[i / 2] = weights[i] + weights[i + 1];
  }
  weights.resize(weights.size() / 2);
  batch_weight_ *= 2.0;
}

MomentSeries PairFolder::finish() {
  end_run();
  if (batch_rows_ == 0) {
    close_batch();
  } else if (options_.forgetting.by_run()) {
    close_weighted();
  } else if (series_.rows > span_first_) {
    close_span();
  }
  span_first_ = 0;
  previous_.reset();
  batch_pairs_ = kFirstBatchPairs;
  batch_weight_ = static_cast<double>(kFirstBatchPairs);
  return std::exchange(series_, MomentSeries{});
}

}  // namespace oas
