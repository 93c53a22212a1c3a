#pragma once

#include <string>

#include "cli.hpp"

namespace oas::cli {

/// Writes a plan or a policy as a policy of other solvers, and says what is exact about it.
void convert_policy(const std::string& input, const std::string& output, const Common& common);

}  // namespace oas::cli
