#pragma once

#include "oas/core/bytes.hpp"
#include "oas/jobs/learning_run.hpp"

namespace oas::detail {

/// A finished run as bytes, without its options: for runs that are played by another process.
void save_run(const LearningRun& run, ByteWriter& out);
[[nodiscard]] LearningRun load_run(const LearningOptions& options, ByteReader& in);

}  // namespace oas::detail
