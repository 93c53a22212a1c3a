#include "oas/theory/regret_bounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "oas/theory/estimation_bounds.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::HasSubstr;

RegretBoundInputs inputs_of_the_paper() {
  RegretBoundInputs inputs;
  inputs.num_states = 3;
  inputs.alpha = 0.5;
  inputs.min_transition = 1.0 / 15.0;
  inputs.min_action_probability = 1.0 / 30.0;
  inputs.steps = 1.6e6;
  return inputs;
}

// ε = 1/3: γ = 1/2, 8·(8 + 1.5·log_{1/2}(1/16))/(1/2) = 16·(8 + 6).
TEST(BiasSpan, ByHand) {
  EXPECT_NEAR(bias_span_bound(1.0 / 3.0), 224.0, 1e-10);
  EXPECT_EQ(bias_span_bound(0.5), 16.0);
  EXPECT_NEAR(bias_span_bound(0.4999999), 16.0, 3.0);  // the limit is slow: log_γ dies as 1/log
}

TEST(BiasSpan, DecreasesInEpsilonAndGrowsAsItsCubedInverse) {
  double last = std::numeric_limits<double>::infinity();
  for (double epsilon = 1e-9; epsilon <= 0.5; epsilon *= 1.03) {
    const double span = bias_span_bound(epsilon);
    EXPECT_LT(span, last) << epsilon;
    EXPECT_GE(span, 16.0);
    last = span;
  }
  const double tiny = 1e-7;
  EXPECT_NEAR(bias_span_bound(tiny) * std::pow(tiny, 3.0), 16.0, 1e-3);
}

TEST(BiasSpan, OutOfRange) {
  EXPECT_THROW(static_cast<void>(bias_span_bound(0.0)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(bias_span_bound(0.51)), InvalidArgument);
}

TEST(BeliefError, ByHandAndMonotone) {
  EXPECT_DOUBLE_EQ(belief_error_constant(4, 0.5), 4.0 * 4.0 * 0.25 / 0.125 + 2.0);
  EXPECT_DOUBLE_EQ(belief_error_constant(1, 1.0), 1.0);
  EXPECT_GT(belief_error_constant(3, 0.1), belief_error_constant(3, 0.2));
  EXPECT_GT(belief_error_constant(4, 0.1), belief_error_constant(3, 0.1));
  EXPECT_THROW(static_cast<void>(belief_error_constant(0, 0.1)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(belief_error_constant(3, 0.0)), InvalidArgument);
}

// What the constant is for: filters with two transition models stay together along any log.
RC_GTEST_PROP(BeliefError, BoundsTheDistanceOfTwoFilters, ()) {
  RandomPomdpOptions options;
  Rng rng({test::any_seed(), 0, Role::problem});
  const Pomdp truth = random_pomdp(options, rng).model;
  const double mix = *rc::gen::element(0.02, 0.2, 1.0).as("weight of the other model");
  const TransitionModel other = random_transition(3, 3, 0.2 / 3.0, rng);
  std::vector<double> values(truth.transition().values().begin(),
                             truth.transition().values().end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] += mix * (other.values()[i] - values[i]);
  }
  const Pomdp wrong = truth.with_transition(TransitionModel(3, 3, values));
  double largest = 0.0;
  for (int a = 0; a < 3; ++a) {
    largest = std::max(
        largest,
        (truth.transition().matrix(Action{a}) - wrong.transition().matrix(Action{a})).norm());
  }
  const double bound = belief_error_constant(3, 0.2 / 3.0) * largest;
  const Trajectory log = test::random_rows_of_log(3, 3, 50, 0.0, test::any_seed());
  BeliefFilter left(truth);
  BeliefFilter right(wrong);
  for (std::size_t t = 0; t < log.size(); ++t) {
    left.update(log.actions[t], log.observations[t]);
    right.update(log.actions[t], log.observations[t]);
    double distance = 0.0;
    for (std::size_t s = 0; s < 3; ++s) distance += std::abs(left.belief()[s] - right.belief()[s]);
    RC_ASSERT(distance <= bound);
  }
}

TEST(Episodes, CountedWithoutRounding) {
  EXPECT_EQ(num_episodes(1, 1), 1);
  EXPECT_EQ(num_episodes(3200, 3200), 1);
  EXPECT_EQ(num_episodes(3201, 3200), 2);
  EXPECT_EQ(num_episodes(3200 * 7, 3200), 3);
  EXPECT_EQ(num_episodes(3200 * 7 + 1, 3200), 4);
  EXPECT_THROW(static_cast<void>(num_episodes(0, 1)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(num_episodes(10, 0)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(num_episodes(std::numeric_limits<double>::infinity(), 1)),
               InvalidArgument);
}

RC_GTEST_PROP(Episodes, AgreeWithThePapersFormula, ()) {
  const double first = *rc::gen::inRange(1, 5000).as("first episode");
  const double steps = *rc::gen::inRange(1, 10'000'000).as("steps");
  const double exact = std::log2(steps / first + 1.0);
  RC_PRE(std::abs(exact - std::round(exact)) > 1e-9);
  RC_ASSERT(num_episodes(steps, first) == std::max(1, static_cast<int>(std::ceil(exact))));
}

TEST(RegretBound, TermsByHand) {
  RegretBoundInputs inputs;
  inputs.num_states = 1;
  inputs.alpha = 1.0;
  inputs.min_transition = 2.0 / 3.0;  // D(1/3) = 224, L = 4·(1/9)/(8/27) + 1 = 2.5
  inputs.min_action_probability = 1.0;
  inputs.start_ratio = 1.0;
  inputs.delta = 0.1;
  inputs.steps = 1024.0;
  inputs.first_episode = 1024.0;
  const RegretBound bound = regret_bound(inputs);
  EXPECT_NEAR(bound.span_bound, 224.0, 1e-10);
  EXPECT_NEAR(bound.belief_constant, 2.5, 1e-12);
  EXPECT_EQ(bound.episodes, 1);
  EXPECT_NEAR(bound.switching, 2240.0, 1e-9);
  EXPECT_NEAR(bound.martingales, 896.0 * std::sqrt(2048.0 * std::log(40.0)), 1e-7);
  EXPECT_EQ(bound.first_episode, 1024.0);
  const double root =
      std::sqrt((2.0 + 5.0 * std::log(10.0) + 15.0 * std::log(std::log(1024.0))) * 1024.0);
  EXPECT_NEAR(bound.estimation, 6.0 * 2.5 * 226.0 / std::pow(2.0 / 3.0, 1.5) * root, 1e-6);
  EXPECT_NEAR(bound.confidence, 0.75, 1e-15);
  EXPECT_DOUBLE_EQ(bound.total(),
                   bound.switching + bound.martingales + bound.first_episode + bound.estimation);
}

// Σ_k N_k (1 + D/2) L · radius_{k}, episode by episode, is what the last term bounds.
TEST(RegretBound, EstimationTermCoversTheEpisodesOneByOne) {
  for (const double steps : {1e4, 1e5, 1.6e6, 1e9}) {
    for (const double first : {100.0, 3200.0}) {
      RegretBoundInputs inputs = inputs_of_the_paper();
      inputs.steps = steps;
      inputs.first_episode = first;
      const RegretBound bound = regret_bound(inputs);
      OasRadiusInputs radius;
      radius.alpha = inputs.alpha;
      radius.min_transition = inputs.min_transition;
      radius.min_action_probability = inputs.min_action_probability;
      double sum = 0.0;
      double begun = first;
      for (int k = 1; k < bound.episodes; ++k) {
        radius.steps = first * std::pow(2.0, k - 1);
        radius.delta = inputs.delta / (k * k * k);
        const double length = std::min(first * std::pow(2.0, k), steps - begun);
        sum += length * (1.0 + bound.span_bound / 2.0) * bound.belief_constant * oas_radius(radius);
        begun += length;
      }
      EXPECT_EQ(begun, steps);
      EXPECT_LE(sum, bound.estimation);
      EXPECT_GT(sum, 0.1 * bound.estimation);
    }
  }
}

TEST(RegretBound, GrowsAsRootOfTAndShrinksWithBetterModels) {
  const double base = regret_bound(inputs_of_the_paper()).total();
  const auto changed = [](const std::function<void(RegretBoundInputs&)>& change) {
    RegretBoundInputs inputs = inputs_of_the_paper();
    change(inputs);
    return regret_bound(inputs).total();
  };
  EXPECT_LT(changed([](auto& i) { i.alpha *= 1.1; }), base);
  EXPECT_LT(changed([](auto& i) { i.min_transition *= 1.1; }), base);
  EXPECT_LT(changed([](auto& i) { i.min_action_probability *= 1.1; }), base);
  EXPECT_LT(changed([](auto& i) { i.delta *= 1.1; }), base);
  EXPECT_LT(changed([](auto& i) { i.start_ratio = 2.0; }), base);
  EXPECT_GT(changed([](auto& i) { i.num_states = 4; }), base);
  EXPECT_NEAR(changed([](auto& i) { i.steps *= 100.0; }) / base, 10.0, 0.1);
}

TEST(RegretBound, ShortFirstEpisodesCountTheirEpisodes) {
  RegretBoundInputs inputs = inputs_of_the_paper();
  inputs.start_ratio = 1.0;
  const double long_first = regret_bound(inputs).estimation;
  inputs.first_episode = 1.0;  // K = 20 > log T = 14.3
  EXPECT_GT(regret_bound(inputs).estimation, long_first);
}

TEST(RegretBound, EveryBadInputIsNamed) {
  const auto check = [](const std::function<void(RegretBoundInputs&)>& spoil, const char* message) {
    RegretBoundInputs inputs = inputs_of_the_paper();
    spoil(inputs);
    try {
      static_cast<void>(regret_bound(inputs));
      FAIL() << "no exception for: " << message;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  };
  check([](auto& i) { i.num_states = 0; }, "num_states is 0");
  check([](auto& i) { i.alpha = 0.0; }, "alpha is 0");
  check([](auto& i) { i.min_transition = 0.5; }, "min_transition is 0.5");
  check([](auto& i) { i.min_action_probability = 0.0; }, "min_action_probability is 0");
  check([](auto& i) { i.start_ratio = 0.9; }, "start_ratio is 0.9");
  check([](auto& i) { i.delta = 0.4; }, "delta is 0.4");
  check([](auto& i) { i.steps = 2.0; }, "steps is 2");
  check([](auto& i) { i.first_episode = 0.5; }, "first_episode is 0.5");
  check([](auto& i) { i.steps = 100.0; }, "first_episode is 3200");
}

TEST(RegretBound, Brief) {
  EXPECT_EQ(RegretBound{}.brief(), "regret bound not computed");
  EXPECT_THAT(regret_bound(inputs_of_the_paper()).brief(), HasSubstr("with probability 0.75"));
}

}  // namespace
}  // namespace oas
