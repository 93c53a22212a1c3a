#pragma once

#include <toml++/toml.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "oas/study/study.hpp"

namespace oas::detail {

/// Labels by column and value.
using Labels = std::map<std::string, std::map<std::string, std::string>>;

/// The tables [[figure]] of a study. `sweeps` are the names of its sweeps. Throws as parse_study.
[[nodiscard]] std::vector<FigureSpec> read_figures(const toml::table& root, const std::string& file,
                                                   const std::set<std::string>& sweeps,
                                                   const Labels& labels);

}  // namespace oas::detail
