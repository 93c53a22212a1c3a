#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "oas/core/json_text.hpp"
#include "oas/counts/triple_counts.hpp"

/// The part of an agent's saved state that counts triples.
namespace oas::detail {

[[nodiscard]] inline std::vector<int> integers(const JsonView& view) {
  std::vector<int> values;
  for (std::size_t i = 0; i < view.size(); ++i) {
    values.push_back(static_cast<int>(view.at(i).as_integer()));
  }
  return values;
}

/// Most triples are never seen: index, count, index, count, …
[[nodiscard]] inline nlohmann::ordered_json triples_to_json(const TripleCounts& counts) {
  nlohmann::ordered_json cells = nlohmann::ordered_json::array();
  const auto values = counts.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    cells.push_back(i);
    cells.push_back(values[i]);
  }
  return cells;
}

[[nodiscard]] inline std::vector<std::int64_t> triples_from_json(const JsonView& view,
                                                                 std::size_t num_cells) {
  std::vector<std::int64_t> values(num_cells, 0);
  if (view.size() % 2 != 0) view.fail("an even number of entries is expected");
  for (std::size_t i = 0; i < view.size(); i += 2) {
    const long cell = view.at(i).as_integer();
    if (cell < 0 || static_cast<std::size_t>(cell) >= num_cells) {
      view.at(i).fail("no such counter");
    }
    values[static_cast<std::size_t>(cell)] = view.at(i + 1).as_integer();
  }
  return values;
}

}  // namespace oas::detail
