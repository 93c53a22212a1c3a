#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "oas/core/index.hpp"

namespace oas {

/// How many rows with a known state are behind the sensors of a model, [action][state][observation]
/// or, where the sensors of all actions are one and the same, [state][observation]. Whoever has
/// such counts knows how uncertain the sensors are. Numbers need not be whole: rows may have
/// weights. Checked once, then immutable; a value.
class ObservationCounts {
 public:
  /// One table for each action, or one for all of them. Throws InvalidArgument naming "what" and
  /// the value when the size is that of neither or a number is negative or not finite.
  ObservationCounts(int num_states, int num_actions, int num_observations,
                    std::vector<double> values, std::string_view what = "observation_counts");

  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] int num_observations() const { return num_observations_; }
  /// One table for all actions. Of a single action both are the same; then it is not shared.
  [[nodiscard]] bool shared() const { return shared_; }
  /// As given: [a][s][o], or [s][o] when shared.
  [[nodiscard]] std::span<const double> values() const { return values_; }
  /// Counts of one distribution, contiguous. Throws InvalidArgument on an index that does not
  /// exist, as total() does.
  [[nodiscard]] std::span<const double> distribution(Action action, State state) const;
  /// Labelled rows in (action, state); when shared, those of all actions.
  [[nodiscard]] double total(Action action, State state) const;
  /// All labelled rows.
  [[nodiscard]] double total() const;

  friend bool operator==(const ObservationCounts&, const ObservationCounts&) = default;

 private:
  int num_states_;
  int num_actions_;
  int num_observations_;
  bool shared_;
  std::vector<double> values_;
};

}  // namespace oas
