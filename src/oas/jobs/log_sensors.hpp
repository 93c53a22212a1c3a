#pragma once

#include <string>

#include "oas/jobs/log_estimation.hpp"

namespace oas {

/// What is made of calibrated sensors in an estimation.
struct SensorTreatment {
  bool uncertain = false;
  std::string warning;  ///< that they are taken as exact, and why; else empty
};

/// By the counts of the model or its random densities, the estimator and what it is told. Throws
/// InvalidArgument that says why when they shall be uncertain and cannot.
[[nodiscard]] SensorTreatment sensor_treatment(const AnyModel& model,
                                               std::span<const std::string> logs,
                                               const Estimation& how);

}  // namespace oas
