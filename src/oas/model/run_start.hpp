#pragma once

#include <algorithm>
#include <span>

#include "oas/core/index.hpp"

namespace oas {

/// What is known of the state in which a run starts: its law is the model's `start`; or nothing is
/// known (the run goes on after a gap), which is taken as all states alike; or the state was seen.
class RunStart {
 public:
  RunStart() = default;  ///< the model's start
  [[nodiscard]] static RunStart unknown() { return RunStart(kUnknown); }
  [[nodiscard]] static RunStart known(State state) { return RunStart(state.value()); }

  [[nodiscard]] bool from_model() const { return value_ == kFromModel; }

  /// The belief at the start of the run, of as many states as `start`, the model's.
  void belief(std::span<const double> start, std::span<double> out) const {
    if (from_model()) {
      std::copy(start.begin(), start.end(), out.begin());
      return;
    }
    const double each = value_ == kUnknown ? 1.0 / static_cast<double>(start.size()) : 0.0;
    std::fill_n(out.begin(), start.size(), each);
    if (value_ >= 0) out[static_cast<std::size_t>(value_)] = 1.0;
  }

  /// Whether it can be the start of a run among so many states.
  [[nodiscard]] bool fits(int num_states) const {
    return value_ >= kFromModel && value_ < num_states;
  }

  friend bool operator==(const RunStart&, const RunStart&) = default;

 private:
  static constexpr int kFromModel = -2;
  static constexpr int kUnknown = -1;
  explicit RunStart(int value) : value_(value) {}

  int value_ = kFromModel;
};

}  // namespace oas
