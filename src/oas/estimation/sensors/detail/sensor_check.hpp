#pragma once

#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/likelihood/row_likelihood.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// Tests whether a log fits the sensors at its transitions of largest likelihood, sets
/// `fit_p_value`, and warns when it does not. A log in the other timing looks like one of other
/// sensors, so that timing is then tried too: transitions are estimated from up to 2^20 rows in the
/// other timing, and the warning says whether the log fits there. That costs about as much again;
/// a log that fits costs one reading of its rows.
void add_sensor_fit(const RowLikelihood& log, const Pomdp& model,
                    const LikelihoodEstimatorOptions& settings, Parallelism parallelism,
                    TransitionEstimate& estimate);

}  // namespace oas::detail
