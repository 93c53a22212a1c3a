#include "oas/estimation/transition_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/sparsest_dynamics.hpp"

namespace oas {
namespace {

TEST(TransitionErrorTest, IsWhatTheFormulaSays) {
  const TransitionModel truth(2, 2, {0.5, 0.5, 1.0, 0.0, 0.2, 0.8, 0.3, 0.7});
  const TransitionModel estimate(2, 2, {0.4, 0.6, 1.0, 0.0, 0.2, 0.8, 0.6, 0.4});
  const TransitionError error = transition_error(truth, estimate);
  EXPECT_NEAR(error.frobenius, std::sqrt(2 * 0.01 + 2 * 0.09), 1e-15);
  EXPECT_NEAR(error.frobenius_by_action[0], std::sqrt(0.02), 1e-15);
  EXPECT_NEAR(error.frobenius_by_action[1], std::sqrt(0.18), 1e-15);
  EXPECT_NEAR(error.largest_l1, 0.6, 1e-15);
  EXPECT_NEAR(error.largest_l1_by_action[0], 0.2, 1e-15);
  ASSERT_EQ(error.rows.size(), 4U);
  EXPECT_EQ(error.rows[0].action, Action{1});
  EXPECT_EQ(error.rows[0].state, State{1});
  EXPECT_EQ(error.rows[1].action, Action{0});
  EXPECT_EQ(error.rows[1].state, State{0});
}

TEST(TransitionErrorTest, SizesMustAgree) {
  EXPECT_THROW(static_cast<void>(transition_error(TransitionModel::uniform(2, 1),
                                                  TransitionModel::uniform(3, 1))),
               InvalidArgument);
}

TEST(Estimators, AreFoundByNameOrListed) {
  EXPECT_EQ(find_estimator("oas").pairing, Pairing::disjoint);
  EXPECT_EQ(find_estimator("oas-overlap").pairing, Pairing::overlapping);
  try {
    static_cast<void>(find_estimator("magic"));
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("unknown estimator 'magic'; known are oas, "));
  }
}

// Entries that may be 0 are, unless nothing would be left of their row.
TEST(SparsestDynamics, DropsWhatMayNotBeThere) {
  TransitionEstimate estimate;
  estimate.transition = TransitionModel(3, 1, {0.6, 0.3, 0.1, 0.2, 0.3, 0.5, 0.0, 0.0, 1.0});
  EXPECT_EQ(sparsest_dynamics(estimate), estimate.transition);  // without intervals
  estimate.lower = {0.5, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.9};
  const TransitionModel sparse = sparsest_dynamics(estimate);
  EXPECT_NEAR(sparse(Action{0}, State{0}, State{0}), 2.0 / 3.0, 1e-15);
  EXPECT_EQ(sparse(Action{0}, State{0}, State{2}), 0.0);
  EXPECT_THAT(sparse.row(Action{0}, State{1}), testing::ElementsAre(0.2, 0.3, 0.5));
  EXPECT_THAT(sparse.row(Action{0}, State{2}), testing::ElementsAre(0.0, 0.0, 1.0));
}

}  // namespace
}  // namespace oas
