#include "oas/model/timing.hpp"

#include "oas/core/contracts.hpp"

namespace oas {

Rows parse_rows(std::string_view name) {
  if (name == to_string(Rows::action_first)) return Rows::action_first;
  OAS_REQUIRE(name == to_string(Rows::reading_first),
              "rows are action-first or reading-first, not \"{}\"", name);
  return Rows::reading_first;
}

}  // namespace oas
