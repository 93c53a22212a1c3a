#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "oas/core/rng.hpp"
#include "support/chi_square.hpp"

namespace oas {
namespace {

using test::chi_square_p_value;
using test::kFailureProbability;

double below_p_value(std::uint32_t n, std::uint64_t seed) {
  Rng rng({seed, 0, Role::test});
  std::vector<std::int64_t> counts(n, 0);
  for (int i = 0; i < 1'000'000; ++i) ++counts[rng.below(n)];
  return chi_square_p_value(counts, std::vector<double>(n, 1.0));
}

TEST(BelowStatistics, EveryValueIsEquallyLikely) {
  for (const std::uint32_t n : {2U, 3U, 7U, 10U, 1000U}) {
    EXPECT_GT(below_p_value(n, 100 + n), kFailureProbability) << n;
  }
}

// Without rejection values that are 0 modulo 3 would come half of the time.
TEST(BelowStatistics, LargeSizesAreNotBiased) {
  Rng rng({7, 0, Role::test});
  std::vector<std::int64_t> counts(3, 0);
  for (int i = 0; i < 300'000; ++i) ++counts[rng.below(3U << 30) % 3];
  EXPECT_GT(chi_square_p_value(counts, std::vector<double>(3, 1.0)), kFailureProbability);
}

TEST(UniformStatistics, CellsAndPairsAreUniform) {
  Rng rng({8, 0, Role::test});
  std::vector<std::int64_t> cells(1000, 0);
  std::vector<std::int64_t> pairs(32 * 32, 0);  // consecutive draws are independent
  double largest = 0.0;
  double smallest = 1.0;
  for (int i = 0; i < 1'000'000; ++i) {
    const double x = rng.uniform();
    const double y = rng.uniform();
    ++cells[static_cast<std::size_t>(x * 1000)];
    ++pairs[static_cast<std::size_t>(x * 32) * 32 + static_cast<std::size_t>(y * 32)];
    largest = std::max({largest, x, y});
    smallest = std::min({smallest, x, y});
  }
  EXPECT_GT(chi_square_p_value(cells, std::vector<double>(1000, 1.0)), kFailureProbability);
  EXPECT_GT(chi_square_p_value(pairs, std::vector<double>(1024, 1.0)), kFailureProbability);
  EXPECT_LT(largest, 1.0);
  EXPECT_GT(largest, 1.0 - 1e-5);
  EXPECT_LT(smallest, 1e-5);
}

TEST(StreamStatistics, EachOfThe64BitsIsFair) {
  Rng rng({9, 0, Role::test});
  std::vector<std::int64_t> ones(64, 0);
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t bits = rng.bits();
    for (std::size_t b = 0; b < 64; ++b) ones[b] += static_cast<std::int64_t>((bits >> b) & 1);
  }
  for (std::size_t b = 0; b < 64; ++b) {
    const std::vector<std::int64_t> counts{ones[b], kDraws - ones[b]};
    EXPECT_GT(chi_square_p_value(counts, std::vector{0.5, 0.5}), kFailureProbability) << b;
  }
}

// Streams whose keys differ in one bit are as far apart as independent ones: 32 bits on average.
TEST(StreamStatistics, NeighbouringKeysAreIndependent) {
  const StreamKey key{1, 1, Role::environment};
  for (const StreamKey& other :
       {StreamKey{0, 1, Role::environment}, StreamKey{1, 0, Role::environment},
        StreamKey{1, 1, Role::agent}}) {
    Rng x(key);
    Rng y(other);
    std::vector<std::int64_t> counts(2, 0);
    for (int i = 0; i < 100'000; ++i) {
      const int different = std::popcount(x.bits() ^ y.bits());
      counts[0] += different;
      counts[1] += 64 - different;
    }
    EXPECT_GT(chi_square_p_value(counts, std::vector{0.5, 0.5}), kFailureProbability);
  }
}

}  // namespace
}  // namespace oas
