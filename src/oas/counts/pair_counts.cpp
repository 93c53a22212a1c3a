#include "oas/counts/pair_counts.hpp"

#include <algorithm>
#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas {

PairCounts::PairCounts(int num_actions, int num_observations)
    : num_actions_(num_actions),
      num_observations_(num_observations),
      num_symbols_(static_cast<std::size_t>(num_actions) *
                   static_cast<std::size_t>(num_observations)) {
  OAS_REQUIRE(num_actions >= 1 && num_observations >= 1, "counts for {} actions, {} observations",
              num_actions, num_observations);
  OAS_REQUIRE(num_symbols_ <= 30'000,
              "{} action-observation symbols are too many to count in pairs", num_symbols_);
  counts_.assign(num_symbols_ * num_symbols_, 0);
}

void PairCounts::check_run(std::span<const Action> actions,
                           std::span<const Observation> observations) const {
  OAS_REQUIRE(actions.size() == observations.size(), "{} actions and {} observations",
              actions.size(), observations.size());
  // One pass of unsigned comparisons, which the compiler vectorises: -1 (missing) is allowed.
  bool good = true;
  for (std::size_t t = 0; t < actions.size(); ++t) {
    good &= static_cast<std::uint32_t>(actions[t]) < static_cast<std::uint32_t>(num_actions_);
    good &= static_cast<std::uint32_t>(observations[t] + 1) <=
            static_cast<std::uint32_t>(num_observations_);
  }
  if (good) return;
  for (std::size_t t = 0; t < actions.size(); ++t) {
    OAS_REQUIRE(actions[t] >= 0 && actions[t] < num_actions_, "row {}: action {} of {}", t,
                actions[t].value(), num_actions_);
    OAS_REQUIRE(observations[t] >= kMissing && observations[t] < num_observations_,
                "row {}: observation {} of {}", t, observations[t].value(), num_observations_);
  }
}

void PairCounts::add_run(std::span<const Action> actions, std::span<const Observation> observations,
                         Pairing pairing) {
  check_run(actions, observations);
  const std::size_t step = pairing == Pairing::disjoint ? 2 : 1;
  for (std::size_t t = 0; t + 1 < actions.size(); t += step) {
    if (observations[t] == kMissing || observations[t + 1] == kMissing) [[unlikely]]
      continue;
    add(actions[t], observations[t], actions[t + 1], observations[t + 1]);
  }
}

void PairCounts::merge(const PairCounts& other) {
  OAS_REQUIRE(num_actions_ == other.num_actions_ && num_observations_ == other.num_observations_,
              "counts for {} actions, {} observations cannot take in counts for {} and {}",
              num_actions_, num_observations_, other.num_actions_, other.num_observations_);
  std::transform(counts_.begin(), counts_.end(), other.counts_.begin(), counts_.begin(),
                 std::plus<>{});
}

void PairCounts::clear() { std::fill(counts_.begin(), counts_.end(), 0); }

std::int64_t PairCounts::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

}  // namespace oas
