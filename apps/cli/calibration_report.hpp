#pragma once

#include <string>

#include "oas/model/pomdp.hpp"
#include "oas/sensors/calibration.hpp"
#include "oas/sensors/density_calibration.hpp"

/// What `oas calibrate` prints.
namespace oas::cli {

/// Finite sensors with their intervals.
[[nodiscard]] std::string calibration_text(const Pomdp& model, const SensorCounts& counts,
                                           const Calibration& calibration);

/// Densities: which family was taken and why, and where their middles are.
[[nodiscard]] std::string calibration_text(const Pomdp& model,
                                           const DensityCalibration& calibration);

}  // namespace oas::cli
