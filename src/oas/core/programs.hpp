#pragma once

#include <string>
#include <vector>

namespace oas {

/// Runs a program found on the PATH with these arguments and waits for it. True when it exists and
/// succeeded.
[[nodiscard]] bool run_program(std::vector<std::string> words);

}  // namespace oas
