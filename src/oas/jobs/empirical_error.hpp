#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/jobs/data_needed.hpp"
#include "oas/jobs/survey.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas {

/// A small simulation study: how well does an estimator do on this model?
struct EmpiricalErrorOptions {
  PolicyOptions policy;
  std::string estimator = "oas";
  std::size_t steps = 100'000;
  int replications = 10;
  std::uint64_t seed = 1;

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// Frobenius errors ‖T̂ - T‖_F over independent replications.
struct EmpiricalError {
  std::vector<double> errors;
  double mean = 0.0;
  double standard_error = 0.0;  ///< of the mean

  /// Steps for a target error by the 1/√n rate: steps · (mean/target)².
  [[nodiscard]] double steps_for(double target, std::size_t steps) const;
  /// Whether the mean error is above 1.25 · `target`, by Student's test of level 0.001: a length
  /// that was predicted for `target` is not enough.
  [[nodiscard]] bool refutes(double target) const;
};

/// Simulates, folds and estimates `replications` times (in parallel, same bits for any number of
/// threads); replication r uses the streams (seed, r, ·). `after` timing uses the propensities.
[[nodiscard]] EmpiricalError empirical_error(const Pomdp& model,
                                             const EmpiricalErrorOptions& options,
                                             Parallelism parallelism = {});

/// The error of each estimator in logs of the length that was predicted for it, written by the
/// survey's policy but with other random numbers; without any errors where there is no such length.
[[nodiscard]] std::vector<EmpiricalError> try_predictions(const Pomdp& model,
                                                          const SurveyOptions& survey,
                                                          const std::vector<DataNeeded>& needed,
                                                          int replications,
                                                          Parallelism parallelism = {});

}  // namespace oas
