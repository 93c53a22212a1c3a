#include "oas/counts/soft_pairs.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr std::size_t kMaxSoftBatches = 128;  // as PairFolder: between 64 and 128 are kept
constexpr std::int64_t kFirstSoftPairs = 8;

}  // namespace

SoftPairs::SoftPairs(int actions, int features)
    : num_actions(actions),
      num_features(features),
      sums(static_cast<std::size_t>(actions) * static_cast<std::size_t>(actions) *
               static_cast<std::size_t>(features) * static_cast<std::size_t>(features),
           0.0),
      pairs(static_cast<std::size_t>(actions) * static_cast<std::size_t>(actions), 0) {}

void SoftPairs::add(const SoftPairs& other) {
  std::transform(sums.begin(), sums.end(), other.sums.begin(), sums.begin(), std::plus<>{});
  std::transform(pairs.begin(), pairs.end(), other.pairs.begin(), pairs.begin(), std::plus<>{});
}

void SoftPairs::clear() {
  std::fill(sums.begin(), sums.end(), 0.0);
  std::fill(pairs.begin(), pairs.end(), 0);
}

PairMoments project(const SoftPairs& sums, const LeftInverses& inverses, Timing timing) {
  const int features = sums.num_features;
  const int num_states = inverses.num_states();
  OAS_REQUIRE(inverses.num_actions() == sums.num_actions && inverses.num_observations() == features,
              "sums for {} actions, {} features where the inverses have {} and {}",
              sums.num_actions, features, inverses.num_actions(), inverses.num_observations());
  PairMoments moments(num_states, sums.num_actions);
  const auto size = static_cast<std::size_t>(features) * static_cast<std::size_t>(features);
  for (int first = 0; first < sums.num_actions; ++first) {
    for (int second = 0; second < sums.num_actions; ++second) {
      const auto block = static_cast<std::size_t>(first * sums.num_actions + second);
      if (sums.pairs[block] == 0) continue;
      const int learned = timing == Timing::before ? first : second;
      Eigen::Map<Matrix> sum(
          moments.sums.data() + static_cast<std::size_t>(learned) * num_states * num_states,
          num_states, num_states);
      const MatrixView pairs(sums.sums.data() + block * size, features, features);
      sum += inverses.transposed(first).transpose() * (pairs * inverses.transposed(second));
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
  return {model, weights};
}

SoftFolder::SoftFolder(int num_states, int num_actions, Timing timing, const FoldOptions& options)
    : timing_(timing),
      options_(options),
      current_(num_actions, num_states),
      batch_pairs_(kFirstSoftPairs),
      features_(static_cast<std::size_t>(num_states)),
      previous_(features_.size()) {
  OAS_REQUIRE(static_cast<long>(num_states) * num_actions <= kMaxSymbols,
              "soft features hold ({} actions times {} states)² numbers per batch; up to {}² are "
              "possible",
              num_actions, num_states, kMaxSymbols);
}

void SoftFolder::start_run() {
  has_previous_ = false;
  first_of_pair_ = true;
  ++books_.runs;
}

void SoftFolder::add(std::span<const Action> actions, std::span<const Observation> observations,
                     std::span<const double> likelihoods, std::span<const double> propensities) {
  const std::size_t n = actions.size();
  const std::size_t width = features_.size();
  OAS_REQUIRE(observations.size() == n && likelihoods.size() == n * width &&
                  (propensities.empty() || propensities.size() == n),
              "{} actions, {} observations, {} likelihoods, {} propensities", n,
              observations.size(), likelihoods.size(), propensities.size());
  OAS_REQUIRE(n == 0 || !propensities.empty() || !options_.inverse_propensity,
              "pairs are to be weighted by propensities, and there are none");
  if (books_.runs == 0 && n > 0) start_run();
  for (std::size_t t = 0; t < n; ++t) {
    double weight = 1.0;
    if (!propensities.empty()) {
      books_.certain_actions += propensities[t] == 1.0;
      books_.smallest_propensity = std::min(books_.smallest_propensity, propensities[t]);
      if (options_.inverse_propensity) weight = 1.0 / propensities[t];
    }
    const bool seen = observations[t] != kMissing;
    books_.missing += !seen;
    if (seen) {
      const auto row = likelihoods.subspan(t * width, width);
      std::copy(row.begin(), row.end(), features_.begin());
      to_soft_features(features_);
      const bool second = !(options_.pairing == Pairing::disjoint && first_of_pair_);
      if (has_previous_ && second) add_pair(actions[t], features_, weight);
      std::swap(previous_, features_);
      previous_action_ = actions[t];
    }
    has_previous_ = seen;
    first_of_pair_ = !first_of_pair_;
  }
  books_.rows += static_cast<std::int64_t>(n);
}

void SoftFolder::add_pair(Action action, std::span<const double> features, double weight) {
  const auto block = static_cast<std::size_t>(previous_action_ * current_.num_actions + action);
  double* sum = current_.sums.data() + block * features.size() * features.size();
  for (const double left : previous_) {
    for (const double right : features) *sum++ += weight * left * right;
  }
  ++current_.pairs[block];
  if (++pairs_in_batch_ == batch_pairs_) close_batch();
}

void SoftFolder::close_batch() {
  if (pairs_in_batch_ == 0) return;
  batches_.push_back(current_);
  current_.clear();
  pairs_in_batch_ = 0;
  if (batches_.size() < kMaxSoftBatches) return;
  for (std::size_t i = 0; i + 1 < batches_.size(); i += 2) {
    batches_[i].add(batches_[i + 1]);
    if (i > 0) batches_[i / 2] = std::move(batches_[i]);
  }
  batches_.erase(batches_.begin() + static_cast<std::ptrdiff_t>(batches_.size() / 2),
                 batches_.end());
  batch_pairs_ *= 2;
}

MomentSeries SoftFolder::finish(const LeftInverses& inverses) {
  close_batch();
  MomentSeries series = std::exchange(books_, MomentSeries{});
  for (const SoftPairs& batch : batches_) {
    series.batches.push_back(project(batch, inverses, timing_));
  }
  batches_.clear();
  has_previous_ = false;
  batch_pairs_ = kFirstSoftPairs;
  return series;
}

}  // namespace oas
