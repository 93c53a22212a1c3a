#pragma once

#include <span>
#include <string>

#include "oas/model/pomdp.hpp"
#include "oas/report/log_review.hpp"

namespace oas {

/// How far the counts of every observation under every action lie from what the rows before let
/// expect, in standard deviations. Between -3 and 3 where the model fits.
[[nodiscard]] std::string residual_svg(const Pomdp& model,
                                       std::span<const ObservationResidual> residuals);

}  // namespace oas
