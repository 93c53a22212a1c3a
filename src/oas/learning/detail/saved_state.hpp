#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "oas/core/json_text.hpp"
#include "oas/model/trajectory.hpp"

/// What load() of an agent reads, with its limits: a number outside is a ParseError that names path
/// and value.
namespace oas::detail {

/// More steps than any run has; sums of a few such numbers are far from the limits of integers.
inline constexpr std::int64_t kMostSavedSteps = std::int64_t{1} << 50;

/// An integer from `low` to `high`.
[[nodiscard]] std::int64_t saved_integer(const JsonView& view, std::int64_t low,
                                         std::int64_t high = kMostSavedSteps);

/// An array of integers from `low` to `high`, of any length.
[[nodiscard]] std::vector<std::int64_t> saved_integers(const JsonView& view, std::int64_t low,
                                                       std::int64_t high = kMostSavedSteps);

/// `size` counters that are not negative and add up to at most `most`.
[[nodiscard]] std::vector<std::int64_t> saved_counters(const JsonView& view, std::size_t size,
                                                       std::int64_t most);

/// `size` finite numbers of at most this magnitude.
[[nodiscard]] std::vector<double> saved_numbers(
    const JsonView& view, std::size_t size,
    double largest = std::numeric_limits<double>::infinity());

/// Actions and observations (kMissing included) in turn.
struct SavedRow {
  Action action;
  Observation observation;
};
[[nodiscard]] std::vector<SavedRow> saved_rows(const JsonView& view, int num_actions,
                                               int num_observations);

/// The last choice, from the keys `action` and `propensity`.
[[nodiscard]] Action saved_action(const JsonView& state, int num_actions);
[[nodiscard]] Choice saved_choice(const JsonView& state, int num_actions);

}  // namespace oas::detail
