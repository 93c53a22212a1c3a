#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/linear_algebra.hpp"

namespace oas {

/// One entry of a distribution that is given by what is not 0.
struct ProbabilityEntry {
  std::int32_t outcome;
  double probability;

  friend bool operator==(const ProbabilityEntry&, const ProbabilityEntry&) = default;
};

/// The dynamics: for each action a the row-stochastic S×S matrix T_a(s,s') = P(s' | s, a). Checked
/// at construction, then immutable. Held as a table, contiguous as [action][state][next state], or,
/// where a table would not fit (large models of files, whose rows are nearly all 0), as the list of
/// what is not 0. Code that walks along rows with for_each_next() serves both; values(), row() and
/// matrix() need the table and throw InvalidArgument that says so where there is none. All but
/// operator() throw InvalidArgument on an index that does not exist.
class TransitionModel {
 public:
  /// File readers list models of more entries than this (256 MB as a table).
  static constexpr std::size_t kMaxTable = std::size_t{1} << 25;

  TransitionModel() = default;
  /// Throws InvalidArgument naming "what[a][s]" unless all rows are distributions.
  TransitionModel(int num_states, int num_actions, std::vector<double> values,
                  std::string_view what = "transition");

  /// Row a·S + s is entries[row_starts[row]] … entries[row_starts[row + 1] - 1], by rising outcome,
  /// none of them 0. Throws as the constructor does.
  static TransitionModel listed(int num_states, int num_actions,
                                std::vector<ProbabilityEntry> entries,
                                std::vector<std::size_t> row_starts,
                                std::string_view what = "transition");

  /// Every row uniform: knows nothing.
  static TransitionModel uniform(int num_states, int num_actions);

  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] bool is_listed() const { return !row_starts_.empty(); }

  [[nodiscard]] std::span<const double> values() const {
    require_table();
    return values_;
  }
  [[nodiscard]] MatrixView matrix(Action action) const {
    require_table();
    require_row(action, State{0});
    return {values_.data() + offset(action, State{0}), num_states_, num_states_};
  }
  [[nodiscard]] std::span<const double> row(Action action, State state) const {
    require_table();
    require_row(action, state);
    return std::span(values_).subspan(offset(action, state), static_cast<std::size_t>(num_states_));
  }
  /// O(1); O(log S) when listed. Indices are trusted; at() checks them.
  [[nodiscard]] double operator()(Action action, State state, State next) const {
    return is_listed() ? find(action, state, next)
                       : values_[offset(action, state) + static_cast<std::size_t>(next)];
  }

  [[nodiscard]] double at(Action action, State state, State next) const;

  /// Calls visit(State next, double probability) for what is not 0, by rising `next`. O(S), or by
  /// the length of the row when listed.
  template <class Visit>
  void for_each_next(Action action, State state, Visit&& visit) const {
    require_row(action, state);
    if (is_listed()) {
      for (const ProbabilityEntry& entry : entries(action, state)) {
        visit(State{entry.outcome}, entry.probability);
      }
      return;
    }
    const double* values = values_.data() + offset(action, state);
    for (int next = 0; next < num_states_; ++next) {
      if (values[next] != 0.0) visit(State{next}, values[next]);
    }
  }

  /// T_a v: the mean of v, which has S numbers, at the next state. O(S²), or by the number of
  /// entries when listed.
  [[nodiscard]] Vector mean_next(Action action, const Vector& v) const;
  /// The same for each column.
  [[nodiscard]] Matrix mean_next(Action action, const Matrix& columns) const;

  /// Entries that are not 0, over all actions. O(A S²), O(1) when listed.
  [[nodiscard]] std::size_t num_entries() const;

  /// Held in the same way, with the same numbers.
  friend bool operator==(const TransitionModel&, const TransitionModel&) = default;

 private:
  [[nodiscard]] std::size_t offset(Action action, State state) const {
    const auto n = static_cast<std::size_t>(num_states_);
    return (static_cast<std::size_t>(action) * n + static_cast<std::size_t>(state)) * n;
  }
  void require_table() const {
    if (is_listed()) [[unlikely]]
      refuse_table();
  }
  void require_row(Action action, State state) const {
    if (static_cast<std::uint32_t>(action) >= static_cast<std::uint32_t>(num_actions_) ||
        static_cast<std::uint32_t>(state) >= static_cast<std::uint32_t>(num_states_)) [[unlikely]]
      refuse_row(action, state);
  }
  [[noreturn]] void refuse_table() const;
  [[noreturn]] void refuse_row(Action action, State state) const;
  [[nodiscard]] std::span<const ProbabilityEntry> entries(Action action, State state) const;
  [[nodiscard]] double find(Action action, State state, State next) const;

  int num_states_ = 0;
  int num_actions_ = 0;
  std::vector<double> values_;             // empty when listed
  std::vector<ProbabilityEntry> entries_;  // of all rows
  std::vector<std::size_t> row_starts_;    // [a][s] and the end; empty when there is a table
};

}  // namespace oas
