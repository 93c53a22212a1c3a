#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/live/detail/live_history.hpp"
#include "oas/live/detail/live_unit.hpp"

namespace oas::detail {

/// A LiveState as it was at one moment, gathered while calls change it: what is one for all units
/// at once, units one by one, each before it changes. Making it costs no time with the number of
/// units or plans.
class LiveSnapshot {
 public:
  /// `rest`: the bytes of whatever else is small.
  LiveSnapshot(std::string rest, std::shared_ptr<const LivePolicy> policy, LiveHistory history)
      : rest_(std::move(rest)), policy_(std::move(policy)), history_(std::move(history)) {}

  void add(const LiveUnit& unit);
  /// For LiveState::load(). Needs no state and no lock.
  [[nodiscard]] std::string bytes() const;

 private:
  std::string rest_;
  std::shared_ptr<const LivePolicy> policy_;  // of a learner; null: none yet
  LiveHistory history_;
  std::uint64_t count_ = 0;
  std::vector<std::string> units_;  // in pieces, so that none grows for long
};

}  // namespace oas::detail
