#pragma once

namespace oas {

/// "major.minor.patch" of the library that is linked.
[[nodiscard]] const char* version();

}  // namespace oas
