#pragma once

#include <cstdint>
#include <string>

#include "oas/sensors/cells.hpp"

namespace oas::cli {

/// What `oas discretise` did.
struct Discretised {
  const Cells& cells;
  double alpha = 0.0;
  bool carried = false;           ///< draws under each of the calibrated densities went along
  const std::string& output;      ///< model that was written; empty: none
  const std::string& log_output;  ///< log that was written; empty: none
  std::int64_t rows = 0;          ///< of it
};
[[nodiscard]] std::string discretise_text(const Discretised& found);

}  // namespace oas::cli
