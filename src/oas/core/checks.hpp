#pragma once

#include <span>
#include <string_view>

#include "oas/core/index.hpp"

namespace oas {

/// Rows that should sum to one may be off by this much (absolute); text files carry rounded
/// numbers.
inline constexpr double kStochasticTolerance = 1e-8;

/// Throws InvalidArgument naming `what`, the index and the value unless every entry is a finite
/// number that is not negative and the sum is 1 within kStochasticTolerance.
void check_simplex(std::span<const double> values, std::string_view what);

/// check_simplex on every row of a row-major matrix; the message names "what[row]".
void check_row_stochastic(std::span<const double> values, int columns, std::string_view what);

/// Throws InvalidArgument naming `what`, the index and the value unless all are finite.
void check_finite(std::span<const double> values, std::string_view what);

/// Throws InvalidArgument naming the value unless it is one of so many actions.
void check_action(Action action, int num_actions);

/// Throws InvalidArgument naming the value unless it is one of so many observations or kMissing.
void check_observation(Observation observation, int num_observations);

}  // namespace oas
