#include "oas/problems/random_pomdp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/theory/ergodicity.hpp"
#include "support/chi_square.hpp"
#include "support/pomdp_invariants.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Rng problem_stream(std::uint64_t seed) { return Rng({seed, 0, Role::problem}); }

RandomPomdp draw(const RandomPomdpOptions& options, std::uint64_t seed) {
  Rng rng = problem_stream(seed);
  return random_pomdp(options, rng);
}

// Large enough that a row's peak cannot be mistaken.
constexpr double kSteep = 1e6;

// The observation where the row has its only peak of kSteep, or -1.
int likely_observation(const Pomdp& model, int action, int state) {
  const auto row = model.sensors().distribution(Action{action}, State{state});
  const auto largest = std::max_element(row.begin(), row.end());
  return *largest > 0.999 ? static_cast<int>(largest - row.begin()) : -1;
}

RC_GTEST_PROP(RandomPomdp, KeepsItsPromises, ()) {
  RandomPomdpOptions options;
  options.num_states = *rc::gen::inRange(1, 7).as("states");
  options.num_actions = *rc::gen::inRange(1, 5).as("actions");
  options.num_observations = options.num_states + *rc::gen::inRange(0, 5).as("more observations");
  options.peaks = *rc::gen::element(PeakRule::distinct_per_action, PeakRule::spread_over_pairs);
  options.timing = test::any_timing();
  options.min_alpha = 1e-4;
  options.max_draws = 100'000;
  const RandomPomdp drawn = draw(options, test::any_seed());
  test::expect_pomdp_invariants(drawn.model);
  RC_ASSERT(drawn.model.timing() == options.timing);
  RC_ASSERT(drawn.draws >= 1);
  RC_ASSERT(drawn.alpha >= options.min_alpha);
  RC_ASSERT(drawn.alpha == analyse_sensors(drawn.model.sensors()).alpha);
  // The floor holds exactly, not up to rounding.
  RC_ASSERT(smallest_transition(drawn.model.transition()) >= 0.2 / options.num_states);
}

TEST(RandomPomdp, RewardsArePermutedEvenSteps) {
  RandomPomdpOptions options;
  options.num_observations = 5;
  const Pomdp model = draw(options, 3).model;
  EXPECT_EQ(model.reward().kind(), Reward::Kind::by_observation);
  const std::multiset<double> values(model.reward().values().begin(),
                                     model.reward().values().end());
  EXPECT_EQ(values, (std::multiset<double>{0.0, 0.25, 0.5, 0.75, 1.0}));
  EXPECT_FALSE(std::is_sorted(model.reward().values().begin(), model.reward().values().end()));
}

// All six orders of three rewards are equally likely.
TEST(RandomPomdp, RewardOrdersAreUniform) {
  std::map<std::vector<double>, std::int64_t> count;
  const std::uint64_t draws = 3000;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    const Pomdp model = draw({}, seed).model;
    ++count[{model.reward().values().begin(), model.reward().values().end()}];
  }
  std::vector<std::int64_t> observed;
  for (const auto& [order, times] : count) observed.push_back(times);
  ASSERT_EQ(observed.size(), 6U);
  const std::vector<double> equal(6, 1.0 / 6.0);
  EXPECT_GT(test::chi_square_p_value(observed, equal), test::kFailureProbability);
}

TEST(RandomPomdp, OneStateOneObservation) {
  RandomPomdpOptions options;
  options.num_states = options.num_actions = options.num_observations = 1;
  const RandomPomdp drawn = draw(options, 1);
  EXPECT_DOUBLE_EQ(drawn.alpha, 1.0);
  EXPECT_EQ(drawn.model.reward().values()[0], 0.0);
}

TEST(RandomPomdp, DistinctPeaksWithinEveryAction) {
  RandomPomdpOptions options;
  options.num_states = 4;
  options.num_actions = 5;
  options.num_observations = 6;
  options.peak = kSteep;
  const Pomdp model = draw(options, 5).model;
  std::set<std::set<int>> by_action;
  for (int a = 0; a < 5; ++a) {
    std::set<int> peaks;
    for (int s = 0; s < 4; ++s) peaks.insert(likely_observation(model, a, s));
    EXPECT_EQ(peaks.size(), 4U);
    EXPECT_EQ(peaks.count(-1), 0U);
    by_action.insert(peaks);
  }
  EXPECT_GT(by_action.size(), 1U);
}

TEST(RandomPomdp, DistinctPeaksMakeComfortableSensorsAtOnce) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RandomPomdp drawn = draw({}, seed);
    EXPECT_EQ(drawn.draws, 1);
    EXPECT_GT(drawn.alpha, 0.3);
  }
}

TEST(RandomPomdp, SpreadPeaksGiveEveryObservationItsShareOfPairs) {
  RandomPomdpOptions options;
  options.num_states = 3;
  options.num_actions = 5;
  options.num_observations = 4;
  options.peak = kSteep;
  options.min_alpha = 0.0;
  options.peaks = PeakRule::spread_over_pairs;
  std::set<int> pairs_left_over;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Pomdp model = draw(options, seed).model;
    std::vector<int> count(5, 0);
    for (int a = 0; a < 5; ++a) {
      for (int s = 0; s < 3; ++s) {
        const int peak = likely_observation(model, a, s);
        ++count[static_cast<std::size_t>(peak + 1)];
        if (peak < 0) pairs_left_over.insert(a * 3 + s);
      }
    }
    EXPECT_EQ(count, (std::vector<int>{3, 3, 3, 3, 3}));  // 15 = 3 · 4 peaks + 3 left over
  }
  EXPECT_GT(pairs_left_over.size(), 10U);  // whose turn it is to go without is random
}

TEST(RandomPomdp, SpreadPeaksRepeatAlongManyObservations) {
  RandomPomdpOptions options;
  options.num_states = 2;
  options.num_actions = 2;
  options.num_observations = 11;  // 2 peaks for each of 4 pairs, 3 observations without
  options.peak = kSteep;
  options.peaks = PeakRule::spread_over_pairs;
  const Pomdp model = draw(options, 7).model;
  std::set<int> peaked;
  for (int a = 0; a < 2; ++a) {
    for (int s = 0; s < 2; ++s) {
      const auto row = model.sensors().distribution(Action{a}, State{s});
      EXPECT_EQ(std::count_if(row.begin(), row.end(), [](double p) { return p > 0.3; }), 2);
      for (int o = 0; o < 11; ++o) {
        if (row[static_cast<std::size_t>(o)] > 0.3) peaked.insert(o);
      }
    }
  }
  EXPECT_EQ(peaked, (std::set<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(RandomPomdp, SameStreamSameInstanceAndOtherSeedAnother) {
  EXPECT_TRUE(draw({}, 11).model == draw({}, 11).model);
  EXPECT_FALSE(draw({}, 11).model == draw({}, 12).model);
}

TEST(RandomPomdp, OptionsChangeOnlyWhatTheyName) {
  RandomPomdpOptions after;
  after.timing = Timing::after;
  const Pomdp model = draw({}, 2).model;
  EXPECT_TRUE(draw(after, 2).model.transition() == model.transition());
  EXPECT_TRUE(draw(after, 2).model.sensors() == model.sensors());
}

TEST(RandomPomdp, SaysWhenItHadToDrawAgain) {
  RandomPomdpOptions options;
  options.peaks = PeakRule::spread_over_pairs;
  options.min_alpha = 0.6;
  const RandomPomdp drawn = draw(options, 5);
  EXPECT_GT(drawn.draws, 1);
  EXPECT_THAT(drawn.brief(), HasSubstr(fmt::format("sensors drawn {} times", drawn.draws)));
  const RandomPomdp at_once = draw({}, 4);
  EXPECT_EQ(at_once.brief(), fmt::format("3 states, 3 actions, 3 observations, timing before, "
                                         "transition known, alpha {:.4g}",
                                         at_once.alpha));
}

TEST(RandomPomdp, GivesUpWithTheBestAlphaFound) {
  RandomPomdpOptions options;
  options.min_alpha = 0.999;
  options.max_draws = 20;
  try {
    static_cast<void>(draw(options, 9));
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("20 draws"), HasSubstr("alpha >= 0.999"),
                                    HasSubstr("the best had 0.")));
  }
}

TEST(RandomPomdp, EveryBadOptionIsNamed) {
  const auto expect_error = [](const std::function<void(RandomPomdpOptions&)>& spoil,
                               const char* message) {
    RandomPomdpOptions options;
    spoil(options);
    try {
      options.validate();
      FAIL() << "no exception for: " << message;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  };
  expect_error([](auto& o) { o.num_states = 0; }, "num_states is 0");
  expect_error([](auto& o) { o.num_actions = -1; }, "num_actions is -1");
  expect_error([](auto& o) { o.num_observations = 0; }, "num_observations is 0");
  expect_error([](auto& o) { o.min_transition = 0.4; }, "min_transition is 0.4");
  expect_error([](auto& o) { o.min_transition = -0.1; }, "min_transition is -0.1");
  expect_error([](auto& o) { o.peak = -1.0; }, "peak is -1");
  expect_error([](auto& o) { o.min_alpha = 1.5; }, "min_alpha is 1.5");
  expect_error([](auto& o) { o.num_observations = 2; }, "fewer than the 3 states: alpha is 0");
  expect_error([](auto& o) { o.num_observations = 2, o.min_alpha = 0.0; }, "cannot be distinct");
  expect_error([](auto& o) { o.max_draws = 0; }, "max_draws is 0");
  EXPECT_NO_THROW(RandomPomdpOptions{}.validate());
}

TEST(RandomPomdp, FewerObservationsThanStatesOnRequest) {
  RandomPomdpOptions options;
  options.num_observations = 2;
  options.min_alpha = 0.0;
  options.peaks = PeakRule::spread_over_pairs;
  EXPECT_EQ(draw(options, 1).alpha, 0.0);
}

TEST(RandomTransition, FloorsReachFromNothingToUniform) {
  Rng rng = problem_stream(1);
  const TransitionModel uniform = random_transition(4, 2, 0.25, rng);
  for (const double value : uniform.values()) EXPECT_DOUBLE_EQ(value, 0.25);
  const TransitionModel free = random_transition(4, 2, 0.0, rng);
  EXPECT_GT(smallest_transition(free), 0.0);
  EXPECT_LT(smallest_transition(free), 0.1);
  EXPECT_THROW(static_cast<void>(random_transition(4, 2, 0.3, rng)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(random_transition(0, 2, 0.0, rng)), InvalidArgument);
}

// Which entry of a row is the largest should not depend on its place.
TEST(RandomTransition, NoStateIsFavoured) {
  Rng rng = problem_stream(2);
  const TransitionModel model = random_transition(50, 40, 0.001, rng);
  Vector mean = Vector::Zero(50);
  for (int a = 0; a < 40; ++a) mean += model.matrix(Action{a}).colwise().mean().transpose() / 40;
  EXPECT_LT((mean.array() - 0.02).abs().maxCoeff(), 0.001);
}

}  // namespace
}  // namespace oas
