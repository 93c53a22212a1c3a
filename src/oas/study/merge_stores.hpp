#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "oas/study/result_store.hpp"

namespace oas {

/// What a merge came to.
struct StoreMerge {
  std::int64_t added = 0;    ///< units that finished in a part and were not there
  std::int64_t there = 0;    ///< units of parts that were there already, with the same rows
  std::int64_t missing = 0;  ///< units that no part has finished
};

/// Adds the units of all parts, folders of results of the same study made by the same program, to
/// `whole`. Sources stay as they are; one unit is one transaction, so a merge that was killed is
/// done again. Throws InvalidArgument, before anything is stored, on a part that is not there, is
/// damaged, is `whole` itself, or belongs to another study, version or maths library; and on a unit
/// with other rows in a part than in `whole`, naming it: the same unit has the same rows wherever
/// it is computed.
[[nodiscard]] StoreMerge merge_stores(ResultStore& whole, std::span<const std::string> parts);

}  // namespace oas
