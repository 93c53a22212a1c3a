#include <gtest/gtest.h>

#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "support/allocations.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

// A pass allocates for each task of 32768 rows, never for a row.
TEST(Allocations, APassAllocatesPerTaskOnly) {
  const Pomdp model = test::random_model({}, 1);
  const auto allocations_of = [&](std::size_t rows) {
    TransitionLikelihood likelihood(model);
    const Trajectory log = test::random_rows_of_log(2, 4, rows, 0.05, 1);
    likelihood.append(log.actions, log.observations);
    const std::size_t before = test::allocations();
    static_cast<void>(likelihood.pass(TransitionModel::uniform(3, 2), {}, {1}));
    return test::allocations() - before;
  };
  const std::size_t few = allocations_of(32'768);
  const std::size_t many = allocations_of(32'768 * 9);
  EXPECT_LT((many - few) / 8, 40U);
  EXPECT_GT(few, 0U);
}

}  // namespace
}  // namespace oas
