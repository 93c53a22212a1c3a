#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "oas/model/pomdp.hpp"

/// From one timing to the other without changing what an agent can see or earn: for every sequence
/// of actions, the probabilities of all observation sequences and the expected rewards stay the
/// same.
namespace oas {

struct TimingOptions {
  /// Build a model with more states where the states are not enough.
  bool expand = false;
  /// Largest table A·S·S of the expanded model, in numbers.
  std::size_t max_numbers = 50'000'000;
};

struct TimingConversion {
  std::optional<Pomdp> model;  ///< empty: not possible, see `reason`
  std::string reason;          ///< why not, naming action and states
  bool expanded = false;       ///< states are not those of the given model
};

/// The same model in timing `to`.
///
/// On the same states: `before` → `after` is exact when, for each action, all states that lead to
/// one state are sensed alike (then that is how the state is sensed); `after` → `before` when, for
/// each action and state, all states that it leads to are sensed alike. R(a,s,s',o) stays as it is.
///
/// Expanded: `before` → `after` by pairs (previous, current), at most S² states. `after` → `before`
/// by one successor drawn ahead for each action, at most S^A states, times S when the reward
/// depends on the state. Pairs and successors that cannot occur are left out.
///
/// O(A S² O) on the same states; the size of the tables otherwise.
/// A model whose rows are reading-first stays in timing `after`.
[[nodiscard]] TimingConversion convert_timing(const Pomdp& model, Timing to,
                                              const TimingOptions& options = {});

}  // namespace oas
