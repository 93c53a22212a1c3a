#pragma once

#include <variant>

#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// A model with finite observations, or with real-valued ones.
using AnyModel = std::variant<Pomdp, ContinuousPomdp>;

/// What both kinds have in common: all but the sensors of a model with real-valued observations.
[[nodiscard]] inline const Pomdp& chain_of(const AnyModel& model) {
  const auto* const continuous = std::get_if<ContinuousPomdp>(&model);
  return continuous != nullptr ? continuous->chain() : std::get<Pomdp>(model);
}

/// The same model whose rows are written in this way. Throws as the constructors do.
[[nodiscard]] inline AnyModel with_rows(const AnyModel& model, Rows rows) {
  return std::visit([&](const auto& any) { return AnyModel(any.with_rows(rows)); }, model);
}

}  // namespace oas
