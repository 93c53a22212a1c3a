#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "oas/core/parallel.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/model/labels.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/sensors/calibration.hpp"

namespace oas {

/// The model whose sensors are to be filled in, with uniform ones for the time being: from a model
/// file, whose key `observation` may be missing (its sensors are not used), or, with an empty
/// `path`, from the labels of the logs. `timing` overrides what neither says; without it, one of
/// them must. Throws InvalidArgument or ParseError that names file and value.
[[nodiscard]] Pomdp calibration_skeleton(const std::string& path, std::span<const std::string> logs,
                                         std::optional<Timing> timing,
                                         const LogOptions& options = {});

/// Counts the labelled rows of any number of files, in parallel and in constant memory. Throws
/// ParseError on a file without column `state`, and InvalidArgument when no row can be used.
[[nodiscard]] SensorCounts count_labelled_rows(const Pomdp& model,
                                               std::span<const std::string> logs,
                                               Parallelism parallelism = {},
                                               const RowsRead& progress = {},
                                               const LogOptions& options = {});

/// Whether names that were found in a log are numbers, some with decimals, as no names would be:
/// then they are rather readings, for calibrate_densities().
[[nodiscard]] bool look_like_readings(const Labels& observations);

/// The model with calibrated sensors as a document: a model file with an object `calibration`.
[[nodiscard]] nlohmann::ordered_json calibration_to_json(const Pomdp& skeleton,
                                                         const Calibration& calibration);

}  // namespace oas
