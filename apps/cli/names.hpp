#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/model/labels.hpp"

/// Names of actions and states, as users give them.
namespace oas::cli {

inline std::string listed(const Labels& labels) {
  std::string text;
  for (int i = 0; i < labels.size(); ++i) text += (i > 0 ? ", " : "") + labels[i];
  return text;
}

/// The element that each text names, by its name or its number. `option` is for messages.
template <class Index>
std::vector<Index> indices_of(const std::vector<std::string>& names, const Labels& labels,
                              const char* option, const char* what) {
  std::vector<Index> result;
  for (std::string name : names) {
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    int found = 0;
    while (found < labels.size() && labels[found] != name && fmt::to_string(found) != name) ++found;
    OAS_REQUIRE(found < labels.size(), "{}: there is no {} '{}'; there are {}", option, what, name,
                listed(labels));
    result.emplace_back(found);
  }
  return result;
}

}  // namespace oas::cli
