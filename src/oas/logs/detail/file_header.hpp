#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oas/logs/log_options.hpp"

namespace oas::detail {

/// The cells of the header row of a log. Throws InvalidArgument when the file cannot be opened,
/// ParseError when it has no such row.
[[nodiscard]] std::vector<std::string> header_cells(const std::string& path,
                                                    const LogOptions& options);

/// The same for whoever only wants to know what there is: nothing for what is no regular file (a
/// pipe can be read only once) and for what cannot be read, of which the reader proper will say
/// what is wrong.
[[nodiscard]] std::optional<std::vector<std::string>> peeked_header(const std::string& path,
                                                                    const LogOptions& options);

}  // namespace oas::detail
