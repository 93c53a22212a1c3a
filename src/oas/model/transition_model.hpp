#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/linear_algebra.hpp"

namespace oas {

/// The dynamics: for each action a the row-stochastic S×S matrix T_a(s,s') = P(s' | s, a), stored
/// contiguously as [action][state][next state]. Checked at construction, then immutable.
class TransitionModel {
 public:
  TransitionModel() = default;
  /// Throws InvalidArgument naming "what[a][s]" unless all rows are distributions.
  TransitionModel(int num_states, int num_actions, std::vector<double> values,
                  std::string_view what = "transition");

  /// Every row uniform: knows nothing.
  static TransitionModel uniform(int num_states, int num_actions);

  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] std::span<const double> values() const { return values_; }

  [[nodiscard]] MatrixView matrix(Action action) const {
    return {values_.data() + offset(action, State{0}), num_states_, num_states_};
  }
  [[nodiscard]] std::span<const double> row(Action action, State state) const {
    return std::span(values_).subspan(offset(action, state), static_cast<std::size_t>(num_states_));
  }
  [[nodiscard]] double operator()(Action action, State state, State next) const {
    return values_[offset(action, state) + static_cast<std::size_t>(next)];
  }

  friend bool operator==(const TransitionModel&, const TransitionModel&) = default;

 private:
  [[nodiscard]] std::size_t offset(Action action, State state) const {
    const auto n = static_cast<std::size_t>(num_states_);
    return (static_cast<std::size_t>(action) * n + static_cast<std::size_t>(state)) * n;
  }

  int num_states_ = 0;
  int num_actions_ = 0;
  std::vector<double> values_;
};

}  // namespace oas
