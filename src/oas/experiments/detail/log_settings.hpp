#pragma once

#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/likelihood_estimator.hpp"
#include "oas/estimation/oas.hpp"
#include "oas/experiments/log_estimation.hpp"
#include "oas/io/log_reader.hpp"

/// What estimation from logs of finite and of real-valued observations share: options, and the rule
/// of propensities for moments in `after` timing.
namespace oas::detail {

/// Throws InvalidArgument when an option is wrong, or not one that the estimator looks at.
void require_used(const EstimatorInfo& info, const LogEstimationOptions& options);

[[nodiscard]] OasOptions moment_settings(const LogEstimationOptions& options);
[[nodiscard]] LikelihoodEstimatorOptions likelihood_settings(const LogEstimationOptions& options);

/// Pairing of the estimator; weights 1/propensity where timing and options ask for them.
[[nodiscard]] FoldOptions fold_options(const Pomdp& model, const LogEstimationOptions& options);

/// Throws InvalidArgument that explains itself when the log lacks propensities that are needed.
void require_propensity(const LogReader& reader, const FoldOptions& options);

/// Propensity 1 in a row means that no other action was possible there: the weights cannot undo
/// that. Throws when it is so in all rows; a warning in `estimate`, if not null, when in some, and
/// when one row weighs as much as a tenth of all.
void check_positivity(const MomentSeries& series, const FoldOptions& options,
                      TransitionEstimate* estimate);

}  // namespace oas::detail
