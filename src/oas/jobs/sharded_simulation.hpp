#pragma once

#include <cstdint>
#include <string>

#include "oas/core/parallel.hpp"
#include "oas/jobs/log_simulation.hpp"

namespace oas {

/// How many shards a simulation is written to unless somebody says otherwise: of about a million
/// rows each, and of whole runs.
[[nodiscard]] std::int64_t usual_shards(const LogSimulationOptions& options);

/// simulate_log() into a folder: consecutive runs in files shard-00000.csv.zst and so on, with
/// their list (logs/log_shards.hpp), which is written last. Shards are made side by side on all
/// threads, and on all ranks of the team (core/task_farm.hpp; other ranks do not return): same
/// bytes for any number of both. The runs are those of simulate_log().
SimulatedLog simulate_shards(const AnyModel& model, const LogSimulationOptions& options,
                             const std::string& folder, std::int64_t shards,
                             Parallelism parallelism = {}, const RowsRead& progress = {});

}  // namespace oas
