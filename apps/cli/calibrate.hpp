#pragma once

#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/core/settings.hpp"
#include "oas/sensors/calibration.hpp"
#include "oas/sensors/density_calibration.hpp"

namespace oas::cli {

/// What `oas calibrate` was told.
struct CalibrateArguments {
  Common common;
  std::string model;
  std::string timing;
  std::vector<std::string> logs;
  CalibrationOptions calibration;
  DensityCalibrationOptions densities;
  std::string unread;  ///< states, "dead+sold"
  std::string figure;
  std::vector<Setting> rows;
  std::string output;
};

/// Sensors of finite observations: counts what each state gave.
void calibrate_finite(const CalibrateArguments& options);

/// Densities of real-valued readings. `chain`: the model where it is no file.
void calibrate_readings(const CalibrateArguments& options, const Pomdp* chain);

}  // namespace oas::cli
