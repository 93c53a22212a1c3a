#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/parallel.hpp"
#include "oas/jobs/survey.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// What can be learned of one row T_a(s,·) from logs of a policy.
struct RowIdentifiability {
  Action action;
  State state;
  double visits = 0.0;     ///< share of the steps
  std::string moments;     ///< why moments of pairs do not determine the row; empty: they do
  std::string likelihood;  ///< the same for maximum likelihood
  /// Largest standard error of an entry after a million steps, by maximum likelihood; NaN where the
  /// row is not determined or was not looked at.
  double standard_error = 0.0;

  [[nodiscard]] bool determined() const { return moments.empty() || likelihood.empty(); }
};

/// What can be learned of a transition model.
struct Identifiability {
  std::vector<RowIdentifiability> rows;  ///< [a][s]
  /// Directions in the set of transition models along which the law of what is seen does not
  /// change, rows that are never visited apart.
  int unknown_directions = 0;
  /// States that look the same under every action. Their names can be exchanged, and worse:
  /// whatever mixes them into two other states with the same look changes nothing of what is seen,
  /// so that they are always behind unknown directions. No other relabelling of states goes unseen.
  std::vector<std::pair<State, State>> alike;
  bool too_large = false;  ///< more than 500 coordinates: likelihood was not looked at

  [[nodiscard]] bool by_moments() const;     ///< every row
  [[nodiscard]] bool by_likelihood() const;  ///< every row
};

/// Judged at the transition model itself, from logs simulated under the policy:
/// moments determine T_a(s,·) when it is visited and every Z_a has full column rank (σ_S > 0),
/// since the pairs that show a transition of a are read through Z_a and through the sensors of all
/// actions beside it; likelihood determines it when no direction in which the Fisher information
/// (fisher_information()) is below 1e-7 per visit moves the row, and when it does not change by
/// exchanging states that look the same. O(d (S² + d)) per step, d = A S (S-1), on as many steps as
/// 2e9 operations allow, and O(d³). Throws InvalidArgument when the model has no transition.
[[nodiscard]] Identifiability identify(const Pomdp& model, const SurveyOptions& options,
                                       const std::vector<Trajectory>& logs,
                                       Parallelism parallelism = {});

}  // namespace oas
