#pragma once

#include <span>
#include <string_view>

#include "oas/counts/pair_counts.hpp"

namespace oas {

/// One row of the table of estimators, as `oas list` and docs/algorithms.md show it.
struct EstimatorInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view reference;
  Pairing pairing;
};

[[nodiscard]] std::span<const EstimatorInfo> estimators();

/// Throws InvalidArgument listing the names when there is none of that name.
[[nodiscard]] const EstimatorInfo& find_estimator(std::string_view name);

}  // namespace oas
