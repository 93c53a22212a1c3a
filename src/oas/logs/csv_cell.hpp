#pragma once

#include <string>
#include <string_view>

namespace oas {

/// A text as a CSV cell: with quotes where RFC 4180 wants them.
[[nodiscard]] std::string csv_cell(std::string_view text);

}  // namespace oas
