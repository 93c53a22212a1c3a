#pragma once

#include <string>
#include <vector>

#include "cli.hpp"

namespace oas::cli {

/// Warns where a model file is an estimate with rows that its log did not determine: how many, the
/// first few, and that `result` may depend on them. Returns the warning, "" where there is none.
std::string warn_of_undetermined_rows(const std::string& name, const Pomdp& model,
                                      const std::string& result, const Common& common);

/// The same about rows and about rewards that were to be learned from a log which does not tell
/// them: for results that depend on rewards. Returns all warnings.
std::vector<std::string> warn_of_undetermined(const std::string& name, const Pomdp& model,
                                              const std::string& result, const Common& common);

}  // namespace oas::cli
