#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oas/belief/belief_batch.hpp"
#include "oas/core/index.hpp"
#include "oas/core/rng_batch.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/simulation/environment.hpp"

namespace oas {

/// The action that starts a copy of a BatchEnvironment anew instead of stepping it.
inline constexpr Action kRestart{-1};

/// How many copies of a model, and on which random numbers.
struct BatchOptions {
  std::size_t copies = 1;               ///< at least 1
  std::uint64_t seed = 1;               ///< copy k draws from (seed, first_replication + k,
  std::uint32_t first_replication = 0;  ///< environment)
  bool track_beliefs = false;           ///< keep the exact belief of every copy

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// Thousands of copies of one system with finite observations, stepped together: one call is one
/// step of each. A copy gives to the bit what an Environment on the same stream gives: a new
/// Environment at the stream's position after each restart. Arrays of all copies lie side by side
/// and nothing is allocated by a step. O(1) per copy and step; O(S²) where beliefs are kept.
class BatchEnvironment {
 public:
  /// All copies stand at their start. Throws InvalidArgument when the model has no transition
  /// model, and on bad options.
  BatchEnvironment(const Pomdp& model, const BatchOptions& options);

  [[nodiscard]] std::size_t size() const { return states_.size(); }

  /// All copies at their start, on other streams.
  void reset(std::uint64_t seed, std::uint32_t first_replication = 0);

  /// Starts the copies anew where `begins` is true; the others stay as they are. Throws
  /// InvalidArgument on a wrong size.
  void restart(std::span<const bool> begins);

  /// One action per copy. A copy whose action is kRestart starts anew: its reward is 0. Throws
  /// InvalidArgument naming the copy and the value, and has changed nothing then.
  void step(std::span<const Action> actions);

  /// What each copy showed last: after a restart its first reading where rows are reading-first,
  /// else kMissing.
  [[nodiscard]] std::span<const Observation> observations() const { return observations_; }
  /// What each copy paid last.
  [[nodiscard]] std::span<const double> rewards() const { return rewards_; }
  /// The states in which the next actions will be taken.
  [[nodiscard]] std::span<const State> states() const { return states_; }
  /// P(state in which the next action will be taken | what the copy showed since its start). Throws
  /// InvalidArgument when beliefs are not kept.
  [[nodiscard]] std::span<const double> belief(std::size_t copy) const;
  [[nodiscard]] bool tracks_beliefs() const { return beliefs_.has_value(); }

  /// The stream of a copy and how far it has been drawn.
  [[nodiscard]] StreamKey stream(std::size_t copy) const { return streams_.key(copy); }
  [[nodiscard]] std::uint64_t position(std::size_t copy) const { return streams_.position(copy); }

 private:
  struct Draws;  // two for each copy of a block

  template <Timing timing>
  void step_block(std::size_t begin, std::span<const Action> actions, const Draws& draws);
  void restart_all();
  void restart(std::size_t copy, std::uint64_t first, std::uint64_t second);
  void check(std::span<const Action> actions) const;

  Timing timing_;
  int num_states_;
  int num_actions_;
  std::vector<double> start_;
  AliasTables transitions_;  // row a·S + s
  FiniteAnswers answers_;
  bool reading_first_;
  RngBatch streams_;
  std::vector<State> states_;
  std::vector<Observation> observations_;
  std::vector<double> rewards_;
  std::optional<BeliefBatch> beliefs_;
};

}  // namespace oas
