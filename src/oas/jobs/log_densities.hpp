#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "oas/core/parallel.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/row_source.hpp"
#include "oas/sensors/density_calibration.hpp"

namespace oas {

/// The model whose densities are to be filled in: all but these.
struct DensitySkeleton {
  Pomdp chain;
  int dimension = 1;  ///< of readings
  /// Where rows are reading-first and the model states how first readings come about, otherwise
  /// than by the density of all actions.
  std::optional<DensitySensors> first_density = {};
};

/// Whether labelled rows are real-valued, as far as a model file and the first log say so: the file
/// has densities, or observations by dimension or none; or, with an empty `path`, the log has
/// several columns of observations.
[[nodiscard]] bool asks_for_densities(const std::string& path, std::span<const std::string> logs,
                                      const LogOptions& options);

/// From a model file, of which densities and observations are not used, or with an empty `path`
/// from the labels of the logs. `chain`: a model that is there already, in place of both. `timing`
/// overrides what neither says; without it, one of them must. Throws InvalidArgument or ParseError
/// that names file and value.
[[nodiscard]] DensitySkeleton density_skeleton(const std::string& path, const Pomdp* chain,
                                               std::span<const std::string> logs,
                                               std::optional<Timing> timing,
                                               const LogOptions& options);

/// The labelled readings of any number of files. They are kept in memory. Throws ParseError on a
/// file without column `state`, and InvalidArgument when no row can be used.
[[nodiscard]] LabelledReadings read_labelled(const DensitySkeleton& skeleton,
                                             std::span<const std::string> logs,
                                             Parallelism parallelism, const RowsRead& progress,
                                             const LogOptions& options);

/// The model with its densities and what is not known about them.
[[nodiscard]] ContinuousPomdp calibrated_model(const DensitySkeleton& skeleton,
                                               const DensityCalibration& calibration);

/// The model file: that model, and an object `calibration` (docs/reference/formats.md).
[[nodiscard]] nlohmann::ordered_json calibration_to_json(const DensitySkeleton& skeleton,
                                                         const DensityCalibration& calibration);

/// A drawing: for every component and state (and action, where densities differ by it) the labelled
/// readings as a histogram, the density over it, and the random densities behind it.
[[nodiscard]] std::string calibration_figure_svg(const Pomdp& model,
                                                 const DensityCalibration& calibration);

}  // namespace oas
