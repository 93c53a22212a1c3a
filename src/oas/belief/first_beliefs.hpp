#pragma once

#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// A belief in which the first action of a run may be taken.
struct FirstBelief {
  Observation first = kMissing;  ///< the first reading, where rows are reading-first
  double probability = 1.0;      ///< of that reading
  std::vector<double> belief;    ///< [S]
};

/// Those of a model: its start; where rows are reading-first, one after each first reading that
/// some state can give. Where the start rules such a reading out, it has probability 0 and the
/// belief is the start, as the filter has it.
[[nodiscard]] std::vector<FirstBelief> first_beliefs(const Pomdp& model);

}  // namespace oas
