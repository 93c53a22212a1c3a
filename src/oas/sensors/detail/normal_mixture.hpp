#pragma once

#include <span>
#include <vector>

#include "oas/model/density.hpp"

namespace oas::detail {

/// A mixture of two or three normal densities; see fit_density().
[[nodiscard]] Density fit_normal_mixture(std::span<const double> sample, double resolution);

/// The best mixture of as many parts for readings with weights that sum to 1, sought from `fitted`.
[[nodiscard]] Density refit_normal_mixture(const Density& fitted, std::span<const double> sample,
                                           std::span<const double> weights, double resolution);

}  // namespace oas::detail
