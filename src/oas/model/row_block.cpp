#include "oas/model/row_block.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"

namespace oas {

RowBlock RowBlock::part(std::size_t first, std::size_t count) const {
  OAS_REQUIRE(first <= size() && count <= size() - first, "{} rows from row {} on, of {}", count,
              first, size());
  const auto cut = [&](auto column) {
    if (column.empty()) return column;
    const std::size_t width = column.size() / size();
    return column.subspan(first * width, count * width);
  };
  RowBlock rows;
  rows.actions = cut(actions);
  rows.observations = cut(observations);
  rows.propensities = cut(propensities);
  rows.readings = cut(readings);
  rows.likelihoods = cut(likelihoods);
  return rows;
}

void RowBlock::validate() const {
  const std::size_t n = size();
  OAS_REQUIRE(observations.size() == n && (propensities.empty() || propensities.size() == n) &&
                  readings.size() % std::max<std::size_t>(n, 1) == 0 &&
                  likelihoods.size() % std::max<std::size_t>(n, 1) == 0,
              "{} actions, {} observations, {} propensities, {} readings, {} likelihoods", n,
              observations.size(), propensities.size(), readings.size(), likelihoods.size());
  OAS_REQUIRE(starts.empty() || starts.size() == run_starts.size(), "{} starts of {} runs",
              starts.size(), run_starts.size());
  std::size_t least = 0;
  for (const std::size_t start : run_starts) {
    OAS_REQUIRE(start >= least && start < n, "a run starts at row {} of {}, after row {}", start, n,
                least);
    least = start + 1;
  }
}

}  // namespace oas
