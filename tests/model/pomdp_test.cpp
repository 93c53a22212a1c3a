#include "oas/model/pomdp.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "support/pomdp_invariants.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::ElementsAre;
using testing::StrEq;
using testing::ThrowsMessage;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

auto rejects(const char* message) { return ThrowsMessage<InvalidArgument>(StrEq(message)); }

// 2 states, 1 action, 3 observations.
PomdpParts small_parts() {
  PomdpParts parts;
  parts.states = Labels(2, "state");
  parts.actions = Labels(1, "action");
  parts.observations = Labels(3, "observation");
  parts.transition = TransitionModel(2, 1, {0.9, 0.1, 0.4, 0.6});
  parts.sensors = ObservationModel(2, 1, 3, {0.5, 0.25, 0.25, 0.0, 0.5, 0.5});
  parts.reward = Reward::by_observation({1.0, 0.0, -1.0});
  return parts;
}

auto building(const std::function<void(PomdpParts&)>& change) {
  return [change] {
    PomdpParts parts = small_parts();
    change(parts);
    (void)Pomdp(std::move(parts));
  };
}

TEST(TransitionModel, RowsAreContiguousAndIndexedFromState) {
  const TransitionModel model(2, 2, {0.9, 0.1, 0.4, 0.6, 0.0, 1.0, 0.25, 0.75});
  EXPECT_EQ(model(Action{0}, State{0}, State{1}), 0.1);
  EXPECT_EQ(model(Action{1}, State{1}, State{0}), 0.25);
  EXPECT_THAT(model.row(Action{1}, State{1}), ElementsAre(0.25, 0.75));
  EXPECT_EQ(model.matrix(Action{0})(1, 0), 0.4);  // from state 1 to state 0
  EXPECT_EQ(model.matrix(Action{1})(0, 1), 1.0);
  EXPECT_EQ(model.num_states(), 2);
  EXPECT_EQ(model.num_actions(), 2);
}

TEST(TransitionModel, UniformKnowsNothing) {
  EXPECT_EQ(TransitionModel::uniform(2, 1), TransitionModel(2, 1, {0.5, 0.5, 0.5, 0.5}));
  EXPECT_THROW((void)TransitionModel::uniform(0, 1), InvalidArgument);
}

TEST(TransitionModel, ErrorsNameActionStateAndValue) {
  EXPECT_THAT(
      [] {
        TransitionModel(2, 2, {1, 0, 0, 1, 0.5, 0.5, 0.5, 0.25});
      },
      rejects("transition[1][1] sums to 0.75, not to 1"));
  EXPECT_THAT(
      [] {
        TransitionModel(2, 1, {1, 0, 1.5, -0.5}, "T");
      },
      rejects("T[0][1][1] is -0.5; probabilities must not be negative"));
  EXPECT_THAT(
      [] {
        TransitionModel(2, 1, {kNaN, 0, 0, 1});
      },
      rejects("transition[0][0][0] is nan; probabilities must be finite"));
  EXPECT_THAT(
      [] {
        TransitionModel(2, 1, {1, 0, 1});
      },
      rejects("transition: 3 values for 1 actions and 2 states"));
  EXPECT_THAT([] { TransitionModel(0, 1, {}); }, rejects("transition: 0 states and 1 actions"));
  EXPECT_THAT([] { TransitionModel(1, 0, {}); }, rejects("transition: 1 states and 0 actions"));
}

TEST(ObservationModel, MatrixHasObservationsAsRows) {
  const ObservationModel sensors(2, 2, 3, {.5, .3, .2, .1, .2, .7, 1, 0, 0, 0, .4, .6});
  EXPECT_EQ(sensors(Action{0}, State{1}, Observation{2}), 0.7);
  EXPECT_EQ(sensors(Action{1}, State{1}, Observation{1}), 0.4);
  EXPECT_THAT(sensors.distribution(Action{0}, State{1}), ElementsAre(0.1, 0.2, 0.7));
  const auto z = sensors.matrix(Action{0});
  EXPECT_EQ(z.rows(), 3);
  EXPECT_EQ(z.cols(), 2);
  EXPECT_EQ(z(2, 1), 0.7);
  EXPECT_EQ(z(1, 0), 0.3);
  EXPECT_EQ(sensors.matrix(Action{1})(2, 1), 0.6);
}

TEST(ObservationModel, ErrorsNameActionStateAndValue) {
  EXPECT_THAT(
      [] {
        ObservationModel(2, 1, 2, {1, 0, 0.5, 0.25});
      },
      rejects("observation[0][1] sums to 0.75, not to 1"));
  EXPECT_THAT(
      [] {
        ObservationModel(1, 2, 2, {1, 0, 1.5, -0.5}, "Z");
      },
      rejects("Z[1][0][1] is -0.5; probabilities must not be negative"));
  EXPECT_THAT(
      [] {
        ObservationModel(2, 1, 2, {1, 0});
      },
      rejects("observation: 2 values for 1 actions, 2 states and 2 observations"));
  EXPECT_THAT([] { ObservationModel(2, 1, 0, {}); },
              rejects("observation: 2 states, 1 actions and 0 observations"));
}

TEST(Pomdp, AcceptsGoodPartsAndFillsInTheStart) {
  const Pomdp model(small_parts());
  test::expect_pomdp_invariants(model);
  EXPECT_THAT(model.start(), ElementsAre(0.5, 0.5));
  EXPECT_EQ(model.timing(), Timing::before);
  EXPECT_EQ(model.discount(), std::nullopt);
  EXPECT_EQ(model.brief(), "2 states, 1 action, 3 observations, timing before, transition known");
  EXPECT_EQ(model.without_transition().brief(),
            "2 states, 1 action, 3 observations, timing before, transition unknown");
}

TEST(Pomdp, PartsOfDifferentSizesAreErrors) {
  EXPECT_THAT(building([](auto& p) { p.states = Labels(3, "state"); }),
              rejects("observation is 1x2x3 (actions, states, observations) where the model has "
                      "1, 3, 3"));
  EXPECT_THAT(building([](auto& p) { p.actions = Labels(2, "action"); }),
              rejects("observation is 1x2x3 (actions, states, observations) where the model has "
                      "2, 2, 3"));
  EXPECT_THAT(building([](auto& p) { p.observations = Labels(2, "observation"); }),
              rejects("observation is 1x2x3 (actions, states, observations) where the model has "
                      "1, 2, 2"));
  EXPECT_THAT(building([](auto& p) { p.transition = TransitionModel::uniform(3, 1); }),
              rejects("transition has 1 actions and 3 states where the model has 1 and 2"));
  EXPECT_THAT(building([](auto& p) { p.transition = TransitionModel::uniform(2, 2); }),
              rejects("transition has 2 actions and 2 states where the model has 1 and 2"));
}

TEST(Pomdp, StartMustBeADistributionOverStates) {
  EXPECT_THAT(building([](auto& p) { p.start = {1.0}; }),
              rejects("start has 1 entries for 2 states"));
  EXPECT_THAT(building([](auto& p) {
                p.start = {0.5, 0.6};
              }),
              rejects("start sums to 1.1, not to 1"));
  EXPECT_THAT(building([](auto& p) {
                p.start = {1.5, -0.5};
              }),
              rejects("start[1] is -0.5; probabilities must not be negative"));
}

TEST(Pomdp, RewardMustFit) {
  EXPECT_THAT(building([](auto& p) { p.reward = Reward::by_observation({1.0}); }),
              rejects("reward has 1 values where 3 are needed"));
  EXPECT_THAT(building([](auto& p) {
                p.reward = Reward::by_action_state({1.0, 2.0, 3.0});
              }),
              rejects("reward has 3 values where 2 are needed"));
  EXPECT_THAT(building([](auto& p) { p.reward = Reward::by_transition({1.0}); }),
              rejects("reward has 1 values where 12 are needed"));
  EXPECT_NO_THROW(building([](auto& p) { p.reward = {}; })());
}

TEST(Pomdp, DiscountLiesInTheUnitInterval) {
  for (const double good : {0.0, 0.95, 1.0}) {
    EXPECT_NO_THROW(building([=](auto& p) { p.discount = good; })());
  }
  EXPECT_THAT(building([](auto& p) { p.discount = 1.5; }),
              rejects("discount is 1.5; it must lie in [0, 1]"));
  EXPECT_THAT(building([](auto& p) { p.discount = -0.1; }),
              rejects("discount is -0.1; it must lie in [0, 1]"));
  EXPECT_THAT(building([](auto& p) { p.discount = kNaN; }),
              rejects("discount is nan; it must lie in [0, 1]"));
}

TEST(Pomdp, NothingAtAllIsNoModel) {
  EXPECT_THAT([] { (void)Pomdp(PomdpParts{}); }, rejects("start is empty"));
}

TEST(Pomdp, EveryPartCountsInEquality) {
  const Pomdp model(small_parts());
  const auto differs = [&](const std::function<void(PomdpParts&)>& change) {
    PomdpParts parts = small_parts();
    change(parts);
    return Pomdp(std::move(parts)) != model;
  };
  EXPECT_FALSE(differs([](auto&) {}));
  EXPECT_FALSE(differs([](auto& p) { p.start = {0.5, 0.5}; }));  // what an empty start means
  EXPECT_TRUE(differs([](auto& p) { p.timing = Timing::after; }));
  const std::vector<std::string> names{"a", "b"};
  EXPECT_TRUE(differs([&](auto& p) { p.states = Labels(names, "state"); }));
  EXPECT_TRUE(
      differs([](auto& p) { p.actions = Labels(std::vector<std::string>{"a"}, "action"); }));
  EXPECT_TRUE(differs([](auto& p) {
    p.observations = Labels(std::vector<std::string>{"a", "b", "c"}, "observation");
  }));
  EXPECT_TRUE(differs([](auto& p) { p.start = {0.25, 0.75}; }));
  EXPECT_TRUE(differs([](auto& p) { p.transition.reset(); }));
  EXPECT_TRUE(differs([](auto& p) { p.transition = TransitionModel::uniform(2, 1); }));
  EXPECT_TRUE(differs([](auto& p) {
    p.sensors = ObservationModel(2, 1, 3, {0.5, 0.25, 0.25, 0.5, 0.0, 0.5});
  }));
  EXPECT_TRUE(differs([](auto& p) { p.reward = {}; }));
  EXPECT_TRUE(differs([](auto& p) { p.reward = Reward::by_observation({1.0, 0.0, -2.0}); }));
  EXPECT_TRUE(differs([](auto& p) { p.discount = 0.9; }));
  EXPECT_TRUE(differs([](auto& p) {
    p.observation_counts = ObservationCounts(2, 1, 3, {1, 2, 3, 4, 5, 6});
  }));
}

TEST(ObservationCounts, AreOneTableForEachActionOrOneForAll) {
  const ObservationCounts each(2, 2, 2, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_FALSE(each.shared());
  EXPECT_THAT(each.distribution(Action{1}, State{0}), ElementsAre(5, 6));
  EXPECT_EQ(each.total(Action{0}, State{1}), 7.0);
  EXPECT_EQ(each.total(), 36.0);
  const ObservationCounts all(2, 2, 2, {1, 2, 3, 4.5});
  EXPECT_TRUE(all.shared());
  EXPECT_THAT(all.distribution(Action{1}, State{1}), ElementsAre(3, 4.5));
  EXPECT_FALSE(ObservationCounts(2, 1, 2, {1, 2, 3, 4}).shared());
}

TEST(ObservationCounts, WrongOnesAreRefusedByName) {
  EXPECT_THAT(
      [] {
        ObservationCounts(2, 2, 2, {1, 2, 3});
      },
      rejects("observation_counts: 3 values for 2 actions, 2 states and 2 observations"));
  EXPECT_THAT([] { ObservationCounts(0, 2, 2, {}); },
              rejects("observation_counts: 0 states, 2 actions and 2 observations"));
  for (const double bad : {-1.0, kNaN, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(ObservationCounts(2, 1, 2, {1, 2, 3, bad}), InvalidArgument);
  }
  EXPECT_THAT(
      [] {
        ObservationCounts(2, 1, 2, {1, 2, 3, -1}, "here");
      },
      rejects("here: entry 1 of row 1 is -1; it must be a number of rows"));
  EXPECT_THAT(building([](auto& p) {
                p.observation_counts = ObservationCounts(2, 1, 2, {1, 2, 3, 4});
              }),
              rejects("observation_counts is 1x2x2 (actions, states, observations) where the model "
                      "has 1, 2, 3"));
}

TEST(ObservationCounts, OneTableNeedsOneSensor) {
  const auto parts = [](double last) {
    PomdpParts made;
    made.states = Labels(1, "state");
    made.actions = Labels(2, "action");
    made.observations = Labels(2, "observation");
    made.sensors = ObservationModel(1, 2, 2, {0.5, 0.5, 1.0 - last, last});
    made.observation_counts = ObservationCounts(1, 2, 2, {10, 10});
    return made;
  };
  EXPECT_NO_THROW(Pomdp{parts(0.5)});
  EXPECT_THAT([&] { (void)Pomdp(parts(0.75)); },
              rejects("observation_counts is one table for all actions, but the sensors of actions "
                      "0 and 1 differ by 0.25"));
}

// Other dynamics leave them; other sensors are not what was counted.
TEST(ObservationCounts, GoWithTheSensorsTheyCount) {
  PomdpParts parts = small_parts();
  parts.observation_counts = ObservationCounts(2, 1, 3, {1, 2, 3, 4, 5, 6});
  const Pomdp model(parts);
  EXPECT_TRUE(model.without_transition().observation_counts().has_value());
  EXPECT_TRUE(model.with_transition(TransitionModel::uniform(2, 1)).observation_counts());
}

TEST(ObservationModel, NamesTheFirstActionWhoseSensorDiffers) {
  EXPECT_FALSE(ObservationModel(1, 1, 2, {0.5, 0.5}).action_that_differs().has_value());
  EXPECT_FALSE(ObservationModel(1, 2, 2, {0.5, 0.5, 0.5, 0.5}).action_that_differs().has_value());
  EXPECT_EQ(ObservationModel(1, 3, 2, {0.5, 0.5, 0.5, 0.5, 0.25, 0.75}).action_that_differs(),
            Action{2});
}

TEST(Pomdp, FirstReadingsMayComeFromTheSensorOfAllActions) {
  PomdpParts parts = small_parts();
  EXPECT_FALSE(Pomdp(parts).first_is_common());
  parts.timing = Timing::after;
  parts.rows = Rows::reading_first;
  EXPECT_TRUE(Pomdp(parts).first_is_common());
  parts.first_observation = ObservationModel(2, 1, 3, {1.0, 0.0, 0.0, 0.0, 0.5, 0.5});
  EXPECT_FALSE(Pomdp(parts).first_is_common());
}

TEST(Pomdp, UnknownTransitionIsAnErrorWhenAskedFor) {
  const Pomdp model = Pomdp(small_parts()).without_transition();
  EXPECT_THAT([&] { (void)model.transition(); }, rejects("the model has no transition model"));
}

TEST(Pomdp, WithTransitionChecksTheSize) {
  const Pomdp model(small_parts());
  EXPECT_THAT([&] { (void)model.with_transition(TransitionModel::uniform(3, 1)); },
              rejects("transition has 1 actions and 3 states where the model has 1 and 2"));
}

RC_GTEST_PROP(Pomdp, RandomModelsKeepTheInvariants, ()) {
  const Pomdp model = test::any_model(6, 4, 6);
  test::expect_pomdp_invariants(model);
  test::expect_pomdp_invariants(model.without_transition());
  RC_ASSERT(!testing::Test::HasFailure());
}

}  // namespace
}  // namespace oas
