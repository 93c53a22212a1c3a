#pragma once

#include <optional>
#include <string>

#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/grid/extended_value_iteration.hpp"

/// Sets of models in which a robust plan is to keep its promise.
namespace oas {

/// A set of models, and what it is in words.
struct CredibleModels {
  ConfidenceSet set;
  std::string text;
  bool of_draws = false;  ///< it holds a share of draws that was asked for
};

/// All whose rows are within this total-variation radius of the model's. Throws InvalidArgument
/// unless 0 <= radius <= 1.
[[nodiscard]] CredibleModels models_within(const Pomdp& model, double radius);

/// What the log of an estimate leaves possible: the least set around the model that holds a share
/// `level` of the draws (credible_set), or, without draws, all within its simultaneous bounds.
/// Nothing where the estimate has neither. Throws InvalidArgument unless 0 < level <= 1.
[[nodiscard]] std::optional<CredibleModels> credible_models(const Pomdp& model,
                                                            const TransitionEstimate& estimate,
                                                            double level);

}  // namespace oas
