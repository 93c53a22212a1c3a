#include "oas/core/checks.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// What nearly every row is, decided without a branch per entry.
bool is_simplex(std::span<const double> values) {
  constexpr std::size_t kLanes = 4;
  std::array<double, kLanes> sums{};
  std::array<bool, kLanes> fine{true, true, true, true};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      sums[k] += values[i + k];
      fine[k] &= values[i + k] >= 0.0;
    }
  }
  for (; i < values.size(); ++i) {
    sums[0] += values[i];
    fine[0] &= values[i] >= 0.0;
  }
  const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);  // infinite if any entry is
  return fine[0] && fine[1] && fine[2] && fine[3] &&
         std::abs(sum - 1.0) <= 0.5 * kStochasticTolerance;
}

}  // namespace

void check_simplex(std::span<const double> values, std::string_view what) {
  if (!values.empty() && is_simplex(values)) return;
  OAS_REQUIRE(!values.empty(), "{} is empty", what);
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    OAS_REQUIRE(std::isfinite(values[i]), "{}[{}] is {}; probabilities must be finite", what, i,
                values[i]);
    OAS_REQUIRE(values[i] >= 0.0, "{}[{}] is {}; probabilities must not be negative", what, i,
                values[i]);
    sum += values[i];
  }
  OAS_REQUIRE(std::abs(sum - 1.0) <= kStochasticTolerance, "{} sums to {:.12g}, not to 1", what,
              sum);
}

void check_row_stochastic(std::span<const double> values, int columns, std::string_view what) {
  OAS_REQUIRE(columns > 0 && values.size() % static_cast<std::size_t>(columns) == 0,
              "{}: {} values are not rows of {}", what, values.size(), columns);
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t row = 0; row * width < values.size(); ++row) {
    const auto entries = values.subspan(row * width, width);
    if (!is_simplex(entries)) check_simplex(entries, fmt::format("{}[{}]", what, row));
  }
}

void check_finite(std::span<const double> values, std::string_view what) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    OAS_REQUIRE(std::isfinite(values[i]), "{}[{}] is {}; it must be finite", what, i, values[i]);
  }
}

std::size_t table_size(std::initializer_list<int> extents) {
  constexpr std::size_t kTooMany = std::numeric_limits<std::size_t>::max();
  std::size_t size = 1;
  for (const int extent : extents) {
    if (extent < 0) return kTooMany;
    if (extent > 0 && size > kTooMany / static_cast<std::size_t>(extent)) return kTooMany;
    size *= static_cast<std::size_t>(extent);
  }
  return size;
}

void check_state(State state, int num_states) {
  OAS_REQUIRE(state >= 0 && state < num_states, "state is {}; there are {} states", state.value(),
              num_states);
}

void check_action(Action action, int num_actions) {
  OAS_REQUIRE(action >= 0 && action < num_actions, "action is {}; there are {} actions",
              action.value(), num_actions);
}

void check_observation(Observation observation, int num_observations) {
  OAS_REQUIRE(observation >= kMissing.value() && observation < num_observations,
              "observation is {}; there are {} observations", observation.value(),
              num_observations);
}

}  // namespace oas
