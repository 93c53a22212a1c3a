#pragma once

#include <cstddef>
#include <initializer_list>
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

/// The number of entries of a table; the largest number there is where they are more, or an extent
/// is negative, so that no table has that size.
[[nodiscard]] std::size_t table_size(std::initializer_list<int> extents);

/// Throws InvalidArgument naming the value unless it is one of so many states.
void check_state(State state, int num_states);

/// Throws InvalidArgument naming the value unless it is one of so many actions.
void check_action(Action action, int num_actions);

/// Throws InvalidArgument naming the value unless it is one of so many observations or kMissing.
void check_observation(Observation observation, int num_observations);

}  // namespace oas
