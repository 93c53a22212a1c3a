#pragma once

#include <string>

#include "cli.hpp"

namespace oas::cli {

/// Warns where a model file is an estimate with rows that its log did not determine: how many, the
/// first few, and that `result` may depend on them. Returns the warning, "" where there is none.
std::string warn_of_undetermined_rows(const std::string& name, const Pomdp& model,
                                      const std::string& result, const Common& common);

}  // namespace oas::cli
