#pragma once

#include <algorithm>
#include <limits>

#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/core/settings.hpp"
#include "oas/estimation/evidence.hpp"

namespace oas::detail {

/// Throws ParseError where a file holds more draws than an estimate may be asked to carry.
inline void require_few_draws(const JsonView& draws) {
  EstimateOptions options;
  options.carried_draws =
      static_cast<int>(std::min<std::size_t>(draws.size(), std::numeric_limits<int>::max()));
  SettingFields fields;
  options.visit_carried_draws(fields);
  try {
    fields.check();
  } catch (const InvalidArgument& error) {
    draws.fail(error.what());
  }
}

}  // namespace oas::detail
