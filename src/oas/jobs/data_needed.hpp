#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/jobs/identifiability.hpp"
#include "oas/jobs/survey.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// The error of an estimator on a model as a function of the number of steps, without running it.
class ErrorForecast {
 public:
  virtual ~ErrorForecast() = default;

  /// E‖T̂ - T‖_F over all actions, from one log of that length.
  [[nodiscard]] virtual double error(double steps) const = 0;

  /// The length for which error() is `target` > 0; by bisection to 0.1 %. Infinite beyond 1e18.
  [[nodiscard]] double steps_for(double target) const;
};

/// Of a moment estimator (`oas`, `oas-overlap`): the moments of n steps are taken as normal, with
/// the mean and the long-run covariance (from batches) that the logs show, and go through the
/// estimator's own clipping and division, 400 times. `after` timing weights by propensities where
/// the policy reacts. Throws InvalidArgument when some Z_a has dependent columns.
[[nodiscard]] std::unique_ptr<ErrorForecast> forecast_moments(const Pomdp& model,
                                                              const std::string& estimator,
                                                              const SurveyOptions& options,
                                                              const std::vector<Trajectory>& logs,
                                                              Parallelism parallelism = {});

/// Of maximum likelihood: normal with the inverse Fisher information at the true T, moved to the
/// nearest point (in that metric) of the set 0 <= T where it falls outside, 400 times (fewer for
/// large models). All rows must be determined by likelihood.
[[nodiscard]] std::unique_ptr<ErrorForecast> forecast_likelihood(
    const Pomdp& model, const std::vector<Trajectory>& logs, Parallelism parallelism = {});

/// The Cramér-Rao limit: √(trace of the inverse Fisher information of so many steps), the root mean
/// square Frobenius error of an efficient unbiased estimator. It knows nothing of 0 <= T <= 1.
[[nodiscard]] double cramer_rao_error(const Pomdp& model, const std::vector<Trajectory>& logs,
                                      double steps, Parallelism parallelism = {});

/// How much data one estimator needs.
struct DataNeeded {
  std::string estimator;
  std::optional<double> steps;
  std::string reason;  ///< why there is no number
  /// What the number takes for granted and may fail; empty: nothing of the kind. Information at the
  /// true T says how sharp the maximum of the likelihood there is, not whether it is the only one,
  /// and with weak sensors a search may end at another.
  std::string presumes = {};
};

/// The steps for which the expected error is `target`, for each estimator; for likelihood at least
/// as many as the truth needs to stand out from what noise makes of other dynamics. Where some row
/// is not determined by it (see identify()) the first such row is the reason. Throws
/// InvalidArgument on an estimator that is neither of moments nor of likelihood.
[[nodiscard]] std::vector<DataNeeded> data_needed(const Pomdp& model, double target,
                                                  const std::vector<std::string>& estimators,
                                                  const SurveyOptions& options,
                                                  const std::vector<Trajectory>& logs,
                                                  const Identifiability& identifiability,
                                                  Parallelism parallelism = {});

}  // namespace oas
