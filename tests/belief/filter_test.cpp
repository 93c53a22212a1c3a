#include "oas/belief/filter.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "oas/belief/joint_kernel.hpp"
#include "oas/core/contracts.hpp"
#include "support/path_enumeration.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using test::enumerate_paths;
using test::PathPosterior;
using testing::ElementsAre;
using testing::StrEq;
using testing::ThrowsMessage;

// States 0 and 1 never mix; observation 0 comes from state 0 only, observation 1 from both.
Pomdp separated(Timing timing) {
  PomdpParts parts;
  parts.timing = timing;
  parts.states = Labels(2, "state");
  parts.actions = Labels(2, "action");
  parts.observations = Labels(2, "observation");
  parts.start = {0.0, 1.0};
  parts.transition = TransitionModel(2, 2, {1, 0, 0, 1, 0, 1, 1, 0});  // stay, swap
  parts.sensors = ObservationModel(2, 2, 2, {0.5, 0.5, 0, 1, 0.5, 0.5, 0, 1});
  return Pomdp(std::move(parts));
}

// Rows need not be possible: those that are not are skipped, here by making them missing.
RC_GTEST_PROP(BeliefFilter, EqualsTheSumOverAllPaths, ()) {
  const Pomdp model = test::any_model(4, 3, 4);
  const auto length = static_cast<std::size_t>(*rc::gen::inRange(0, 7).as("rows"));
  const Trajectory rows = test::random_rows_of_log(model.num_actions(), model.num_observations(),
                                                   length, 0.2, test::any_seed());
  BeliefFilter filter(model);
  std::vector<Observation> taken;
  double likelihood = 1.0;
  for (std::size_t t = 0; t < length; ++t) {
    const double probability = filter.update(rows.actions[t], rows.observations[t]);
    taken.push_back(rows.observations[t]);
    PathPosterior exact = enumerate_paths(model, std::span(rows.actions).first(t + 1), taken);
    RC_ASSERT(std::abs(probability - exact.likelihood / likelihood) < 1e-12);
    if (exact.likelihood == 0.0) {
      RC_ASSERT(probability == 0.0);
      taken.back() = kMissing;
      exact = enumerate_paths(model, std::span(rows.actions).first(t + 1), taken);
    }
    if (rows.observations[t] == kMissing) RC_ASSERT(probability == 1.0);
    likelihood = exact.likelihood;
    RC_ASSERT(filter.belief().size() == static_cast<std::size_t>(model.num_states()));
    for (int s = 0; s < model.num_states(); ++s) {
      RC_ASSERT(std::abs(filter.belief()[static_cast<std::size_t>(s)] -
                         exact.states(static_cast<Eigen::Index>(t + 1), s)) < 1e-12);
    }
  }
}

TEST(BeliefFilter, ImpossibleObservationIsSkipped) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    BeliefFilter filter(separated(timing));
    EXPECT_EQ(filter.update(Action{0}, Observation{0}), 0.0);  // the state is 1, surely
    EXPECT_THAT(filter.belief(), ElementsAre(0.0, 1.0));
    EXPECT_EQ(filter.update(Action{0}, Observation{1}), 1.0);  // and goes on
    EXPECT_THAT(filter.belief(), ElementsAre(0.0, 1.0));
  }
  BeliefFilter filter(separated(Timing::before));
  EXPECT_EQ(filter.update(Action{1}, Observation{0}), 0.0);
  EXPECT_THAT(filter.belief(), ElementsAre(1.0, 0.0));  // the action still happened
}

// State 1 fades by a tenth a row, until only denormal numbers hold it, and then shows itself. For
// any number of states: rows of one size are kept in registers.
TEST(BeliefFilter, WhatIsHardlyPossibleIsCertainWhenItHappens) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const int n : {2, 7}) {
      const auto size = static_cast<std::size_t>(n);
      PomdpParts parts;
      parts.timing = timing;
      parts.states = Labels(n, "state");
      parts.actions = Labels(1, "action");
      parts.observations = Labels(2, "observation");
      parts.start.assign(size, 0.0);
      parts.start[0] = parts.start[1] = 0.5;
      std::vector<double> transition(size * size, 0.0);
      std::vector<double> sensors(2 * size, 0.0);
      for (std::size_t s = 0; s < size; ++s) transition[s * size + s] = sensors[2 * s] = 1.0;
      sensors[2] = 0.1;  // of state 1
      sensors[3] = 0.9;
      parts.transition = TransitionModel(n, 1, transition);
      parts.sensors = ObservationModel(n, 1, 2, sensors);
      const Pomdp model(parts);
      for (const int rows : {300, 309, 322}) {
        BeliefFilter filter(model);
        for (int t = 0; t < rows; ++t) filter.update(Action{0}, Observation{0});
        EXPECT_GT(filter.belief()[1], 0.0);
        EXPECT_GT(filter.update(Action{0}, Observation{1}), 0.0);
        EXPECT_EQ(filter.belief()[0], 0.0);
        EXPECT_EQ(filter.belief()[1], 1.0) << rows;
      }
    }
  }
}

TEST(BeliefFilter, MissingObservationMovesTheBelief) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    BeliefFilter filter(separated(timing));
    EXPECT_EQ(filter.update(Action{1}, kMissing), 1.0);
    EXPECT_THAT(filter.belief(), ElementsAre(1.0, 0.0));
  }
}

TEST(BeliefFilter, ResetGoesBackToTheStart) {
  const Pomdp model = test::random_model({}, 3);
  BeliefFilter filter(model);
  EXPECT_THAT(filter.belief(), testing::ElementsAreArray(model.start()));
  filter.update(Action{1}, Observation{2});
  EXPECT_NE(filter.belief()[0], model.start()[0]);
  filter.reset();
  EXPECT_THAT(filter.belief(), testing::ElementsAreArray(model.start()));
  filter.reset(Belief({0.125, 0.375, 0.5}));
  EXPECT_THAT(filter.belief(), ElementsAre(0.125, 0.375, 0.5));
}

TEST(BeliefFilter, ErrorsNameTheValue) {
  const Pomdp model = test::random_model({}, 3);
  EXPECT_THAT([&] { BeliefFilter{model.without_transition()}; },
              ThrowsMessage<InvalidArgument>(StrEq("the model has no transition model")));
  BeliefFilter filter(model);
  EXPECT_THAT([&] { filter.reset(Belief::uniform(2)); },
              ThrowsMessage<InvalidArgument>(StrEq("a belief over 2 states for 3 states")));
}

// Rows of T that sum to 1 + 1e-9 are accepted; a million steps must not blow the belief up.
TEST(BeliefFilter, RoundingDoesNotAccumulate) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    test::RandomModelOptions options;
    options.timing = timing;
    options.concentration = 5.0;
    Pomdp model = test::random_model(options, 5);
    std::vector<double> values(model.transition().values().begin(),
                               model.transition().values().end());
    for (double& value : values) value *= 1.0 + 9e-9;
    model = model.with_transition(TransitionModel(3, 2, values));
    BeliefFilter filter(model);
    const Trajectory rows = test::random_rows_of_log(2, 4, 1000, 0.1, 5);
    for (int round = 0; round < 1000; ++round) {
      for (std::size_t t = 0; t < rows.size(); ++t) {
        filter.update(rows.actions[t], rows.observations[t]);
      }
    }
    const auto belief = filter.belief();
    EXPECT_NEAR(std::accumulate(belief.begin(), belief.end(), 0.0), 1.0, 2e-8);
  }
}

// bᵀ K 1 and Kᵀ b against the filter, for every action and observation.
RC_GTEST_PROP(JointKernel, IsTheFilterAsOneTable, ()) {
  const Pomdp model = test::any_model(4, 3, 4);
  const std::vector<double> kernel = joint_kernel(model, model.transition());
  const int n = model.num_states();
  const Vector start = VectorView(model.start().data(), n);
  const double* table = kernel.data();
  double total = 0.0;
  for (int a = 0; a < model.num_actions(); ++a) {
    for (int o = 0; o < model.num_observations(); ++o, table += n * n) {
      const Vector next = MatrixView(table, n, n).transpose() * start;
      BeliefFilter filter(model);
      const double probability = filter.update(Action{a}, Observation{o});
      RC_ASSERT(std::abs(next.sum() - probability) < 1e-14);
      total += next.sum();
      if (probability == 0.0) continue;
      const Vector belief = VectorView(filter.belief().data(), n);
      RC_ASSERT((next / next.sum() - belief).norm() < 1e-12);
    }
  }
  RC_ASSERT(table == kernel.data() + kernel.size());
  RC_ASSERT(std::abs(total - model.num_actions()) < 1e-12);
}

}  // namespace
}  // namespace oas
