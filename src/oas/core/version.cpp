#include "oas/core/version.hpp"

namespace oas {

const char* version() { return OAS_VERSION; }

}  // namespace oas
