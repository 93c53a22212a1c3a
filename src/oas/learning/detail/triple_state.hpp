#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "oas/core/json_text.hpp"
#include "oas/counts/triple_counts.hpp"
#include "oas/learning/detail/saved_state.hpp"

/// The part of an agent's saved state that counts triples.
namespace oas::detail {

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

/// There can be at most `most` triples in all.
[[nodiscard]] inline std::vector<std::int64_t> triples_from_json(const JsonView& view,
                                                                 std::size_t num_cells,
                                                                 std::int64_t most) {
  std::vector<std::int64_t> values(num_cells, 0);
  const std::vector<std::int64_t> numbers = saved_integers(view, 0);
  if (numbers.size() % 2 != 0) view.fail("expected an even number of entries");
  std::int64_t left = most;
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    if (static_cast<std::size_t>(numbers[i]) >= num_cells) view.at(i).fail("no such counter");
    if (numbers[i + 1] > left) view.fail(fmt::format("more than {} triples", most));
    left -= numbers[i + 1];
    values[static_cast<std::size_t>(numbers[i])] = numbers[i + 1];
  }
  return values;
}

}  // namespace oas::detail
