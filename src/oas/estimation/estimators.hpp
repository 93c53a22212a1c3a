#pragma once

#include <span>
#include <string_view>

#include "oas/counts/pair_counts.hpp"

namespace oas {

/// What an estimator works on, hence how a log is turned into its input: one case in each place
/// that runs estimators by name (experiments/log_estimation, experiments/row_estimator).
enum class EstimatorKind {
  moments,     ///< moments of pairs of rows: estimate_oas()
  weighted,    ///< the same with weights from a first reading: weighted_pairs(), estimate_oas()
  likelihood,  ///< the rows themselves: estimate_likelihood()
  posterior,   ///< the rows in their order, once: ParticleEstimator
  spectral,    ///< counts of triples of rows: estimate_spectral()
};

/// One row of the table of estimators, as `oas list` and docs/background/algorithms.md show it.
struct EstimatorInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view reference;
  EstimatorKind kind;
  Pairing pairing;  ///< of the moments; of those at which a likelihood estimator starts
  /// Likelihood: start at the moments and accelerate; else plain steps from a uniform start.
  bool refine = false;
  /// Moments: of soft features instead of observations; see theory/soft_features.hpp.
  bool soft = false;
};

[[nodiscard]] std::span<const EstimatorInfo> estimators();

/// Throws InvalidArgument listing the names when there is none of that name.
[[nodiscard]] const EstimatorInfo& find_estimator(std::string_view name);

}  // namespace oas
