#pragma once

#include <memory>
#include <span>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/model/observation_model.hpp"
#include "oas/model/reward_table.hpp"
#include "oas/model/timing.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// The reward of a step, known to everybody: r(o) of the row's observation (the paper's), a table
/// r(a,s) with s the state in which the action is taken, or R(a,s,s',o) in full. A model may have
/// none; then every reward is 0. R in full is held as all its numbers or, where these are many, as
/// a RewardTable.
class Reward {
 public:
  enum class Kind { none, by_observation, by_action_state, by_transition };

  Reward() = default;
  static Reward by_observation(std::vector<double> values);   ///< [O]
  static Reward by_action_state(std::vector<double> values);  ///< [A][S]
  static Reward by_transition(std::vector<double> values);    ///< [A][S][S][O]

  /// The simplest form that says the same: none when all is 0, r(a,s), r(o), and only then R in
  /// full, as numbers up to kMaxDense of them.
  static Reward simplest(RewardTable table);
  static constexpr std::size_t kMaxDense = std::size_t{1} << 20;
  static Reward by_table(RewardTable table);  ///< R in full, as it is

  [[nodiscard]] Kind kind() const { return kind_; }
  /// The numbers of the kind's table; empty when R is held by table().
  [[nodiscard]] std::span<const double> values() const { return values_; }
  /// Not null exactly when R(a,s,s',o) is held as a RewardTable.
  [[nodiscard]] const std::shared_ptr<const RewardTable>& table() const { return table_; }
  /// Any kind as a RewardTable of these sizes.
  [[nodiscard]] RewardTable to_table(int num_states, int num_actions, int num_observations) const;

  /// Throws InvalidArgument unless the number of values fits the sizes.
  void check_size(int num_states, int num_actions, int num_observations) const;

  friend bool operator==(const Reward& a, const Reward& b);

 private:
  Reward(Kind kind, std::vector<double> values);

  Kind kind_ = Kind::none;
  std::vector<double> values_;
  std::shared_ptr<const RewardTable> table_;
};

/// True when the expected reward of (a,s) can only be known through the transition model:
/// R(a,s,s',o) always, r(o) in `after` timing.
[[nodiscard]] bool reward_needs_transition(const Reward& reward, Timing timing);

/// The A×S table of expected rewards of taking a in s:
///   r(o), before:  Σ_o Z_a(o|s) r(o)          r(o), after:  Σ_s' T_a(s,s') Σ_o Z_a(o|s') r(o)
///   R, before: Σ_s' T_a(s,s') Σ_o Z_a(o|s) R(a,s,s',o); after: the same with Z_a(o|s').
/// `transition` may be null where reward_needs_transition is false. O(A S² O) at most.
[[nodiscard]] Matrix expected_reward(const Reward& reward, Timing timing,
                                     const ObservationModel& sensors,
                                     const TransitionModel* transition);

}  // namespace oas
