#include "oas/learning/likelihood_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/planning/grid/relative_value_iteration.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

constexpr double kPrior = 0.3;
constexpr double kDrop = 3.0;

TEST(LikelihoodDrop, IsHalfTheQuantile) {
  // Upper points of the tables of χ²: degrees, level, point.
  const std::array<std::array<double, 3>, 4> cases = {
      {{2.0, 0.05, 5.991}, {4.0, 0.5, 3.357}, {18.0, 0.1, 25.989}, {18.0, 0.001, 42.312}}};
  for (const auto& [degrees, delta, point] : cases) {
    EXPECT_NEAR(2.0 * likelihood_drop(degrees, delta), point, 1e-3) << degrees;
  }
  EXPECT_THROW(static_cast<void>(likelihood_drop(2.0, 1.0)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(likelihood_drop(0.0, 0.1)), InvalidArgument);
}

// Two states and two actions, rows of uniform play, and their set.
class Optimism : public testing::TestWithParam<std::pair<Timing, std::uint64_t>> {
 protected:
  Optimism() : model_(make()), likelihood_(model_), solver_(BeliefGrid(2, 20), {1}) {
    const Trajectory log = test::play_uniformly(model_, 60, /*missing=*/0.1, 5);
    likelihood_.append(log.actions, log.observations);
    LikelihoodOptions options;
    options.prior = kPrior;
    mode_ = maximize_likelihood(likelihood_, TransitionModel::uniform(2, 2), options).transition;
    rows_ = likelihood_rows(likelihood_, {1});
  }
  static Pomdp make() {
    test::RandomModelOptions options;
    options.num_states = 2;
    options.num_observations = 3;
    options.timing = GetParam().first;
    options.min_alpha = 0.3;
    return test::random_model(options, GetParam().second);
  }
  double gain(const TransitionModel& transition) {
    return solver_.solve(model_.with_transition(transition), {.span_tolerance = 1e-5}).gain();
  }
  [[nodiscard]] double log_likelihood(const TransitionModel& transition) const {
    return likelihood_.pass(transition).log_likelihood;
  }
  OptimisticMember search(double drop) {
    const LaplacePosterior around(rows_.likelihood, mode_, likelihood_.pass(mode_), kPrior);
    return most_optimistic_member(
        rows_.likelihood, around, drop, [&](const TransitionModel& t) { return gain(t); }, {},
        Rng({GetParam().second, 0, Role::agent}));
  }

  Pomdp model_;
  TransitionLikelihood likelihood_;
  GridSolver solver_;
  TransitionModel mode_;
  LikelihoodRows rows_;
};

// Against all members on a grid of T.
TEST_P(Optimism, FindsWhatEnumerationFinds) {
  const double least = log_likelihood(mode_) - kDrop;
  const OptimisticMember found = search(kDrop);
  EXPECT_GE(found.log_likelihood, least);
  EXPECT_DOUBLE_EQ(found.log_likelihood, log_likelihood(found.transition));
  EXPECT_NEAR(found.gain, gain(found.transition), 1e-4);
  constexpr int kSteps = 12;
  double best = 0.0;
  for (int code = 0; code < kSteps * kSteps * kSteps * kSteps; ++code) {
    int rest = code;
    std::vector<double> values;
    for (int row = 0; row < 4; ++row) {
      const double p = (rest % kSteps + 0.5) / kSteps;
      rest /= kSteps;
      values.insert(values.end(), {p, 1.0 - p});
    }
    const TransitionModel member(2, 2, std::move(values));
    if (log_likelihood(member) >= least) best = std::max(best, gain(member));
  }
  const double mode = gain(mode_);
  ASSERT_GT(best, mode) << "the grid has members that are better";
  EXPECT_GE(found.gain - mode, 0.95 * (best - mode));
}

TEST_P(Optimism, ALargerSetHasABetterMember) {
  double before = gain(mode_);
  for (const double drop : {1e-3, 0.1, 1.0, 4.0}) {
    const double found = search(drop).gain;
    EXPECT_GT(found, before) << drop;
    before = found;
  }
  EXPECT_THROW(static_cast<void>(search(0.0)), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(
    Models, Optimism,
    testing::Values(std::pair(Timing::before, 1U), std::pair(Timing::before, 2U),
                    std::pair(Timing::before, 3U), std::pair(Timing::after, 1U),
                    std::pair(Timing::after, 2U), std::pair(Timing::after, 3U)),
    [](const auto& model) {
      return std::string(to_string(model.param.first)) + std::to_string(model.param.second);
    });

}  // namespace
}  // namespace oas
