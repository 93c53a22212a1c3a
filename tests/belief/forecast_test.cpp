#include "oas/belief/forecast.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "oas/core/contracts.hpp"
#include "support/random_models.hpp"

/// Forecasts against sums over all paths, closed forms and long series.
namespace oas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ForecastQuestion question(int steps, std::vector<int> schedule, std::vector<int> reach) {
  ForecastQuestion result;
  result.steps = steps;
  for (const int a : schedule) result.schedule.emplace_back(a);
  for (const int s : reach) result.reach.emplace_back(s);
  return result;
}

// Visits all paths of `left` more steps.
void follow(const TransitionModel& transition, const ForecastQuestion& asked, int step, int state,
            bool reached, double weight, Forecast& sums) {
  for (const State goal : asked.reach) reached = reached || goal.value() == state;
  const auto states = static_cast<std::size_t>(transition.num_states());
  const auto k = static_cast<std::size_t>(step);
  sums.states[k * states + static_cast<std::size_t>(state)] += weight;
  if (!reached) sums.survival[k] += weight;
  if (step == asked.steps) return;
  const Action action = asked.schedule[k % asked.schedule.size()];
  for (int next = 0; next < transition.num_states(); ++next) {
    const double p = transition(action, State{state}, State{next});
    if (p > 0.0) follow(transition, asked, step + 1, next, reached, weight * p, sums);
  }
}

TEST(Forecast, IsTheSumOverAllPaths) {
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    test::RandomModelOptions options;
    options.num_states = 3;
    options.num_actions = 2;
    const TransitionModel transition = test::random_model(options, seed).transition();
    const ForecastQuestion asked = question(6, {0, 1, 1}, {2});
    const std::vector<double> belief = {0.5, 0.3, 0.2};
    Forecast sums;
    sums.states.assign(7 * 3, 0.0);
    sums.survival.assign(7, 0.0);
    for (int s = 0; s < 3; ++s) {
      follow(transition, asked, 0, s, false, belief[static_cast<std::size_t>(s)], sums);
    }
    const Forecast found = Forecaster(transition, asked)(belief);
    EXPECT_THAT(found.states, testing::Pointwise(testing::DoubleNear(1e-14), sums.states));
    EXPECT_THAT(found.survival, testing::Pointwise(testing::DoubleNear(1e-14), sums.survival));
    // The mean is the sum of the survival function.
    const Forecast far = Forecaster(transition, question(20'000, {0, 1, 1}, {2}))(belief);
    double mean = 0.0;
    for (const double survives : far.survival) mean += survives;
    EXPECT_NEAR(found.mean_steps, mean, 1e-9 * mean);
    EXPECT_EQ(found.ever, 1.0);
  }
}

TEST(Forecast, GeometricTimes) {
  const TransitionModel wear(2, 1, {0.9, 0.1, 0.0, 1.0});
  const Forecast found = Forecaster(wear, question(30, {0}, {1}))(std::vector{1.0, 0.0});
  EXPECT_NEAR(found.mean_steps, 10.0, 1e-12);
  EXPECT_EQ(found.quantile(0.5), 7);  // 0.9^7 < 0.5 < 0.9^6
  EXPECT_EQ(found.quantile(0.99), std::nullopt);
  EXPECT_NEAR(found.survival[30], std::pow(0.9, 30), 1e-15);
}

// Absorbing, periodic and cut-off states: whether, and when, a state is entered.
TEST(Forecast, KnowsWhatIsNeverReached) {
  // 0 → 1 or 3 (absorbing), 1 → 2 for sure, 2 → 0; 4 is alone.
  const TransitionModel model(5, 1, {0.0, 0.5, 0.0, 0.5, 0.0,  //
                                     0.0, 0.0, 1.0, 0.0, 0.0,  //
                                     1.0, 0.0, 0.0, 0.0, 0.0,  //
                                     0.0, 0.0, 0.0, 1.0, 0.0,  //
                                     0.0, 0.0, 0.0, 0.0, 1.0});
  const auto from = [&](int start, std::vector<int> reach) {
    std::vector<double> belief(5, 0.0);
    belief[static_cast<std::size_t>(start)] = 1.0;
    return Forecaster(model, question(5, {0}, std::move(reach)))(belief);
  };
  EXPECT_EQ(from(0, {3}).ever, 1.0);
  EXPECT_NEAR(from(0, {3}).mean_steps, 4.0, 1e-12);  // a round of 3 steps with probability 1/2
  EXPECT_NEAR(from(0, {2}).ever, 0.5, 1e-15);
  EXPECT_EQ(from(0, {2}).mean_steps, kInfinity);
  EXPECT_EQ(from(0, {4}).ever, 0.0);
  EXPECT_EQ(from(4, {0, 1, 2, 3}).ever, 0.0);
  EXPECT_EQ(from(3, {3}).mean_steps, 0.0);
  EXPECT_EQ(from(1, {2}).mean_steps, 1.0);
  // Flip and stay: under the schedule {flip, flip} state 1 is seen on the way.
  const TransitionModel flip(2, 2, {0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0});
  const Forecast twice = Forecaster(flip, question(3, {0, 0}, {1}))(std::vector{1.0, 0.0});
  EXPECT_EQ(twice.ever, 1.0);
  EXPECT_EQ(twice.mean_steps, 1.0);
  const Forecast late = Forecaster(flip, question(3, {1, 1, 0}, {1}))(std::vector{1.0, 0.0});
  EXPECT_NEAR(late.mean_steps, 3.0, 1e-15);
  EXPECT_EQ(Forecaster(flip, question(3, {1}, {1}))(std::vector{1.0, 0.0}).ever, 0.0);
}

TEST(Forecast, ChecksItsArguments) {
  const TransitionModel model = TransitionModel::uniform(2, 1);
  EXPECT_THROW(Forecaster(model, question(-1, {0}, {})), InvalidArgument);
  EXPECT_THROW(Forecaster(model, question(1, {}, {})), InvalidArgument);
  EXPECT_THROW(Forecaster(model, question(1, {1}, {})), InvalidArgument);
  EXPECT_THROW(Forecaster(model, question(1, {0}, {2})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(Forecaster(model, question(1, {0}, {}))(std::vector{1.0})),
               InvalidArgument);
}

}  // namespace
}  // namespace oas
