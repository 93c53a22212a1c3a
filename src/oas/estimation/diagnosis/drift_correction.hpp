#pragma once

#include <optional>

#include "oas/estimation/diagnosis/diagnosed_rows.hpp"

namespace oas {

/// A log as it would look had the sensors not drifted: what is left of a change of the dynamics or
/// of a difference of units there is not the drift's doing.
struct DriftCorrection {
  AnyModel model;
  DiagnosedRows rows;
};

/// Takes a drift of the sensors for a change behind `rows_before` rows, in the order of their
/// places, with dynamics as they were before it. Real-valued readings behind it are moved back by
/// the shifts of their means that fit best (scoring); none where a reading then cannot come from
/// any state, and where states are known. Finite readings behind it get sensors of their own
/// (expectation- maximisation); their rows bring likelihoods then.
[[nodiscard]] std::optional<DriftCorrection> correct_drift(const AnyModel& model,
                                                           const DiagnosedRows& rows,
                                                           std::size_t rows_before,
                                                           Parallelism parallelism);

}  // namespace oas
