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

/// One small panel for each component of real-valued readings: how many fell into each part of what
/// was predicted, with the band that all bars keep together in 95 of 100 logs where the model is
/// right.
[[nodiscard]] std::string reading_places_svg(std::span<const ReadingPlaces> places);

}  // namespace oas
