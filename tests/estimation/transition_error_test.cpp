#include "oas/estimation/transition_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/extreme_dynamics.hpp"

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

TEST(ExtremeDynamics, HaveWhatMayBeMissingAndStatesThatMayBeForEver) {
  TransitionEstimate estimate;
  estimate.transition = TransitionModel(3, 1, {0.6, 0.3, 0.1, 0.2, 0.3, 0.5, 0.0, 0.0, 1.0});
  EXPECT_TRUE(extreme_dynamics(estimate).empty());  // without intervals
  estimate.visits = {100.0, 0.5, 30.0};
  estimate.lower = {0.5, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.9};
  estimate.upper = {0.7, 0.4, 0.2, 0.8, 0.8, 0.8, 0.1, 0.1, 1.0};
  std::vector<TransitionModel> found = extreme_dynamics(estimate);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[0](Action{0}, State{0}, State{0}), 2.0 / 3.0, 1e-15);
  EXPECT_EQ(found[0](Action{0}, State{0}, State{2}), 0.0);
  // Ten of a hundred visits were seen.
  EXPECT_NEAR(found[1].row(Action{0}, State{0})[2], 0.1, 1e-15);
  EXPECT_THAT(found[0].row(Action{0}, State{1}), testing::ElementsAre(0.2, 0.3, 0.5));
  EXPECT_THAT(found[0].row(Action{0}, State{2}), testing::ElementsAre(0.0, 0.0, 1.0));
  estimate.upper[4] = 0.95;  // a row of which next to nothing is known may lead nowhere
  found = extreme_dynamics(estimate);
  for (const TransitionModel& one : found) {
    EXPECT_THAT(one.row(Action{0}, State{1}), testing::ElementsAre(0.0, 1.0, 0.0));
  }
}

}  // namespace
}  // namespace oas
