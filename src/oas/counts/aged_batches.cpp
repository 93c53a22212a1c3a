#include "oas/counts/aged_batches.hpp"

#include <algorithm>

#include "oas/counts/batches.hpp"

namespace oas {

namespace {

constexpr std::int64_t kFewestRows = 64;    // of a batch with weights by age
constexpr std::int64_t kShortestSpan = 16;  // where batches are made of several
constexpr double kFirstWeight = static_cast<double>(kFirstBatchPlaces);

// Short against the weights' own scale; where spans are batches, long enough for batches that
// hardly depend on each other.
std::int64_t rows_per_span(const Forgetting& forgetting) {
  forgetting.validate();
  double rows = 1e15;
  if (forgetting.half_life > 0.0) rows = forgetting.half_life / 16.0;
  if (forgetting.window > 0) rows = std::min(rows, static_cast<double>(forgetting.window) / 128.0);
  return std::max(forgetting.by_run() ? kShortestSpan : kFewestRows,
                  static_cast<std::int64_t>(rows));
}

void save_all(const std::vector<PairMoments>& moments, ByteWriter& out) {
  out.put(static_cast<std::int64_t>(moments.size()));
  for (const PairMoments& one : moments) one.save(out);
}

void load_all(std::vector<PairMoments>& moments, const PairMoments& empty, ByteReader& in) {
  moments.assign(static_cast<std::size_t>(in.get_integer(0, 1 << 24)), empty);
  for (PairMoments& one : moments) one.load(in);
}

}  // namespace

AgedBatches::AgedBatches(const Forgetting& forgetting, const PairMoments& empty)
    : forgetting_(forgetting),
      span_rows_(rows_per_span(forgetting)),
      current_(empty),
      weighted_(empty),
      batch_weight_(kFirstWeight) {}

void AgedBatches::end_row() {
  ++rows_;
  ++run_rows_;
  if (spanned_rows() - span_first_ == span_rows_) close_span();
}

// Spans that are older than all that counts go.
void AgedBatches::close_span() {
  std::vector<PairMoments>& sums = forgetting_.by_run() ? run_ : batches_;
  sums.push_back(current_);
  const std::int64_t rows = spanned_rows();
  spans_.emplace_back(span_first_, rows);
  span_first_ = rows;
  current_.clear();
  const std::int64_t reach = forgetting_.reach();
  const auto is_old = [&](const auto& span) { return rows - span.second >= reach; };
  // In one go when half of them are old, so that a span costs nothing to speak of.
  if (!is_old(spans_[spans_.size() / 2])) return;
  const auto young = std::find_if_not(spans_.begin(), spans_.end(), is_old);
  const auto old = young - spans_.begin();
  spans_.erase(spans_.begin(), young);
  sums.erase(sums.begin(), sums.begin() + old);
}

void AgedBatches::end_run(RunLengths& lengths) {
  if (run_rows_ > 0) ++lengths[run_rows_];
  if (forgetting_.by_run()) weigh_run();
  run_rows_ = 0;
}

// Now the age of its rows is known.
void AgedBatches::weigh_run() {
  const std::int64_t rows = run_rows_;
  if (rows > span_first_) close_span();
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const auto [first, end] = spans_[i];
    const double weight = forgetting_.mean_weight(rows - end, end - first);
    if (!(weight > 0.0) || rows - end >= forgetting_.reach()) continue;
    run_[i].multiply(weight);
    weighted_.add(run_[i]);
    weight_ += weight * static_cast<double>(end - first);
    if (weight_ >= batch_weight_) close_weighted();
  }
  run_.clear();
  spans_.clear();
  span_first_ = 0;
}

void AgedBatches::close_weighted() {
  if (weighted_.total_pairs() > 0) {
    batches_.push_back(weighted_);
    weights_.push_back(weight_);
  }
  weighted_.clear();
  weight_ = 0.0;
  if (batches_.size() == kMaxBatches) halve_batches();
}

void AgedBatches::halve_batches() {
  for (std::size_t i = 0; i + 1 < batches_.size(); i += 2) {
    batches_[i].add(batches_[i + 1]);
    if (i > 0) batches_[i / 2] = std::move(batches_[i]);
    weights_[i / 2] = weights_[i] + weights_[i + 1];
  }
  batches_.resize(batches_.size() / 2, weighted_);
  weights_.resize(weights_.size() / 2);
  batch_weight_ *= 2.0;
}

void AgedBatches::finish(MomentSeries& series) {
  if (forgetting_.by_run()) {
    close_weighted();
  } else if (rows_ > span_first_) {
    close_span();
  }
  series.batches = std::exchange(batches_, {});
  series.spans = std::exchange(spans_, {});
  series.weights = std::exchange(weights_, {});
  rows_ = 0;
  span_first_ = 0;
  batch_weight_ = kFirstWeight;
}

void AgedBatches::save(ByteWriter& out) const {
  for (const PairMoments* one : {&current_, &weighted_}) one->save(out);
  for (const auto* all : {&batches_, &run_}) save_all(*all, out);
  out.put_all(weights_);
  out.put(static_cast<std::int64_t>(spans_.size()));
  for (const auto& [first, end] : spans_) {
    out.put(first);
    out.put(end);
  }
  for (const std::int64_t value : {rows_, run_rows_, span_first_}) out.put(value);
  for (const double value : {weight_, batch_weight_}) out.put(value);
}

void AgedBatches::load(ByteReader& in) {
  PairMoments empty = current_;
  empty.clear();
  for (PairMoments* one : {&current_, &weighted_}) one->load(in);
  for (auto* all : {&batches_, &run_}) load_all(*all, empty, in);
  weights_ = in.get_all<double>();
  spans_.resize(static_cast<std::size_t>(in.get_integer(0, 1 << 24)));
  for (auto& [first, end] : spans_) {
    first = in.get<std::int64_t>();
    end = in.get<std::int64_t>();
  }
  for (std::int64_t* value : {&rows_, &run_rows_, &span_first_}) *value = in.get<std::int64_t>();
  for (double* value : {&weight_, &batch_weight_}) *value = in.get<double>();
  const std::size_t sums = forgetting_.by_run() ? run_.size() : batches_.size();
  OAS_REQUIRE(
      spans_.size() == sums && (!forgetting_.by_run() || weights_.size() == batches_.size()),
      "saved spans are damaged");
}

}  // namespace oas
