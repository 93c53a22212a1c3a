#include "oas/core/checks.hpp"

#include <cmath>

#include "oas/core/contracts.hpp"

namespace oas {

void check_simplex(std::span<const double> values, std::string_view what) {
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
              "{}: {} values are no rows of {}", what, values.size(), columns);
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t row = 0; row * width < values.size(); ++row) {
    check_simplex(values.subspan(row * width, width), fmt::format("{}[{}]", what, row));
  }
}

void check_finite(std::span<const double> values, std::string_view what) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    OAS_REQUIRE(std::isfinite(values[i]), "{}[{}] is {}; it must be finite", what, i, values[i]);
  }
}

}  // namespace oas
