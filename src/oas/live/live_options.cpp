#include "oas/live/live_options.hpp"

#include "oas/core/contracts.hpp"

namespace oas {

void LiveOptions::validate() const {
  check_ranges(*this);
  OAS_REQUIRE(!journal.empty(), "journal is \"\"; the folder of the journal is expected");
  OAS_REQUIRE(max_body >= 64, "max_body is {}; expected at least 64 bytes", max_body);
  OAS_REQUIRE(segment_bytes >= 4096, "segment_bytes is {}; expected at least 4096", segment_bytes);
}

}  // namespace oas
