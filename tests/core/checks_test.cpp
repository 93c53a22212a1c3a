#include "oas/core/checks.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <vector>

#include "oas/core/contracts.hpp"

namespace oas {
namespace {

using testing::HasSubstr;
using testing::StrEq;
using testing::ThrowsMessage;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

auto throws(const char* message) { return ThrowsMessage<InvalidArgument>(StrEq(message)); }

TEST(CheckSimplex, AcceptsWhatRoundingDoes) {
  EXPECT_NO_THROW(check_simplex(std::vector{1.0}, "p"));
  EXPECT_NO_THROW(check_simplex(std::vector{0.0, 1.0, 0.0}, "p"));
  EXPECT_NO_THROW(check_simplex(std::vector{0.5, 0.5 + 0.99e-8}, "p"));
  EXPECT_NO_THROW(check_simplex(std::vector{0.5, 0.5 - 0.99e-8}, "p"));
}

TEST(CheckSimplex, NamesWhatIndexAndValue) {
  EXPECT_THAT([] { check_simplex({}, "p"); }, throws("p is empty"));
  EXPECT_THAT([] { check_simplex(std::vector{0.5, 0.6}, "p"); }, throws("p sums to 1.1, not to 1"));
  EXPECT_THAT(
      [] {
        check_simplex(std::vector{0.5, 0.5 + 1.01e-8}, "p");
      },
      throws("p sums to 1.0000000101, not to 1"));
  EXPECT_THAT(
      [] {
        check_simplex(std::vector{0.5, 0.5 - 1.01e-8}, "p");
      },
      throws("p sums to 0.9999999899, not to 1"));
  EXPECT_THAT(
      [] {
        check_simplex(std::vector{1.25, -0.25}, "p");
      },
      throws("p[1] is -0.25; probabilities must not be negative"));
  EXPECT_THAT(
      [] {
        check_simplex(std::vector{1.0, -1e-300}, "p");
      },
      throws("p[1] is -1e-300; probabilities must not be negative"));
  EXPECT_THAT(
      [] {
        check_simplex(std::vector{kNaN, 1.0}, "p");
      },
      throws("p[0] is nan; probabilities must be finite"));
  EXPECT_THAT(
      [] {
        check_simplex(std::vector{0.0, kInfinity}, "p");
      },
      throws("p[1] is inf; probabilities must be finite"));
}

// Wide rows and every place in them, whatever is vectorised inside.
TEST(CheckSimplex, SeesEveryEntryOfEveryWidth) {
  for (std::size_t width = 1; width <= 17; ++width) {
    const std::vector<double> good(width, 1.0 / static_cast<double>(width));
    EXPECT_NO_THROW(check_simplex(good, "p")) << width;
    for (std::size_t i = 0; i < width; ++i) {
      const auto with = [&](double change) {
        std::vector<double> values = good;
        values[i] += change;
        return [values] { check_simplex(values, "p"); };
      };
      EXPECT_THAT(with(kNaN),
                  ThrowsMessage<InvalidArgument>(HasSubstr(fmt::format("p[{}] is", i))));
      EXPECT_THAT(with(kInfinity), ThrowsMessage<InvalidArgument>(HasSubstr("must be finite")));
      EXPECT_THAT(with(-1.5), ThrowsMessage<InvalidArgument>(HasSubstr("must not be negative")));
      EXPECT_THAT(with(1.1e-8), ThrowsMessage<InvalidArgument>(HasSubstr("sums to")));
      EXPECT_NO_THROW(with(0.9e-8)());
      EXPECT_NO_THROW(with(0.4e-8)());
    }
    // A negative entry that leaves the sum alone.
    if (width == 1) continue;
    std::vector<double> values = good;
    values[width - 1] = -0.25;
    values[0] += 0.25 + good[0];
    EXPECT_THAT([&] { check_simplex(values, "p"); },
                ThrowsMessage<InvalidArgument>(HasSubstr("must not be negative")));
  }
}

TEST(CheckRowStochastic, NamesTheRow) {
  EXPECT_NO_THROW(check_row_stochastic(std::vector{1.0, 0.0, 0.5, 0.5}, 2, "T"));
  EXPECT_THAT(
      [] {
        check_row_stochastic(std::vector{1.0, 0.0, 0.5, 0.25}, 2, "T");
      },
      throws("T[1] sums to 0.75, not to 1"));
  EXPECT_THAT(
      [] {
        check_row_stochastic(std::vector{1.0, 0.0, 0.5}, 2, "T");
      },
      throws("T: 3 values are not rows of 2"));
  EXPECT_THAT([] { check_row_stochastic(std::vector{1.0}, 0, "T"); },
              throws("T: 1 values are not rows of 0"));
}

TEST(CheckRowStochastic, ColumnsNeedNotSumToOne) {
  EXPECT_NO_THROW(check_row_stochastic(std::vector{1.0, 0.0, 1.0, 0.0}, 2, "T"));
}

TEST(CheckFinite, NamesIndexAndValue) {
  EXPECT_NO_THROW(check_finite({}, "r"));
  EXPECT_NO_THROW(check_finite(std::vector{-1e308, 0.0}, "r"));
  EXPECT_THAT(
      [] {
        check_finite(std::vector{0.0, -kInfinity}, "r");
      },
      throws("r[1] is -inf; it must be finite"));
  EXPECT_THAT([] { check_finite(std::vector{kNaN}, "r"); },
              throws("r[0] is nan; it must be finite"));
}

}  // namespace
}  // namespace oas
