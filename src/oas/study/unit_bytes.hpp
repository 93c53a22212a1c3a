#pragma once

#include <string>
#include <string_view>

#include "oas/study/result_store.hpp"

namespace oas {

/// A unit's results as bytes, for another process of the same program.
[[nodiscard]] std::string unit_bytes(const UnitResult& result);

/// The unit that these bytes hold. Throws InvalidArgument on what unit_bytes() does not write.
[[nodiscard]] UnitResult unit_of_bytes(std::string_view bytes);

}  // namespace oas
