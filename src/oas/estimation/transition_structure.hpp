#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// Facts about T that are known beforehand, as they are collected; TransitionStructure checks them.
struct TransitionKnowledge {
  TransitionKnowledge() = default;
  TransitionKnowledge(int num_states, int num_actions);

  /// T_a(s,s') = value. Throws InvalidArgument when it was fixed to another value before.
  void fix(const Pomdp& model, Action action, State state, State next, double value);
  /// T_a(s,·) = T_b(u,·).
  void tie(Action a, State s, Action b, State u);
  /// Adds all facts of `other`. Throws as fix() does.
  void add(const Pomdp& model, const TransitionKnowledge& other);

  int num_states = 0;
  int num_actions = 0;
  std::vector<std::optional<double>> fixed;               ///< [a][s][s']
  std::vector<std::pair<std::size_t, std::size_t>> tied;  ///< pairs of rows a·S + s
};

/// Every entry that is 0 in `transition` is known to be 0.
[[nodiscard]] TransitionKnowledge zeros_of(const TransitionModel& transition);
/// The action makes no difference: T_a(s,·) = T_0(s,·).
[[nodiscard]] TransitionKnowledge same_for_all_actions(int num_states, int num_actions);

/// Known structure of T: fixed entries (0: impossible) and rows that are equal to each other. What
/// is fixed in one of several equal rows is fixed in all of them.
///
/// The models that obey are written as T(r,·) = fixed part + m_r R(l(r),·), where l(r) is the first
/// of the rows equal to r, m_r = 1 - Σ fixed entries is the mass left, and R(l,·) is a distribution
/// over the entries left. R, the *reduced* model, has the sizes of T: entries of R that are fixed
/// in T are 0, and rows that are no first ones, or have nothing left, are the unit vector of their
/// first entry, so that they have no free coordinate. The likelihood as a function of R has the
/// same form as that of T, with scores m_r Σ over equal rows and expected counts Σ over equal rows,
/// so that whatever climbs, or differentiates, the likelihood of T does so within the structure
/// when it is given R (estimation/structured_likelihood.hpp).
class TransitionStructure {
 public:
  /// Nothing is known.
  TransitionStructure() = default;
  /// Throws InvalidArgument naming row and value when facts contradict each other: a value outside
  /// [0,1], fixed entries of a row that sum to more than 1, or to less with none left to take the
  /// rest, equal rows with different entries; and when nothing is left to estimate. `model` gives
  /// the names.
  TransitionStructure(const Pomdp& model, const TransitionKnowledge& knowledge);

  [[nodiscard]] bool empty() const { return leader_.empty(); }
  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  /// First of the rows equal to `row` (a·S + s).
  [[nodiscard]] std::size_t leader(std::size_t row) const { return leader_[row]; }
  [[nodiscard]] bool is_free(std::size_t entry) const { return free_[entry] != 0; }
  [[nodiscard]] double fixed_value(std::size_t entry) const { return fixed_[entry]; }
  /// m of a row.
  [[nodiscard]] double mass_left(std::size_t row) const { return mass_left_[row]; }
  /// Numbers that are left to estimate: entries less one, summed over distinct rows.
  [[nodiscard]] int num_free() const;

  /// R nearest to T in the sense of averages over equal rows; uniform where T has no mass on what
  /// is left. Exact when T obeys. Throws InvalidArgument when sizes differ.
  [[nodiscard]] TransitionModel reduce(const TransitionModel& transition) const;
  /// T from R; entries of R that are fixed in T are not looked at.
  [[nodiscard]] TransitionModel expand(const TransitionModel& reduced) const;

  /// "4 known zeros, 1 other fixed entry, 3 rows equal to others, 8 numbers free".
  [[nodiscard]] std::string brief() const;

 private:
  void check_row(const Pomdp& model, std::size_t row);

  int num_states_ = 0;
  int num_actions_ = 0;
  std::vector<std::size_t> leader_;  // [row]
  std::vector<char> free_;           // [entry]
  std::vector<double> fixed_;        // [entry]; 0 where free
  std::vector<double> mass_left_;    // [row]
};

}  // namespace oas
