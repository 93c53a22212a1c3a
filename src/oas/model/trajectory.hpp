#pragma once

#include <cstddef>
#include <vector>

#include "oas/core/index.hpp"

namespace oas {

/// What an agent did in one step and how likely it was to do so given all it knew.
struct Choice {
  Action action;
  double propensity = 1.0;
};

/// Consecutive steps of one run, column by column. Row t holds a_t, the observation that came with
/// it (whose state emits it is the model's Timing), and optionally the propensity π(a_t | history),
/// the reward and the hidden state s_t in which a_t was taken. Optional columns are empty or as
/// long as the others.
struct Trajectory {
  std::vector<Action> actions;
  std::vector<Observation> observations;  ///< kMissing where nothing was seen
  std::vector<double> propensities;
  std::vector<double> rewards;
  std::vector<State> states;

  [[nodiscard]] std::size_t size() const { return actions.size(); }

  /// Empties all columns and keeps their memory.
  void clear();
  /// Gives all columns that many rows.
  void resize(std::size_t rows);

  friend bool operator==(const Trajectory&, const Trajectory&) = default;
};

}  // namespace oas
