#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/row_block.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// All rows of a log in memory, with the unit that each run is of and the place of each row in the
/// order in which a change is looked for. A unit that goes on after a gap has several runs.
struct DiagnosedRows {
  std::vector<Action> actions;
  std::vector<Observation> observations;
  std::vector<double> readings;     ///< [row][component], where observations are real-valued
  std::vector<double> likelihoods;  ///< [row][state], then or where states are known
  std::vector<std::size_t> run_starts;
  std::vector<RunStart> starts;
  std::vector<int> unit_of_run;
  std::vector<std::string> units;
  std::vector<double> place;  ///< [row]: its time, or its position in the unit
  /// The share of readings that tell nothing, by which likelihoods allow for outliers: see
  /// ReadingLikelihood.
  double outlier_share = 0.0;
  /// Where states are known, [row]: the one that was seen; kNoneNoticed: none of `noticed` was,
  /// and they are never missed; kNobodyLooked. Likelihoods then allow for that. Empty: no state is
  /// known.
  std::vector<State> notes;
  std::vector<char> noticed;  ///< [state]; empty: none
  /// Where states are known and observations are finite: the model that these are of.
  std::shared_ptr<const Pomdp> finite;

  static constexpr State kNoneNoticed{-1};
  static constexpr State kNobodyLooked{-2};

  [[nodiscard]] bool known_states() const { return !notes.empty(); }

  [[nodiscard]] std::size_t size() const { return actions.size(); }
  [[nodiscard]] RowBlock block() const;
  /// [row]: the unit.
  [[nodiscard]] std::vector<int> unit_of_row() const;
  /// Rows in the order of their places; of one place in that of the log.
  [[nodiscard]] std::vector<std::size_t> in_order() const;
};

/// Dynamics, and how often the rows that they were made from left each state.
struct FittedDynamics {
  TransitionModel transition;
  std::vector<double> visits;  ///< [a][s], expected
  double log_likelihood = 0.0;
  std::vector<double> unknown_start = {};  ///< [s], of runs that start in an unknown state
};

/// The model's dynamics by the likelihood of the rows for which `keep` holds (empty: of all). What
/// is left out cuts runs; they go on in an unknown state.
[[nodiscard]] FittedDynamics fit_rows(const AnyModel& model, const DiagnosedRows& rows,
                                      const std::function<bool(std::size_t)>& keep,
                                      Parallelism parallelism);

/// [row]: log P(o_t | rows before, a_t), 0 where nothing was seen. Real-valued observations: up to
/// what does not depend on the dynamics.
[[nodiscard]] std::vector<double> log_predictions(const AnyModel& model, const DiagnosedRows& rows,
                                                  const TransitionModel& transition);

}  // namespace oas
