#pragma once

#include <cstdint>

#include "oas/estimation/evidence.hpp"

namespace oas::detail {

/// Of all that must be the same for evidence to be put together: what the model says about its rows
/// (not its dynamics and rewards, at which no estimator looks) and the options that decide what is
/// kept of them.
[[nodiscard]] std::uint64_t evidence_fingerprint(const AnyModel& model,
                                                 const EvidenceOptions& options);

}  // namespace oas::detail
