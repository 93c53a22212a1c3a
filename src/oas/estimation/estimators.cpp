#include "oas/estimation/estimators.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr std::array<EstimatorInfo, 2> kEstimators = {{
    {"oas", "the paper's Algorithm 1: disjoint pairs of rows, Moore-Penrose inverse",
     "Russo, Metelli, Restelli (AAAI 2025), Algorithm 1", Pairing::disjoint},
    {"oas-overlap", "every pair of consecutive rows, all runs and policies pooled",
     "docs/estimation.md", Pairing::overlapping},
}};

}  // namespace

std::span<const EstimatorInfo> estimators() { return kEstimators; }

const EstimatorInfo& find_estimator(std::string_view name) {
  std::string names;
  for (const EstimatorInfo& info : kEstimators) {
    if (info.name == name) return info;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  }
  detail::throw_invalid_argument(fmt::format("unknown estimator '{}'; known are {}", name, names));
}

}  // namespace oas
