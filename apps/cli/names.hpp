#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/model/label_lookup.hpp"

/// Names of actions and states, as users give them.
namespace oas::cli {

/// The element that each text names, by its name or its number. `option` is for messages.
template <class Index>
std::vector<Index> indices_of(const std::vector<std::string>& names, const Labels& labels,
                              const char* option, const char* what) {
  std::vector<Index> result;
  for (const std::string& name : names) {
    result.emplace_back(element_named(name, labels, what, option));
  }
  return result;
}

/// Where a policy graph starts: "node 0", or "node 2 after reading low, 0 after high".
inline std::string start_of_graph(int start_node, const std::vector<int>& first,
                                  const Labels& observations) {
  if (first.empty()) return fmt::format("node {}", start_node);
  std::string text;
  for (int o = 0; o < observations.size(); ++o) {
    const int node = first[static_cast<std::size_t>(o)];
    if (node < 0) continue;
    text += fmt::format("{}{} after {}{}", text.empty() ? "node " : ", ", node,
                        text.empty() ? "reading " : "", observations[o]);
  }
  return text;
}

}  // namespace oas::cli
