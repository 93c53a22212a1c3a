#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "oas/core/parallel.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/logs/one_log.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/row_source.hpp"
#include "oas/sensors/cells.hpp"

namespace oas {

/// Reads a log with real-valued observations and writes it again with the cells that these fall
/// into; `finite` names them (discretise(model, cells)). Propensities, rewards and states go along.
/// Returns the number of rows. Names of runs are kept. Throws InvalidArgument on a log of
/// likelihoods, and on gaps that the new log could not tell of: runs that start in an unknown
/// state (also those of units that had rows before LogOptions::from), rewards of rows that were put
/// in. Throws ParseError as LogReader does.
std::int64_t discretise_log(const ContinuousPomdp& model, const Pomdp& finite, const Cells& cells,
                            const OneLog& log, const std::string& path,
                            const RowsRead& progress = {}, const LogOptions& options = {});

/// Whether the object "estimate" of a model file carries draws of T that were made under each of
/// the densities which the labelled rows of the model allow. Any document may be asked.
[[nodiscard]] bool has_draws_under_densities(const nlohmann::ordered_json& estimate,
                                             const ContinuousPomdp& model);

/// The file of a finite model with its cells: discretise(model, cells). What is known of its
/// transitions, `estimate` (null: nothing), goes along, and with draws under densities the cells
/// under each of these. Throws as discretise().
[[nodiscard]] nlohmann::ordered_json discretised_document(const ContinuousPomdp& model,
                                                          const Pomdp& finite, const Cells& cells,
                                                          nlohmann::ordered_json estimate,
                                                          Parallelism parallelism = {});

}  // namespace oas
