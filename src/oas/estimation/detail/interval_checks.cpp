#include "oas/estimation/detail/interval_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace oas::detail {

void require_intervals(const JsonView& object, std::span<const double> lower,
                       std::span<const double> upper) {
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (lower[i] <= upper[i] || (std::isnan(lower[i]) && std::isnan(upper[i]))) continue;
    object.at("lower").fail(fmt::format("limits {} and {} are no interval", lower[i], upper[i]));
  }
}

void require_error_bars(const JsonView& about, const TransitionEstimate& estimate) {
  if (!(estimate.confidence > 0.0 && estimate.confidence < 1.0)) {
    about.at("confidence").fail("it must lie strictly between 0 and 1");
  }
  if (std::ranges::any_of(estimate.standard_error, [](double error) { return error < 0.0; })) {
    about.at("standard_error").fail("a standard error is not negative");
  }
  require_intervals(about, estimate.lower, estimate.upper);
}

}  // namespace oas::detail
