#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oas/core/settings.hpp"

namespace oas {

/// The options of a log from a file, so that nobody has to type them with every command:
///
///     {"format": "oas-log-options/1", "columns": {"action": "cmd", "observation": ["vib",
///     "temp"]},
///      "step": "1h", "gaps": "action=run", "known_states": true}
///
/// Keys are the fields of LogOptions. Values are texts as on a command line, numbers, true and
/// false; columns may be an object. Throws ParseError naming file, key and value on an unknown key
/// and on what is no value of its field.
[[nodiscard]] std::vector<Setting> parse_log_options(std::string_view text,
                                                     const std::string& file);
[[nodiscard]] std::vector<Setting> read_log_options(const std::string& path);

}  // namespace oas
