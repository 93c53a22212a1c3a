#include "oas/belief/smoother.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"
#include "support/path_enumeration.hpp"
#include "support/property.hpp"
#include "support/worst.hpp"

namespace oas {
namespace {

using test::enumerate_paths;
using test::PathPosterior;
using testing::StrEq;
using testing::ThrowsMessage;

struct Smoothed {
  std::vector<Vector> beliefs;
  std::vector<Vector> smoothed;
  std::vector<double> probabilities;
};

Smoothed collect(const Pomdp& model, const std::vector<Action>& actions,
                 const std::vector<Observation>& observations) {
  Smoothed result;
  smooth(model, actions, observations,
         [&](std::size_t t, std::span<const double> belief, std::span<const double> smoothed,
             double probability) {
           EXPECT_EQ(t, result.beliefs.size());
           result.beliefs.emplace_back(VectorView(belief.data(), model.num_states()));
           result.smoothed.emplace_back(VectorView(smoothed.data(), model.num_states()));
           result.probabilities.push_back(probability);
         });
  EXPECT_EQ(result.beliefs.size(), actions.size() + 1);
  return result;
}

double distance(const Vector& x, const Vector& y) { return (x - y).norm(); }

// Beliefs, smoothed states and probabilities against the sum over all paths. Impossible rows are
// made missing for the reference, since they are skipped in both directions.
double worst_error(const Pomdp& believed, const Pomdp& truth, const Trajectory& rows) {
  const Smoothed found = collect(believed, rows.actions, rows.observations);
  std::vector<Observation> taken;
  double likelihood = 1.0;
  test::Worst worst;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const auto prefix = std::span(rows.actions).first(t);
    const PathPosterior past = enumerate_paths(truth, prefix, taken);
    worst.take(distance(found.beliefs[t], past.states.row(t)));
    taken.push_back(rows.observations[t]);
    const auto through = std::span(rows.actions).first(t + 1);
    double next = enumerate_paths(truth, through, taken).likelihood;
    worst.take(std::abs(found.probabilities[t] - next / likelihood));
    if (next == 0.0) {
      taken.back() = kMissing;
      next = enumerate_paths(truth, through, taken).likelihood;
    }
    likelihood = next;
  }
  const PathPosterior all = enumerate_paths(truth, rows.actions, taken);
  for (std::size_t t = 0; t <= rows.size(); ++t) {
    worst.take(distance(found.smoothed[t], all.states.row(t)));
  }
  return worst.value();
}

RC_GTEST_PROP(Smoother, EqualsTheSumOverAllPaths, ()) {
  const Pomdp model = test::any_model(3, 3, 4);
  const auto length = static_cast<std::size_t>(*rc::gen::inRange(0, 8).as("rows"));
  const Trajectory rows = test::random_rows_of_log(model.num_actions(), model.num_observations(),
                                                   length, 0.2, test::any_seed());
  RC_ASSERT(worst_error(model, model, rows) < 1e-12);
}

// Every length around the squares, where blocks of √n rows begin and end.
TEST(Smoother, EqualsTheSumOverAllPathsAtEveryLength) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    test::RandomModelOptions options;
    options.num_states = 2;
    options.timing = timing;
    const Pomdp model = test::random_model(options, 8);
    for (std::size_t length = 0; length <= 13; ++length) {
      const Trajectory rows = test::play_uniformly(model, length, 0.2, length);
      EXPECT_LT(worst_error(model, model, rows), 1e-12) << length << to_string(timing);
    }
  }
}

TEST(Smoother, TransposedDynamicsAreCaught) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    test::RandomModelOptions options;
    options.timing = timing;
    const Pomdp model = test::random_model(options, 1);
    const Trajectory rows = test::play_uniformly(model, 6, 0.0, 1);
    EXPECT_GT(worst_error(test::transposed(model), model, rows), 1e-3);
  }
}

// P(s_t, s_{t+1}, o_t | s_t's belief) as a matrix: row s, column s'.
Matrix joint(const Pomdp& model, const Vector& belief, Action a, Observation o) {
  Matrix result = belief.asDiagonal() * model.transition().matrix(a);
  if (o == kMissing) return result;
  const Vector likelihood = model.sensors().matrix(a).row(o.value()).transpose();
  if (model.timing() == Timing::before) return likelihood.asDiagonal() * result;
  return result * likelihood.asDiagonal();
}

// Another algorithm, which keeps everything: filter forwards, then condition backwards on the
// smoothed next state (Rauch, Tung and Striebel's way round, stable without any scaling).
std::vector<Vector> smooth_backwards(const Pomdp& model, const Trajectory& rows) {
  std::vector<Matrix> joints;
  Vector belief = VectorView(model.start().data(), model.num_states());
  for (std::size_t t = 0; t < rows.size(); ++t) {
    joints.push_back(joint(model, belief, rows.actions[t], rows.observations[t]));
    joints.back() /= joints.back().sum();
    belief = joints.back().colwise().sum().transpose();
  }
  std::vector<Vector> smoothed(rows.size() + 1);
  smoothed.back() = belief;
  for (std::size_t t = rows.size(); t-- > 0;) {
    const Vector next = joints[t].colwise().sum().transpose();
    const Vector ratio = (next.array() > 0.0).select(smoothed[t + 1].cwiseQuotient(next), 0.0);
    smoothed[t] = joints[t] * ratio;
  }
  return smoothed;
}

TEST(Smoother, LongRunsEqualAnotherAlgorithm) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    test::RandomModelOptions options;
    options.num_states = 4;
    options.timing = timing;
    const Pomdp model = test::random_model(options, 2);
    for (const std::size_t length : {99U, 100U, 101U, 1023U, 1024U, 1025U, 5000U}) {
      const Trajectory rows = test::play_uniformly(model, length, 0.1, length);
      const Smoothed found = collect(model, rows.actions, rows.observations);
      const std::vector<Vector> expected = smooth_backwards(model, rows);
      test::Worst worst;
      for (std::size_t t = 0; t <= length; ++t) {
        worst.take(distance(found.smoothed[t], expected[t]));
        worst.take(std::abs(found.smoothed[t].sum() - 1.0));
      }
      EXPECT_LT(worst.value(), 1e-11) << length << to_string(timing);
    }
  }
}

TEST(Smoother, EmptyRunGivesTheStart) {
  const Pomdp model = test::random_model({}, 3);
  const Smoothed found = collect(model, {}, {});
  const Vector start = VectorView(model.start().data(), 3);
  EXPECT_EQ(found.beliefs[0], start);
  EXPECT_LT(distance(found.smoothed[0], start), 1e-15);
  EXPECT_EQ(found.probabilities[0], 1.0);
}

TEST(Smoother, LastRowKnowsNoFuture) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    test::RandomModelOptions options;
    options.timing = timing;
    const Pomdp model = test::random_model(options, 3);
    const Trajectory rows = test::play_uniformly(model, 20, 0.0, 3);
    const Smoothed found = collect(model, rows.actions, rows.observations);
    EXPECT_LT(distance(found.smoothed.back(), found.beliefs.back()), 1e-15);
    EXPECT_EQ(found.probabilities.back(), 1.0);
    // In `before` timing the last observation speaks about the state before the last transition.
    EXPECT_GT(distance(found.smoothed[19], found.beliefs[19]), 1e-6);
  }
}

// The start says state 0, states never change, and the rows look like state 1 for long: unlikely,
// not impossible. The future's message about state 0 must not vanish.
TEST(Smoother, CertaintyAgainstTheEvidence) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    PomdpParts parts;
    parts.timing = timing;
    parts.states = Labels(2, "state");
    parts.actions = Labels(1, "action");
    parts.observations = Labels(2, "observation");
    parts.start = {1.0, 0.0};
    parts.transition = TransitionModel(2, 1, {1, 0, 0, 1});
    parts.sensors = ObservationModel(2, 1, 2, {0.9, 0.1, 0.1, 0.9});
    const Pomdp model(std::move(parts));
    const std::vector<Action> actions(2000, Action{0});
    const std::vector<Observation> observations(2000, Observation{1});
    const Smoothed found = collect(model, actions, observations);
    for (std::size_t t = 0; t <= actions.size(); ++t) {
      ASSERT_EQ(found.smoothed[t](0), 1.0) << t << ' ' << to_string(timing);
    }
  }
}

TEST(Smoother, ErrorsNameTheValue) {
  const Pomdp model = test::random_model({}, 3);
  const auto ignore = [](std::size_t, std::span<const double>, std::span<const double>, double) {};
  const std::vector<Action> actions(2, Action{0});
  const std::vector<Observation> observations(3, Observation{0});
  EXPECT_THAT([&] { smooth(model, actions, observations, ignore); },
              ThrowsMessage<InvalidArgument>(StrEq("2 actions and 3 observations")));
  EXPECT_THAT(
      [&] {
        smooth(model.without_transition(), actions, std::span(observations).first(2), ignore);
      },
      ThrowsMessage<InvalidArgument>(StrEq("the model has no transition model")));
}

}  // namespace
}  // namespace oas
