#include "oas/planning/hull/hull_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/formats/model_file.hpp"
#include "oas/planning/hull/detail/hull_solver.hpp"
#include "oas/planning/oracles.hpp"
#include "oas/planning/planner.hpp"
#include "planning/planning_support.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

HullOptions quick(double iota = 0.0) {
  HullOptions options;
  options.iota = iota;
  options.work = 2e8;
  options.point.num_beliefs = 60;
  options.point.num_vectors = 40;
  return options;
}

Pomdp random_model(Timing timing, int states, std::uint64_t seed) {
  test::RandomModelOptions sizes;
  sizes.num_states = states;
  sizes.num_actions = 3;
  sizes.num_observations = 3;
  sizes.timing = timing;
  return test::random_model(sizes, seed);
}

detail::SparseBelief random_belief(int states, Rng& rng) {
  detail::SparseBelief belief;
  double sum = 0.0;
  for (int s = 0; s < states; ++s) {
    const double share = rng.uniform() < 0.2 ? 0.0 : rng.uniform();
    if (share == 0.0 && (s + 1 < states || !belief.states.empty())) continue;
    belief.states.push_back(s);
    belief.shares.push_back(share + 0.01);
    sum += share + 0.01;
  }
  for (double& share : belief.shares) share /= sum;
  return belief;
}

Eigen::VectorXd dense(const detail::SparseBelief& belief, int states) {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(states);
  for (std::size_t k = 0; k < belief.states.size(); ++k) out[belief.states[k]] = belief.shares[k];
  return out;
}

// The least cost over all bases of three points: what a linear program in three unknowns is.
double cheapest_of_all(const detail::PointSet& points, const std::vector<double>& values,
                       const Eigen::VectorXd& target) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < points.size(); ++i) {
    for (int j = 0; j < i; ++j) {
      for (int k = 0; k < j; ++k) {
        Eigen::Matrix3d basis;
        basis << dense(points[i], 3), dense(points[j], 3), dense(points[k], 3);
        if (std::abs(basis.determinant()) < 1e-9) continue;
        const Eigen::Vector3d weights = basis.inverse() * target;
        if (weights.minCoeff() < -1e-12) continue;
        least = std::min(least, weights[0] * values[static_cast<std::size_t>(i)] +
                                    weights[1] * values[static_cast<std::size_t>(j)] +
                                    weights[2] * values[static_cast<std::size_t>(k)]);
      }
    }
  }
  return least;
}

TEST(HullProgram, FindsTheCheapestMixtureAndMeetsTheBelief) {
  Rng rng({1, 0, Role::environment});
  for (int repeat = 0; repeat < 200; ++repeat) {
    detail::PointSet points(3);
    std::vector<double> values;
    for (int s = 0; s < 3; ++s) values.push_back(rng.uniform());
    for (int i = 0; i < 6; ++i) {
      detail::SparseBelief point = random_belief(3, rng);
      if (points.find(point)) continue;
      points.add(std::move(point));
      values.push_back(rng.uniform() - 0.5);
    }
    detail::HullProgram program(points);
    const detail::SparseBelief belief = random_belief(3, rng);
    if (points.find(belief)) continue;  // a point stands for itself, whatever others say of it
    const detail::Mixture mixture = program.solve(belief, values);
    Eigen::VectorXd met = Eigen::VectorXd::Zero(3);
    double cost = 0.0;
    for (std::size_t k = 0; k < mixture.points.size(); ++k) {
      ASSERT_GE(mixture.weights[k], 0.0);
      met += mixture.weights[k] * dense(points[mixture.points[k]], 3);
      cost += mixture.weights[k] * values[static_cast<std::size_t>(mixture.points[k])];
    }
    const Eigen::VectorXd target = dense(belief, 3);
    EXPECT_LT((met - target).lpNorm<1>(), 1e-9) << repeat;
    EXPECT_NEAR(cost, cheapest_of_all(points, values, target), 1e-8) << repeat;
  }
}

// A point is found again, and only itself.
TEST(PointSet, FindsWhatItHolds) {
  Rng rng({2, 0, Role::environment});
  detail::PointSet points(70);
  for (int i = 0; i < 100; ++i) points.add(random_belief(70, rng));
  for (int i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points.find(points[i]), i);
    detail::SparseBelief other = points[i];
    if (other.is_corner()) continue;
    other.shares.front() *= 1.0 + 1e-6;
    EXPECT_NE(points.find(other), i);
  }
}

// Points within a belief give no mass to other states, also beyond the 64th.
TEST(PointSet, CollectsPointsWithinABelief) {
  detail::PointSet points(70);
  points.add({{1, 69}, {0.5, 0.5}});
  points.add({{1, 2}, {0.5, 0.5}});
  std::vector<int> found;
  points.collect_within({{1, 2, 69}, {0.2, 0.3, 0.5}}, found);
  EXPECT_THAT(found, testing::ElementsAre(70, 71));
  points.collect_within({{1, 2, 68}, {0.2, 0.3, 0.5}}, found);
  EXPECT_THAT(found, testing::ElementsAre(71));
}

// What the filter says, by summation over all paths of one step.
TEST(SuccessorBeliefs, AreThoseOfTheDefinition) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = random_model(timing, 4, 3);
    detail::SuccessorBeliefs successors(model);
    const detail::SparseBelief from{{0, 2, 3}, {0.2, 0.5, 0.3}};
    for (int a = 0; a < 3; ++a) {
      for (const auto& next : successors.from(from, a)) {
        Eigen::VectorXd joint = Eigen::VectorXd::Zero(4);
        for (std::size_t k = 0; k < from.states.size(); ++k) {
          for (int s = 0; s < 4; ++s) {
            const int emits = timing == Timing::before ? from.states[k] : s;
            joint[s] += from.shares[k] * model.transition().matrix(Action{a})(from.states[k], s) *
                        model.sensors().matrix(Action{a})(next.observation, emits);
          }
        }
        EXPECT_NEAR(next.probability, joint.sum(), 1e-14);
        EXPECT_LT((dense(next.belief, 4) - joint / joint.sum()).lpNorm<1>(), 1e-13);
      }
    }
  }
}

// The bound lies between what the grid's policy earns and what the fast informed bound says, and
// comes as near as the grid.
TEST(HullPlan, AgreesWithTheGrid) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Pomdp model = random_model(timing, 3, seed);
      const double iota = seed % 2 == 0 ? 0.0 : 1.0 / 30.0;
      PlanOptions of_grid;
      of_grid.planner = "grid";
      of_grid.iota = iota;
      of_grid.resolution = 60;
      of_grid.simulation.steps = 20'000;
      const Plan grid = make_plan(model, of_grid);
      const Plan hull = hull_plan(model, quick(iota));
      EXPECT_GE(hull.gain_upper, grid.gain_lower) << seed;
      EXPECT_LE(hull.gain_upper, fast_informed_bound(model, iota) + 1e-9) << seed;
      EXPECT_NEAR(hull.gain_upper, grid.gain_upper, 2e-3) << seed;
    }
  }
}

// The increments of any Q bound the gain, settled or not, at every stage of refinement; and the
// bound falls.
TEST(HullSolver, EveryCertificateIsABoundAndTheBoundFalls) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = random_model(timing, 4, 7);
    PlanOptions of_grid;
    of_grid.planner = "grid";
    of_grid.resolution = 20;
    of_grid.simulation.steps = 20'000;
    const Plan grid = make_plan(model, of_grid);
    const Plan point = point_based_plan(model, 0.0, quick().point);
    const auto& alpha = std::get<VectorBias>(point.bias).alpha;
    detail::HullSolver solver(model, 0.0);
    solver.set_bias(Eigen::Map<const Eigen::MatrixXd>(alpha.data(), 4,
                                                      static_cast<Eigen::Index>(alpha.size()) / 4));
    double before = std::numeric_limits<double>::infinity();
    const double first = fast_informed_bound(model, 0.0);
    for (int round = 0; round < 12; ++round) {
      solver.refine();
      detail::HullChain unsettled = solver.chain();
      EXPECT_GE(unsettled.certificate(), grid.gain_lower);
      EXPECT_GE(solver.bound(), grid.gain_lower);
      EXPECT_LE(solver.bound(), before);
      before = solver.bound();
    }
    EXPECT_LT(before, first - 0.3 * (first - grid.gain_upper));
  }
}

// States that are seen: no hint is worth anything, and the bound is the gain.
TEST(HullPlan, IsExactWhereTheStateIsSeen) {
  Rng rng({5, 0, Role::environment});
  for (const Timing timing : {Timing::before, Timing::after}) {
    const int states = 12;
    const std::vector<double> moves = test::lattice_rows(2 * states, states, 3, rng);
    std::vector<double> rewards;
    for (int i = 0; i < 2 * states; ++i) rewards.push_back(rng.uniform());
    const Pomdp model =
        test::make_model(timing, states, 2, states, moves, test::identity_sensors(states, 2),
                         Reward::by_action_state(rewards));
    const Plan plan = hull_plan(model, quick());
    if (timing == Timing::after) {
      EXPECT_NEAR(plan.gain_upper, fully_observed_gain(model).upper, 1e-4);
    } else {  // seen after the action: later than the visible state
      EXPECT_LE(plan.gain_upper, fully_observed_gain(model).upper + 1e-6);
    }
    EXPECT_NE(plan.status, SolveStatus::not_run);
  }
}

// Blind: the best plan is a cycle of actions. The fast informed bound is far off.
TEST(HullPlan, FindsTheGainOfCyclesWithoutSensors) {
  for (const double wear : {0.1, 0.3}) {
    const Pomdp model = test::replacement_problem(wear, 0.5);
    const double gain = test::replacement_gain(wear, 0.5);
    const Plan plan = hull_plan(model, quick());
    EXPECT_GE(plan.gain_upper, gain - 1e-9);
    EXPECT_LE(plan.gain_upper, gain + 1e-3);
    EXPECT_GT(fast_informed_bound(model, 0.0), gain + 0.02);
  }
}

Pomdp blind(int states, int actions, std::vector<double> moves, std::vector<double> rewards) {
  return test::make_model(
      Timing::after, states, actions, 1, std::move(moves),
      std::vector<double>(static_cast<std::size_t>(states) * static_cast<std::size_t>(actions),
                          1.0),
      Reward::by_action_state(std::move(rewards)));
}

TEST(HullPlan, BoundsPeriodicReducibleAndTrivialModels) {
  // One state.
  EXPECT_NEAR(hull_plan(blind(1, 2, {1.0, 1.0}, {0.25, 0.75}), quick()).gain_upper, 0.75, 1e-6);
  // Three states in a ring, 1 earned in one of them.
  const Plan ring = hull_plan(blind(3, 1, {0, 1, 0, 0, 0, 1, 1, 0, 0}, {1.0, 0.0, 0.0}), quick());
  EXPECT_NEAR(ring.gain_upper, 1.0 / 3.0, 1e-5);
  // Two pieces that are never left: the bound is about the best start.
  const Plan pieces = hull_plan(blind(2, 1, {1, 0, 0, 1}, {0.2, 0.9}), quick());
  EXPECT_NEAR(pieces.gain_upper, 0.9, 1e-6);
  // A reward that is lost for ever.
  const Plan fading = hull_plan(blind(2, 1, {0.9, 0.1, 0.0, 1.0}, {1.0, 0.0}), quick());
  EXPECT_GE(fading.gain_upper, 0.0);
  EXPECT_LE(fading.gain_upper, 1e-3);
}

TEST(HullPlan, SameBytesAndMoreWorkIsNeverWorse) {
  const Pomdp model = random_model(Timing::after, 6, 3);
  HullOptions options = quick();
  const Plan once = hull_plan(model, options);
  EXPECT_EQ(once, hull_plan(model, options));
  options.work *= 4.0;
  EXPECT_LE(hull_plan(model, options).gain_upper, once.gain_upper);
  options.work = -1.0;
  EXPECT_THAT([&] { static_cast<void>(hull_plan(model, options)); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("work is -1")));
}

// Twenty models of all kinds: neither bound ever gets worse, and they never cross.
TEST(HullPlan, MoreWorkMakesNeitherBoundWorse) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    test::RandomModelOptions sizes;
    sizes.num_states = 3 + static_cast<int>(seed % 6);
    sizes.num_actions = 2 + static_cast<int>(seed % 2);
    sizes.num_observations = 1 + static_cast<int>(seed % 4);
    sizes.timing = seed % 3 == 0 ? Timing::before : Timing::after;
    sizes.zero_fraction = 0.3 * static_cast<double>(seed % 4);
    const Pomdp model = test::random_model(sizes, seed);
    HullOptions options = quick(seed % 5 == 0 ? 0.05 : 0.0);
    options.gap = 1e-9;
    options.simulation = SimulationOptions{};
    options.simulation->steps = 6400;
    double lower = -std::numeric_limits<double>::infinity();
    double upper = -lower;
    for (const double work : {5e6, 2e7, 6e7, 2e8}) {
      options.work = work;
      const Plan plan = hull_plan(model, options);
      EXPECT_GE(plan.gain_lower, lower) << seed << ": " << work;
      EXPECT_LE(plan.gain_upper, upper) << seed << ": " << work;
      EXPECT_EQ(plan.certificate.level, options.simulation->level);
      lower = plan.gain_lower;
      upper = plan.gain_upper;
    }
    EXPECT_LE(lower, upper + 1e-12);
  }
}

// Gains of cycles that end at the goal: 15 states to search in 77 steps, and so on. The bounds of
// a grid cannot be had here, and the fast informed bound is 15 to 50 % above.
TEST(HullPlan, ClosesTheGapOfPublicModels) {
  const char* folder = std::getenv("OAS_PUBLIC_MODELS");
  if (folder == nullptr) {
    GTEST_SKIP() << "not run: OAS_PUBLIC_MODELS names no folder of public model files";
  }
  const std::vector<std::pair<std::string, double>> known = {
      {"4x4.95", 15.0 / 77.0}, {"mini-hall2", 12.0 / 79.0}, {"4x5x2.95", 38.0 / 321.0}};
  for (const auto& [name, gain] : known) {
    const auto path = std::filesystem::path(folder) / "planning" / (name + ".pomdp");
    const Plan plan = hull_plan(read_any_model(path.string()).model, {});
    EXPECT_NEAR(plan.gain_upper, gain, 2e-5) << name;
  }
}

}  // namespace
}  // namespace oas
