#pragma once

#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/moments/oas.hpp"

/// What all estimates by moments of pairs have in common: how pairs are made, and the checks of
/// propensities.
namespace oas::detail {

/// Pairing of the estimator; weights 1/propensity where the rule says so.
[[nodiscard]] FoldOptions fold_options(const EstimatorInfo& info, const Pomdp& model,
                                       const EvidenceOptions& options);

/// Throws InvalidArgument that explains itself when rows lack propensities that are needed.
void require_propensities(const RowBlock& rows, const FoldOptions& options, const RowSource* from);

/// Propensity 1 in a row means that no other action was possible there: the weights cannot undo
/// that. Throws when it is so in all rows; a warning in `estimate`, if not null, when in some, and
/// when one row weighs as much as a tenth of all.
void check_positivity(const RowBooks& books, const FoldOptions& options,
                      TransitionEstimate* estimate);

/// What these moments say, with both checks.
[[nodiscard]] TransitionEstimate estimate_moments(std::string_view name, const MomentSeries& series,
                                                  const LeftInverses& inverses, const Pomdp& model,
                                                  const FoldOptions& fold,
                                                  const EstimateOptions& options);

}  // namespace oas::detail
