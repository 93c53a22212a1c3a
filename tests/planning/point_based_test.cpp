#include "oas/planning/points/point_based.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/oracles.hpp"
#include "oas/planning/planner.hpp"
#include "planning/planning_support.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

PlanOptions options_for(const char* planner, double iota) {
  PlanOptions options;
  options.planner = planner;
  options.iota = iota;
  options.resolution = 40;
  options.simulation.steps = 20'000;
  options.point.num_beliefs = 120;
  options.work = 0.2;
  return options;
}

// The numbers that stand behind the word "gain" in a text.
std::vector<double> gains_in(const std::string& text) {
  std::vector<double> gains;
  const std::regex pattern(R"(gain[^0-9.;-]*(-?[0-9.]+(e[-+]?[0-9]+)?))");
  for (std::sregex_iterator found(text.begin(), text.end(), pattern), end; found != end; ++found) {
    gains.push_back(std::stod((*found)[1]));
  }
  return gains;
}

// The first state earns 1 and is left for ever: what the increments say at the beliefs that were
// met is no gain, and may lie far above the bound.
TEST(PointBased, NoGainThatIsPrintedContradictsTheBound) {
  EXPECT_EQ(gains_in("the span settled at 0.2, gain 0.0820 there"), (std::vector<double>{0.082}));
  const Pomdp fading =
      test::make_model(Timing::after, 2, 1, 2, {0.99, 0.01, 0.0, 1.0}, {1.0, 0.0, 0.0, 1.0},
                       Reward::by_action_state({1.0, 0.0}), {1.0, 0.0});
  std::vector<Pomdp> models = {fading};
  for (std::uint64_t seed = 0; seed < 5; ++seed) models.push_back(test::random_model({}, seed));
  for (const Pomdp& model : models) {
    for (const int sweeps : {1, 20, 2000}) {
      PlanOptions options = options_for("point", 0.0);
      options.point.max_sweeps = sweeps;
      options.point.num_beliefs = 5;
      const Plan plan = make_plan(model, options);
      for (const std::string& text : {plan.message, plan.brief()}) {
        for (const double gain : gains_in(text)) {
          EXPECT_LE(gain, plan.gain_upper + 1e-5 * std::abs(plan.gain_upper)) << text;
        }
      }
    }
  }
}

// Where a grid is possible, both planners find the same gain.
TEST(PointBased, AgreesWithTheGrid) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      test::RandomModelOptions sizes;
      sizes.num_actions = 3;
      sizes.num_observations = 3;
      sizes.timing = timing;
      const Pomdp model = test::random_model(sizes, seed);
      const double iota = seed % 2 == 0 ? 0.0 : 1.0 / 30.0;
      const Plan grid = make_plan(model, options_for("grid", iota));
      const Plan point = make_plan(model, options_for("point", iota));
      EXPECT_NEAR(point.certificate.mean, grid.certificate.mean, 1e-3) << seed;
      EXPECT_LE(point.gain_lower, grid.gain_upper + 1e-9);
      EXPECT_GE(point.gain_upper, grid.gain_lower - 1e-9);
    }
  }
}

TEST(PointBased, SolvesTheReplacementProblem) {
  const Pomdp model = test::replacement_problem(0.1, 0.5);
  const Plan plan = make_plan(model, options_for("point", 0.0));
  EXPECT_NEAR(plan.certificate.mean, test::replacement_gain(0.1, 0.5), 2e-3);
}

TEST(PointBased, BeatsTheMyopicPolicyAtTwentyStates) {
  test::RandomModelOptions sizes;
  sizes.num_states = 20;
  sizes.num_actions = 3;
  sizes.num_observations = 6;
  sizes.concentration = 0.1;
  const Pomdp model = test::random_model(sizes, 1);
  PlanOptions options = options_for("auto", 0.0);
  options.resolution = 0;
  options.point.num_vectors = 60;
  const Plan plan = make_plan(model, options);
  EXPECT_TRUE(std::holds_alternative<VectorBias>(plan.bias));
  const GainInterval myopic =
      evaluate_by_simulation(model, myopic_plan(model, 0.0, 0), model, options.simulation);
  EXPECT_GT(plan.gain_lower, myopic.mean + myopic.half_width);
  EXPECT_LE(plan.gain_upper, fully_observed_gain(model).upper + 1e-4);
}

TEST(PointBased, SameSeedSamePlanAndBadOptionsAreNamed) {
  const Pomdp model = test::random_model({}, 1);
  PointOptions options;
  options.num_beliefs = 40;
  EXPECT_EQ(point_based_plan(model, 0.0, options), point_based_plan(model, 0.0, options));
  options.rounds = 0;
  EXPECT_THAT([&] { static_cast<void>(point_based_plan(model, 0.0, options)); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("rounds is 0")));
}

// Actions that are left out are not the best ones, also where two are the same: action and value
// are those of the full look-ahead, to the bit.
TEST(LookAhead, TheBestActionIsThatOfAllValues) {
  Rng rng({8, 0, Role::environment});
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    test::RandomModelOptions sizes;
    sizes.num_states = 2 + static_cast<int>(seed);
    sizes.num_actions = 4;
    sizes.zero_fraction = seed % 3 == 0 ? 0.6 : 0.0;
    sizes.timing = seed % 2 == 0 ? Timing::before : Timing::after;
    PomdpParts parts = test::random_model(sizes, seed).parts();
    if (seed % 4 == 0)
      parts.reward = Reward::by_action_state(std::vector<double>(4 * parts.states.size(), -2.0));
    const Pomdp model(std::move(parts));
    Plan plan(model);
    std::vector<double> alpha;
    const int vectors = 1 + static_cast<int>(seed % 5);
    for (int i = 0; i < vectors * model.num_states(); ++i)
      alpha.push_back(10.0 * rng.uniform() - 5.0);
    plan.bias = VectorBias{alpha};
    LookAhead look_ahead(plan);
    std::vector<double> values(4);
    for (int repeat = 0; repeat < 200; ++repeat) {
      std::vector<double> belief(static_cast<std::size_t>(model.num_states()), 0.0);
      double sum = 0.0;
      for (double& share : belief)
        sum += share = rng.uniform() < 0.3 ? 0.0 : std::pow(rng.uniform(), 4.0);
      if (sum == 0.0) belief[0] = sum = 1.0;
      for (double& share : belief) share /= sum;
      look_ahead.action_values(belief, values);
      const auto largest = std::max_element(values.begin(), values.end());
      const LookAhead::Best best = look_ahead.best(belief);
      EXPECT_EQ(best.action, largest - values.begin()) << seed;
      EXPECT_EQ(best.value, *largest) << seed;
    }
  }
}

}  // namespace
}  // namespace oas
