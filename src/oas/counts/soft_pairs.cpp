#include "oas/counts/soft_pairs.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

SoftPairs::SoftPairs(int actions, int features, bool first_readings)
    : num_actions(actions),
      num_features(features),
      num_firsts(actions + (first_readings ? 1 : 0)),
      sums(static_cast<std::size_t>(num_firsts) * static_cast<std::size_t>(actions) *
               static_cast<std::size_t>(features) * static_cast<std::size_t>(features),
           0.0),
      squares(sums.size() / static_cast<std::size_t>(features), 0.0),
      pairs(static_cast<std::size_t>(num_firsts) * static_cast<std::size_t>(actions), 0) {}

void SoftPairs::add(const SoftPairs& other) {
  std::transform(sums.begin(), sums.end(), other.sums.begin(), sums.begin(), std::plus<>{});
  std::transform(squares.begin(), squares.end(), other.squares.begin(), squares.begin(),
                 std::plus<>{});
  std::transform(pairs.begin(), pairs.end(), other.pairs.begin(), pairs.begin(), std::plus<>{});
}

void SoftPairs::clear() {
  std::fill(sums.begin(), sums.end(), 0.0);
  std::fill(squares.begin(), squares.end(), 0.0);
  std::fill(pairs.begin(), pairs.end(), 0);
}

std::int64_t SoftPairs::total_pairs() const {
  return std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0});
}

void SoftPairs::save(ByteWriter& out) const {
  out.put_all(sums);
  out.put_all(squares);
  out.put_all(pairs);
}

void SoftPairs::load(ByteReader& in) {
  sums = in.get_all<double>(sums.size());
  squares = in.get_all<double>(squares.size());
  pairs = in.get_all<std::int64_t>(pairs.size());
}

PairMoments project(const SoftPairs& sums, const LeftInverses& inverses, Timing timing) {
  const int features = sums.num_features;
  const int num_states = inverses.num_states();
  OAS_REQUIRE(inverses.num_actions() == sums.num_actions && inverses.num_observations() == features,
              "sums for {} actions, {} features where the inverses have {} and {}",
              sums.num_actions, features, inverses.num_actions(), inverses.num_observations());
  PairMoments moments(num_states, sums.num_actions);
  const auto size = static_cast<std::size_t>(features) * static_cast<std::size_t>(features);
  const bool first_readings = inverses.sees_first() && sums.num_firsts > sums.num_actions;
  for (int first = 0; first < sums.num_actions + (first_readings ? 1 : 0); ++first) {
    for (int second = 0; second < sums.num_actions; ++second) {
      const auto block = static_cast<std::size_t>(first * sums.num_actions + second);
      if (sums.pairs[block] == 0) continue;
      const int learned = timing == Timing::before ? first : second;
      Eigen::Map<Matrix> sum(
          moments.sums.data() + static_cast<std::size_t>(learned) * num_states * num_states,
          num_states, num_states);
      const MatrixView pairs(sums.sums.data() + block * size, features, features);
      sum += inverses.transposed(first).transpose() * (pairs * inverses.transposed(second));
      Eigen::Map<Vector> square(moments.squares.data() + learned * num_states, num_states);
      const auto squares = static_cast<std::size_t>(features) * block;
      square += inverses.transposed(first).transpose() *
                Eigen::Map<const Vector>(sums.squares.data() + squares, features);
      moments.pairs[static_cast<std::size_t>(learned)] += sums.pairs[block];
    }
  }
  return moments;
}

void to_soft_features(std::span<double> likelihoods) {
  // Through the largest, so that the sum neither overflows nor vanishes.
  const double largest = *std::max_element(likelihoods.begin(), likelihoods.end());
  for (double& value : likelihoods) value /= largest;
  const double sum = std::accumulate(likelihoods.begin(), likelihoods.end(), 0.0);
  for (double& value : likelihoods) value /= sum;
}

LeftInverses soft_inverses(const Pomdp& model) {
  static_cast<void>(LeftInverses(model));  // throws when a sensor is blind
  std::vector<double> weights;
  for (Action a{0}; a < model.num_actions(); ++a) {
    const Vector sums = Matrix(model.sensors().matrix(a)).rowwise().sum();
    // An observation that no state emits never comes: any weight will do.
    for (const double sum : sums) weights.push_back(sum > 0.0 ? 1.0 / sum : 1.0);
  }
  if (model.reading_first()) {
    const Vector sums = Matrix(model.first_observation()->matrix(Action{0})).rowwise().sum();
    for (const double sum : sums) weights.push_back(sum > 0.0 ? 1.0 / sum : 1.0);
  }
  return {model, weights};
}

SoftFolder::SoftFolder(int num_states, int num_actions, Timing timing, const FoldOptions& options,
                       std::int64_t first_run, bool first_readings)
    : timing_(timing),
      options_(options),
      pairing_(options.pairing),
      current_(num_actions, num_states, first_readings),
      all_(first_run),
      features_(static_cast<std::size_t>(num_states)),
      previous_(features_.size()) {
  OAS_REQUIRE(static_cast<long>(num_states) * num_actions <= kMaxSymbols,
              "soft features hold ({} actions times {} states)² numbers per batch; up to {}² are "
              "possible",
              num_actions, num_states, kMaxSymbols);
}

void SoftFolder::start_run(const RunStart& start) {
  end_run();
  pairing_.start_run();
  run_.start(all_.next_run());
  in_run_ = true;
  ++books_.runs;
  close_row_ = pairing_.rows_for(run_.places());
  const FirstReading* const first = start.first();
  if (first == nullptr) return;
  const bool paired = !first->likelihood.empty() && current_.num_firsts > current_.num_actions;
  pairing_.next(paired);
  if (!paired) return;
  std::copy(first->likelihood.begin(), first->likelihood.end(), previous_.begin());
  to_soft_features(previous_);
  previous_action_ = Action{current_.num_actions};
}

void SoftFolder::add(const RowBlock& rows) {
  const std::size_t n = rows.size();
  const std::size_t width = features_.size();
  rows.validate();
  OAS_REQUIRE(rows.likelihoods.size() == n * width, "{} rows of {} states with {} likelihoods", n,
              width, rows.likelihoods.size());
  OAS_REQUIRE(n == 0 || !rows.propensities.empty() || !options_.inverse_propensity,
              "pairs are to be weighted by propensities, and there are none");
  if (!in_run_ && n > 0) start_run();
  books_.enter(rows.observations, rows.propensities);
  for (std::size_t t = 0; t < n; ++t) {
    const bool seen = rows.observations[t] != kMissing;
    const double weight = options_.inverse_propensity ? 1.0 / rows.propensities[t] : 1.0;
    const bool pair = pairing_.next(seen);
    if (seen) {
      const auto row = rows.likelihoods.subspan(t * width, width);
      std::copy(row.begin(), row.end(), features_.begin());
      to_soft_features(features_);
      if (pair) add_pair(rows.actions[t], features_, weight);
      std::swap(previous_, features_);
      previous_action_ = rows.actions[t];
    }
    if (pairing_.rows() != close_row_) continue;
    close_batch();
    close_row_ = pairing_.rows_for(pairing_.places() + run_.places());
  }
}

void SoftFolder::add_pair(Action action, std::span<const double> features, double weight) {
  const auto block = static_cast<std::size_t>(previous_action_ * current_.num_actions + action);
  double* sum = current_.sums.data() + block * features.size() * features.size();
  double* square = current_.squares.data() + block * features.size();
  for (const double left : previous_) {
    for (const double right : features) *sum++ += weight * left * right;
    *square++ += weight * weight * left;  // features sum to 1
  }
  ++current_.pairs[block];
  any_ = true;
}

void SoftFolder::close_batch() {
  run_.close(current_);
  if (any_) current_.clear();
  any_ = false;
}

void SoftFolder::end_run() {
  if (!in_run_) return;
  in_run_ = false;
  if (any_) close_batch();
  all_.append(run_, pairing_.places());
}

void SoftFolder::merge(const SoftFolder& other) {
  end_run();
  SoftFolder runs = other;
  runs.end_run();
  books_.append(runs.books_);
  all_.append(std::move(runs.all_));
}

MomentSeries SoftFolder::finish(const LeftInverses& inverses) {
  end_run();
  MomentSeries series;
  static_cast<RowBooks&>(series) = std::exchange(books_, {});
  for (const SoftPairs& batch : all_.finish()) {
    if (batch.total_pairs() > 0) series.batches.push_back(project(batch, inverses, timing_));
  }
  return series;
}

void SoftFolder::save(ByteWriter& out) const {
  pairing_.save(out);
  books_.save(out);
  for (const bool flag : {in_run_, any_}) out.put(flag);
  out.put(close_row_);
  current_.save(out);
  run_.save(out);
  all_.save(out);
  out.put_all(previous_);
  out.put(previous_action_);
}

void SoftFolder::load(ByteReader& in) {
  const SoftPairs empty(current_.num_actions, current_.num_features,
                        current_.num_firsts > current_.num_actions);
  pairing_.load(in);
  books_.load(in);
  for (bool* flag : {&in_run_, &any_}) *flag = in.get<bool>();
  close_row_ = in.get<std::int64_t>();
  current_.load(in);
  run_.load(in, empty);
  all_.load(in, empty);
  previous_ = in.get_all<double>(features_.size());
  previous_action_ = in.get<Action>();
  OAS_REQUIRE(previous_action_ >= 0 && previous_action_ < current_.num_firsts, "saved action is {}",
              previous_action_.value());
}

}  // namespace oas
