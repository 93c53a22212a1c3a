#include "oas/estimation/likelihood/maximum_likelihood.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/estimation/transition_error.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

Pomdp climb_model(int states, Timing timing, std::uint64_t seed) {
  test::RandomModelOptions options;
  options.num_states = states;
  options.timing = timing;
  options.concentration = 2.0;
  options.min_alpha = 0.3;
  return test::random_model(options, seed);
}

class Climbing : public ::testing::TestWithParam<Timing> {};
INSTANTIATE_TEST_SUITE_P(All, Climbing, ::testing::Values(Timing::before, Timing::after));

TEST_P(Climbing, TheLikelihoodNeverFallsAndTheEndIsAMaximum) {
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const Pomdp model = climb_model(3, GetParam(), seed);
    TransitionLikelihood rows(model);
    for (std::uint64_t run = 0; run < 3; ++run) {
      const Trajectory log = test::play_uniformly(model, 2000, 0.1, 10 * seed + run);
      rows.start_run();
      rows.append(log.actions, log.observations);
    }
    LikelihoodOptions options;
    options.tolerance = 1e-8;
    const TransitionModel start = TransitionModel::uniform(3, 2);
    const LikelihoodEstimate estimate = maximize_likelihood(rows, start, options, {1});
    EXPECT_EQ(estimate.status, LikelihoodStatus::converged) << estimate.brief();
    EXPECT_GE(estimate.pass.log_likelihood, estimate.start_log_likelihood);
    EXPECT_GE(estimate.pass.log_likelihood, rows.pass(model.transition()).log_likelihood);
    // At a maximum every entry's score is the row's, or lower where the entry is near 0.
    for (std::size_t first = 0; first < 18; first += 3) {
      double visits = 0.0;
      for (std::size_t i = first; i < first + 3; ++i) visits += estimate.pass.counts[i];
      for (std::size_t i = first; i < first + 3; ++i) {
        const double excess = estimate.pass.score[i] - visits;
        EXPECT_LT(excess, 0.01 * std::sqrt(visits));
        const bool at_zero = estimate.transition.values()[i] < 0.01;
        EXPECT_TRUE(at_zero || excess > -0.01 * std::sqrt(visits));
      }
    }
    LikelihoodOptions plain;
    plain.accelerate = false;
    plain.tolerance = 1e-6;
    plain.max_passes = 20'000;
    const LikelihoodEstimate slow = maximize_likelihood(rows, start, plain, {1});
    EXPECT_NEAR(slow.pass.log_likelihood, estimate.pass.log_likelihood, 1e-3);
    EXPECT_LT(estimate.passes * 3, slow.passes);
  }
}

}  // namespace
}  // namespace oas
