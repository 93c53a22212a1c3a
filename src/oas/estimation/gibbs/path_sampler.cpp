#include "oas/estimation/gibbs/path_sampler.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/sampling.hpp"

namespace oas {

namespace {

constexpr std::size_t kStatesOfBlock = 1024;

}  // namespace

PathSampler::PathSampler(const TransitionLikelihood& rows)
    : rows_(rows),
      states_(static_cast<std::size_t>(rows.num_states())),
      shift_(rows.timing() == Timing::after ? 1 : 0),
      columns_(states_ * states_ * static_cast<std::size_t>(rows.num_actions())),
      block_(kStatesOfBlock * states_),
      weights_(states_) {}

bool PathSampler::sample(std::span<const double> transition, Rng& rng, std::span<double> counts) {
  OAS_REQUIRE(transition.size() == columns_.size() && counts.size() == columns_.size(),
              "{} probabilities and {} counts for {} entries", transition.size(), counts.size(),
              columns_.size());
  for (std::size_t row = 0; row < columns_.size() / states_; ++row) {
    const std::size_t action = row / states_;
    const std::size_t state = row % states_;
    for (std::size_t next = 0; next < states_; ++next) {
      columns_[(action * states_ + next) * states_ + state] = transition[row * states_ + next];
    }
  }
  std::fill(counts.begin(), counts.end(), 0.0);
  first_states_.assign(states_, 1.0);
  bool unknown = false;
  for (std::size_t run = 0; run < rows_.runs(); ++run) {
    check_interrupted();
    if (!sample_run(chain(run), rng, counts)) return false;
    unknown = unknown || rows_.start_of(run).is_unknown();
  }
  if (unknown) {
    start_law_.resize(states_);
    sample_dirichlet(first_states_, start_law_, rng);
  }
  return true;
}

PathSampler::Chain PathSampler::chain(std::size_t run) const {
  const std::span<const std::size_t> starts = rows_.run_starts();
  const std::size_t end = run + 1 < starts.size() ? starts[run + 1] : rows_.rows();
  const std::size_t rows = end - starts[run];
  return {rows_.start_of(run), starts[run], rows, rows + shift_};
}

bool PathSampler::filter(const Chain& chain, std::size_t k, const double* before, double* after) {
  if (k == 0) {
    chain.start.belief(rows_.start(), {after, states_}, start_law_);
  } else {
    const auto action = static_cast<std::size_t>(rows_.action(chain.first_row + k - 1));
    for (std::size_t next = 0; next < states_; ++next) {
      const double* into = column(action, next);
      double sum = 0.0;
      for (std::size_t s = 0; s < states_; ++s) sum += before[s] * into[s];
      after[next] = sum;
    }
  }
  if (k >= shift_) {
    const std::span<const double> emission = rows_.emission(chain.first_row + k - shift_);
    for (std::size_t s = 0; s < states_; ++s) after[s] *= emission[s];
  }
  double sum = 0.0;
  for (std::size_t s = 0; s < states_; ++s) sum += after[s];
  if (!(sum > 0.0)) return false;
  for (std::size_t s = 0; s < states_; ++s) after[s] /= sum;
  return true;
}

// Forward once; the beliefs before each block of states are kept, and all of the last block. Then,
// from the last block to the first, forward once more within the block, unless its beliefs are
// still there, and backward drawing states.
bool PathSampler::sample_run(const Chain& chain, Rng& rng, std::span<double> counts) {
  const std::size_t blocks = (chain.states + kStatesOfBlock - 1) / kStatesOfBlock;
  checkpoints_.resize(blocks * states_);
  const double* before = block_.data();
  for (std::size_t k = 0; k < chain.states; ++k) {
    if (k % kStatesOfBlock == 0) {
      double* const checkpoint = checkpoints_.data() + k / kStatesOfBlock * states_;
      std::copy_n(before, states_, checkpoint);
      before = checkpoint;
    }
    double* const now = block_.data() + k % kStatesOfBlock * states_;
    if (!filter(chain, k, before, now)) return false;
    before = now;
  }
  std::size_t next = 0;
  for (std::size_t b = blocks; b-- > 0;) {
    const std::size_t first = b * kStatesOfBlock;
    const std::size_t end = std::min(first + kStatesOfBlock, chain.states);
    before = checkpoints_.data() + b * states_;
    for (std::size_t k = first; k < end && b + 1 < blocks; ++k) {
      double* const now = block_.data() + (k - first) * states_;
      static_cast<void>(filter(chain, k, before, now));  // it was possible before
      before = now;
    }
    for (std::size_t k = end; k-- > first;) {
      const std::span<const double> now(block_.data() + (k - first) * states_, states_);
      if (k + 1 == chain.states) {
        next = static_cast<std::size_t>(sample_categorical(now, rng));
        continue;
      }
      const auto action = static_cast<std::size_t>(rows_.action(chain.first_row + k));
      const double* into = column(action, next);
      for (std::size_t s = 0; s < states_; ++s) weights_[s] = now[s] * into[s];
      const auto state = static_cast<std::size_t>(sample_categorical(weights_, rng));
      counts[(action * states_ + state) * states_ + next] += 1.0;
      next = state;
    }
  }
  if (chain.start.is_unknown()) first_states_[next] += 1.0;
  return true;
}

}  // namespace oas
