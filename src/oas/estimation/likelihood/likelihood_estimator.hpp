#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/estimation/transition_structure.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// Options of the likelihood estimators.
struct LikelihoodEstimatorOptions {
  std::string name = "oas-ml";  ///< recorded in the result
  double confidence = 0.95;     ///< level of each interval and region, in (0, 1)
  LikelihoodOptions climb;
  TransitionStructure structure;  ///< known of T beforehand: the maximum is sought within it
  bool error_bars = true;         ///< they cost some passes for each entry
  bool regions = false;           ///< with them: simultaneous regions too
  std::size_t draws = 0;          ///< with them: so many draws of T (draws_at_maximum())
  StreamKey stream;               ///< of these

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// What the estimators must be told about the rows beside their likelihood.
struct LikelihoodRows {
  LikelihoodFunction likelihood;
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  std::int64_t missing = 0;
  std::vector<std::int64_t> transitions;  ///< [a]; see TransitionLikelihood::transitions()
  /// With weights (weighted_likelihood.hpp): the likelihood with their squares, where these differ,
  /// and how many rows of weight 1 they are worth.
  LikelihoodFunction squared;
  std::optional<double> effective_rows;
};

/// Rows in memory, which must outlive the result.
[[nodiscard]] LikelihoodRows likelihood_rows(const TransitionLikelihood& likelihood,
                                             Parallelism parallelism = {});

/// The transition model of largest likelihood met from `starts` (at least one; the further ones are
/// tried when in doubt: a sensor with σ_S(Z_a) < 0.05, or a climb that does not end), with error
/// bars. Valid under any policy, in both timings, also where sensors are blind under some actions.
///
/// Error bars from the observed information -∂²/∂T², by differences of the score along the A S
/// (S-1) free coordinates where these passes can be afforded, else from the spread of the scores of
/// many batches, and from the profile likelihood of entries near a bound; see
/// detail/likelihood_errors.hpp. A prior adds the information of its imaginary transitions.
/// Flagged, without standard error and with the interval [0,1], are rows in which some direction
/// has next to no information, rows that were left less than twice, and all rows when two states
/// have the same sensors. Rows that were never visited are set to uniform, the others stay where
/// the climb left them. A log too short for an information at all determines no row. Within a
/// structure all this is done on its reduced model, see there.
[[nodiscard]] TransitionEstimate estimate_likelihood(
    const LikelihoodRows& rows, const std::vector<TransitionModel>& starts, const Pomdp& model,
    const LikelihoodEstimatorOptions& options = {});

/// Starts for estimate_likelihood(): `first` with a share of uniform mixed in, uniform, and where a
/// sensor is blind three random models more (always the same).
[[nodiscard]] std::vector<TransitionModel> likelihood_starts(const Pomdp& model,
                                                             const TransitionModel& first);

/// σ_S(Z_a) of every action.
[[nodiscard]] std::vector<double> sensor_alphas(const Pomdp& model);

/// Whether some Z_a has linearly dependent columns (SensorReport): then there is no moment
/// estimator.
[[nodiscard]] bool has_blind_sensor(const Pomdp& model);

/// Observed information of the free coordinates of `at`, whose pass it is; see estimate_likelihood.
/// Empty when there are too few rows, or too many coordinates to be stored. In models with many
/// entries those at 0, and rows that were never left, have a diagonal only. `imaginary` of the
/// expected transitions are a prior's and cost no work.
struct ObservedInformation {
  Matrix matrix;  ///< A S (S-1) square; coordinates: detail::FreeCoordinates(at)
  bool by_batches = false;
  bool too_large = false;
  int passes = 0;
};
[[nodiscard]] ObservedInformation observed_information(const LikelihoodFunction& likelihood,
                                                       const TransitionModel& at,
                                                       const LikelihoodPass& pass,
                                                       double imaginary = 0.0);

}  // namespace oas
