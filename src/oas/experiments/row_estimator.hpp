#pragma once

#include <memory>
#include <string>

#include "oas/core/rng.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"

namespace oas {

/// An estimator of the table of estimators that is fed rows block by block and can be asked at any
/// time what it makes of them.
class RowEstimator {
 public:
  virtual ~RowEstimator() = default;

  /// The rows to come belong to another run.
  virtual void start_run() = 0;
  /// The next rows.
  virtual void add(const Trajectory& rows) = 0;
  /// From all rows so far; more may follow.
  [[nodiscard]] virtual TransitionEstimate estimate() = 0;
};

/// What a row estimator is told beside its name.
struct RowEstimatorOptions {
  bool reacts = false;       ///< whether actions depend on observations
  bool error_bars = false;   ///< all that `oas estimate` gives, simultaneous regions included
  double confidence = 0.95;  ///< of these, in (0, 1)
};

/// The estimator of that name for the sensors of `model`, which must outlive it; its transition is
/// not looked at. In `after` timing rows need propensities where actions react. `rng`, which is
/// copied, is for the estimators that draw. Unless asked for there are no error bars where they
/// cost more than the estimate. Throws InvalidArgument on an unknown name, and for moments and
/// spectral when some Z_a has dependent columns.
[[nodiscard]] std::unique_ptr<RowEstimator> make_row_estimator(const std::string& name,
                                                               const Pomdp& model,
                                                               const RowEstimatorOptions& options,
                                                               const Rng& rng);
/// The same without asking for error bars.
[[nodiscard]] std::unique_ptr<RowEstimator> make_row_estimator(const std::string& name,
                                                               const Pomdp& model, bool reacts,
                                                               const Rng& rng);

}  // namespace oas
