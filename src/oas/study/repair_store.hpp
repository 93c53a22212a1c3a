#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oas/study/study.hpp"

namespace oas {

/// What a repair found.
struct StoreRepair {
  std::int64_t kept = 0;            ///< units that are as they were stored
  std::vector<std::int64_t> again;  ///< units that were there and have to be computed again
  std::int64_t missing = 0;         ///< units that are not there now, those of `again` included
  std::string set_aside;            ///< the damaged file; empty: nothing was damaged
};

/// Makes a new results.sqlite of all that is whole in a damaged one, which is kept beside it as
/// results.sqlite.damaged. Whatever part of the file is lost (rows, records of units, tables,
/// pages), units are kept that can be read, belong to the study and match their checksums. A sound
/// file is left as it is. Killed at any moment it leaves the old file or the new one.
///
/// The study is the stored one; where that itself is damaged, it has to be given. Throws
/// InvalidArgument when it is not, on a store of another study, version, maths library or earlier
/// format, and where nothing at all can be read; IoError when the disk refuses.
[[nodiscard]] StoreRepair repair_store(const std::string& folder,
                                       const std::optional<Study>& given = std::nullopt);

}  // namespace oas
