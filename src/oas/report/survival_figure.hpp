#pragma once

#include <span>
#include <string>

#include "oas/jobs/log_forecast.hpp"

namespace oas {

/// For some units the probability that the states asked about have not been reached, step by step,
/// with its limits where there are draws. A dash pattern and a colour per unit.
[[nodiscard]] std::string survival_svg(std::span<const UnitForecast> units,
                                       const std::string& what);

}  // namespace oas
