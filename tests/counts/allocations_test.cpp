#include <gtest/gtest.h>

#include "oas/counts/pair_folder.hpp"
#include "support/allocations.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

// Rows are fed one by one; only those that close a batch may allocate. 100 000 pairs close 128
// batches of 8, then 64 each of 16, 32, … 512, then 33 of 1024.
TEST(Allocations, FoldingARowAllocatesOnlyWhereABatchCloses) {
  constexpr int kClosings = 128 + 6 * 64 + 33;
  test::RandomModelOptions sizes;
  sizes.min_alpha = 0.1;
  const LeftInverses inverses(test::random_model(sizes, 1));
  const Trajectory rows = test::random_rows_of_log(2, 4, 100'001, 0.0, 1);
  for (const bool weighted : {false, true}) {
    for (const std::int64_t dense_cells : {0, 1 << 16}) {
      FoldOptions options;
      options.inverse_propensity = weighted;
      options.max_dense_cells = dense_cells;
      PairFolder folder(inverses, Timing::before, options);
      int allocating_rows = 0;
      for (std::size_t t = 0; t < rows.size(); ++t) {
        const std::size_t before = test::allocations();
        folder.add(std::span(rows.actions).subspan(t, 1),
                   std::span(rows.observations).subspan(t, 1),
                   std::span(rows.propensities).subspan(t, 1));
        allocating_rows += test::allocations() != before;
      }
      EXPECT_LE(allocating_rows, kClosings);
      EXPECT_GE(allocating_rows, 64) << "batches are stored somewhere";
      EXPECT_EQ(folder.finish().rows, 100'001);
    }
  }
}

}  // namespace
}  // namespace oas
