#include <gtest/gtest.h>

#include <cmath>

#include "oas/belief/filter.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/points/detail/point_solver.hpp"
#include "oas/planning/points/detail/sparse_model.hpp"
#include "oas/planning/points/point_based.hpp"
#include "oas/simulation/environment.hpp"
#include "planning/planning_support.hpp"

/// Large sparse models: the lists of what is not 0 say what the dense tables say.
namespace oas::test {
namespace {

constexpr int kStates = 70;
constexpr int kActions = 2;
constexpr int kObservations = 9;

// Three successors and two observations for each state.
Pomdp sparse_model() {
  Rng rng({5, 0, Role::problem});
  std::vector<double> reward(kActions * kStates);
  for (double& r : reward) r = rng.uniform();
  return make_model(Timing::after, kStates, kActions, kObservations,
                    lattice_rows(kActions * kStates, kStates, 3, rng),
                    lattice_rows(kActions * kStates, kObservations, 2, rng),
                    Reward::by_action_state(std::move(reward)));
}

// P(o) b'_o by the definition.
Vector next_weights(const Pomdp& model, const Vector& belief, Action a, Observation o) {
  Vector next = Vector::Zero(kStates);
  for (State s{0}; s < kStates; ++s) {
    for (State t{0}; t < kStates; ++t) {
      next(t.value()) += belief(s.value()) * model.transition()(a, s, t) * model.sensors()(a, t, o);
    }
  }
  return next;
}

TEST(SparseModels, BeliefsAndLookAheadAreThoseOfTheDefinition) {
  const Pomdp model = sparse_model();
  ASSERT_TRUE(detail::SparseModel::pays(model));
  Rng rng({6, 0, Role::problem});
  Plan plan(model);
  VectorBias bias;
  for (int i = 0; i < 4 * kStates; ++i) bias.alpha.push_back(rng.uniform());
  plan.bias = bias;
  LookAhead look_ahead(plan);
  BeliefFilter filter(model);
  Environment environment(model, Rng({7, 0, Role::environment}));
  const Matrix rewards = model.expected_reward();
  const MatrixView alpha(bias.alpha.data(), 4, kStates);
  std::vector<double> values(kActions);
  for (int step = 0; step < 20; ++step) {
    const Vector belief = VectorView(filter.belief().data(), kStates);
    look_ahead.action_values(filter.belief(), values);
    for (Action a{0}; a < kActions; ++a) {
      double expected = rewards.row(a.value()).dot(belief);
      for (Observation o{0}; o < kObservations; ++o) {
        expected += (alpha * next_weights(model, belief, a, o)).maxCoeff();
      }
      EXPECT_NEAR(values[static_cast<std::size_t>(a)], expected, 1e-12);
    }
    const Action action{static_cast<int>(rng.below(kActions))};
    const Observation seen = environment.step(action).observation;
    const Vector weights = next_weights(model, belief, action, seen);
    EXPECT_NEAR(filter.update(action, seen), weights.sum(), 1e-12);
    const Vector after = VectorView(filter.belief().data(), kStates);
    EXPECT_LT((after - weights / weights.sum()).lpNorm<Eigen::Infinity>(), 1e-12);
  }
}

// States that nobody reaches, with dense rows, make the same model dense.
Pomdp made_dense(const Pomdp& model) {
  const int n = kStates + 30;
  std::vector<double> transition;
  std::vector<double> sensors;
  std::vector<double> reward;
  for (Action a{0}; a < kActions; ++a) {
    for (State s{0}; s < n; ++s) {
      for (State t{0}; t < n; ++t) {
        transition.push_back(s >= kStates  ? 1.0 / n
                             : t < kStates ? model.transition()(a, s, t)
                                           : 0.0);
      }
      for (Observation o{0}; o < kObservations; ++o) {
        sensors.push_back(s < kStates ? model.sensors()(a, s, o) : 1.0 / kObservations);
      }
      reward.push_back(
          s < kStates
              ? model.reward().values()[static_cast<std::size_t>(a.value() * kStates + s.value())]
              : 0.0);
    }
  }
  std::vector<double> start(static_cast<std::size_t>(n), 0.0);
  std::fill_n(start.begin(), kStates, 1.0 / kStates);
  return make_model(Timing::after, n, kActions, kObservations, std::move(transition),
                    std::move(sensors), Reward::by_action_state(std::move(reward)),
                    std::move(start));
}

TEST(SparseModels, PlansAreThoseOfTheDenseModel) {
  const Pomdp sparse = sparse_model();
  const Pomdp dense = made_dense(sparse);
  ASSERT_FALSE(detail::SparseModel::pays(dense));
  EXPECT_NEAR(fast_informed_bound(sparse, 0.1, 1e-3, 60), fast_informed_bound(dense, 0.1, 1e-3, 60),
              1e-3);
  PointOptions options;
  options.max_sweeps = 40;
  Eigen::MatrixXd beliefs = Eigen::MatrixXd::Zero(dense.num_states(), 12);
  Rng rng({8, 0, Role::problem});
  for (Eigen::Index b = 0; b < beliefs.cols(); ++b) {
    for (int k = 0; k < 4; ++k) beliefs(rng.below(kStates), b) += 0.25;
  }
  detail::PointSolver lists(sparse, 0.05, options);
  detail::PointSolver tables(dense, 0.05, options);
  lists.set_beliefs(beliefs.topRows(kStates));
  tables.set_beliefs(beliefs);
  const auto x = lists.solve();
  const auto y = tables.solve();
  EXPECT_EQ(x.backups, y.backups);
  EXPECT_NEAR(x.gain, y.gain, 1e-12);
  EXPECT_NEAR(x.span, y.span, 1e-12);
  ASSERT_EQ(lists.vectors().cols(), tables.vectors().cols());
  EXPECT_LT((lists.vectors() - tables.vectors().topRows(kStates)).lpNorm<Eigen::Infinity>(), 1e-12);
}

}  // namespace
}  // namespace oas::test
