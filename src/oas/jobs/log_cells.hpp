#pragma once

#include <cstdint>
#include <string>

#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/row_source.hpp"
#include "oas/sensors/cells.hpp"

namespace oas {

/// Reads a log with real-valued observations and writes it again with the cells that these fall
/// into; `finite` names them (discretise(model, cells)). Propensities, rewards and states go along.
/// Returns the number of rows. Throws InvalidArgument on a log of likelihoods, ParseError as
/// LogReader does.
std::int64_t discretise_log(const ContinuousPomdp& model, const Pomdp& finite, const Cells& cells,
                            const std::string& log, const std::string& path,
                            const RowsRead& progress = {});

}  // namespace oas
