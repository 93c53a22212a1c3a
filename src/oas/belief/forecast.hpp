#pragma once

#include <optional>
#include <span>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// What is asked about the time to come.
struct ForecastQuestion {
  int steps = 50;                ///< how far to look ahead, at least 0
  std::vector<Action> schedule;  ///< actions to come, from the first again after the last
  std::vector<State> reach;      ///< when is one of these entered? Empty: not asked

  /// Throws InvalidArgument naming the field and the value.
  void validate(int num_states, int num_actions) const;
};

/// What happens from a belief on.
struct Forecast {
  std::vector<double> states;    ///< [k][s]: P(in s after k steps), k = 0 … steps
  std::vector<double> survival;  ///< [k]: P(not in `reach`, now or in the first k steps)
  double ever = 0.0;             ///< P(`reach` is entered at all); 0 where it is not asked about
  double mean_steps = 0.0;       ///< until then; ∞ where `ever` is below 1

  /// The least k with survival[k] <= 1 - level; none: more than `steps`.
  [[nodiscard]] std::optional<int> quantile(double level) const;
};

/// Forecasts under one transition model and one schedule, for any number of beliefs. Exact:
/// products of matrices and two linear systems. O(L S³) once for a schedule of L actions, then
/// O(steps · S²).
class Forecaster {
 public:
  /// Throws InvalidArgument on a question that does not fit.
  Forecaster(TransitionModel transition, ForecastQuestion question);

  /// Throws InvalidArgument when the size is wrong.
  [[nodiscard]] Forecast operator()(std::span<const double> belief) const;

 private:
  void solve();
  [[nodiscard]] Matrix step_outside(Action action) const;

  TransitionModel transition_;
  ForecastQuestion question_;
  std::vector<char> inside_;  // [s]: in `reach`
  Vector ever_;               // [s], at the start of the schedule
  Vector mean_;               // [s]
};

}  // namespace oas
