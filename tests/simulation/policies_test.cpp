#include "oas/simulation/policies.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/simulation/agent.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

static_assert(Agent<UniformPolicy>);
static_assert(Agent<RoundRobinPolicy>);
static_assert(Agent<MemorylessPolicy>);
static_assert(Agent<BeliefPolicy<0>>);
static_assert(Agent<BeliefPolicy<3>>);

// Σ_s b(s) r(a,s) of every action.
Vector means(const Matrix& rewards, std::span<const double> belief) {
  return rewards * VectorView(belief.data(), static_cast<Eigen::Index>(belief.size()));
}

// What the policy believes: the model's sensors and rewards with its own dynamics.
Pomdp believed(const Pomdp& model, const PolicyOptions& options) {
  return options.own_transition ? model.with_transition(*options.own_transition) : model;
}

// What a belief policy with this model compares before each row, from the log alone, by the plain
// filter.
std::vector<Vector> belief_means(const Pomdp& own, const Trajectory& rows) {
  BeliefFilter filter(own);
  const Matrix rewards = own.expected_reward();
  std::vector<Vector> result;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    result.push_back(means(rewards, filter.belief()));
    filter.update(rows.actions[t], rows.observations[t]);
  }
  return result;
}

// The same for a policy that sees the last row only.
std::vector<Vector> memoryless_means(const Pomdp& own, const Trajectory& rows) {
  BeliefFilter filter(own);
  const Matrix rewards = own.expected_reward();
  std::vector<Vector> result;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    filter.reset(Belief::uniform(own.num_states()));
    if (t > 0) filter.update(rows.actions[t - 1], rows.observations[t - 1]);
    result.push_back(means(rewards, filter.belief()));
  }
  return result;
}

// Every propensity is that of the greedy action or the floor, as it should be; where actions are
// equally good up to rounding, each of them may be the greedy one.
bool propensities_fit(const Trajectory& rows, const std::vector<Vector>& values, double floor) {
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const auto num_actions = static_cast<int>(values[t].size());
    const double greedy = 1.0 - (num_actions - 1) * floor;
    const double gap = values[t].maxCoeff() - values[t](rows.actions[t].value());
    const auto ties = (values[t].array() > values[t].maxCoeff() - 1e-9).count();
    const bool good = gap > 1e-9  ? rows.propensities[t] == floor
                      : ties == 1 ? rows.propensities[t] == greedy
                                  : rows.propensities[t] == greedy || rows.propensities[t] == floor;
    if (!good) return false;
  }
  return true;
}

struct Setting {
  Pomdp model;
  PolicyOptions options;
  double floor;
};

// A model with rewards, a floor, and in half of the cases a wrong model of its own.
Setting any_setting(const char* name) {
  test::RandomModelOptions sizes;
  sizes.num_states = *rc::gen::inRange(1, 12).as("states");
  sizes.num_actions = *rc::gen::inRange(1, 7).as("actions");
  sizes.num_observations = *rc::gen::inRange(1, 5).as("observations");
  sizes.timing = test::any_timing();
  sizes.zero_fraction = *rc::gen::element(0.0, 0.3).as("zero fraction");
  sizes.reward = *rc::gen::element(Reward::Kind::by_observation, Reward::Kind::by_action_state,
                                   Reward::Kind::by_transition)
                      .as("reward kind");
  Setting setting{test::random_model(sizes, test::any_seed()), {}, 0.0};
  setting.options.name = name;
  const double fraction = *rc::gen::element(0.0, 0.1, 0.5, 1.0).as("floor times actions");
  setting.floor = fraction / sizes.num_actions;
  setting.options.min_action_probability = setting.floor;
  if (*rc::gen::arbitrary<bool>().as("wrong own model")) {
    setting.options.own_transition = test::random_model(sizes, 12345).transition();
  }
  return setting;
}

RC_GTEST_PROP(BeliefPolicy, IsGreedyOnTheFilteredBelief, ()) {
  const Setting setting = any_setting("belief");
  Trajectory rows;
  ClosedLoop(setting.model, setting.options, test::any_seed()).advance(150, rows);
  const Pomdp own = believed(setting.model, setting.options);
  RC_ASSERT(propensities_fit(rows, belief_means(own, rows), setting.floor));
}

RC_GTEST_PROP(MemorylessPolicy, IsGreedyOnTheLastRowOnly, ()) {
  const Setting setting = any_setting("memoryless");
  Trajectory rows;
  ClosedLoop(setting.model, setting.options, test::any_seed()).advance(150, rows);
  const Pomdp own = believed(setting.model, setting.options);
  RC_ASSERT(propensities_fit(rows, memoryless_means(own, rows), setting.floor));
}

// The two policies, and the right and the wrong model, are told apart by these tests.
TEST(BeliefPolicy, OwnModelAndMemoryMatter) {
  test::RandomModelOptions sizes;
  sizes.num_states = 4;
  sizes.num_actions = 4;
  sizes.reward = Reward::Kind::by_action_state;
  const Pomdp model = test::random_model(sizes, 8);
  PolicyOptions options;
  options.own_transition = test::random_model(sizes, 9).transition();
  Trajectory rows;
  ClosedLoop(model, options, 1).advance(2000, rows);
  const double floor = default_floor(4);
  const Pomdp own = believed(model, options);
  EXPECT_TRUE(propensities_fit(rows, belief_means(own, rows), floor));
  EXPECT_FALSE(propensities_fit(rows, belief_means(model, rows), floor));
  EXPECT_FALSE(propensities_fit(rows, memoryless_means(own, rows), floor));
}

TEST(BeliefPolicy, FixedAndRunTimeSizesAgree) {
  test::RandomModelOptions sizes;
  sizes.num_states = 5;
  const Pomdp model = test::random_model(sizes, 10);
  BeliefPolicy<5> fixed(model, model.transition(), 0.1);
  BeliefPolicy<0> dynamic(model, model.transition(), 0.1);
  const Trajectory rows = test::play_uniformly(model, 500, 0.0, 10);
  Rng first({1, 0, Role::agent});
  Rng second({1, 0, Role::agent});
  for (const Observation seen : rows.observations) {
    const Choice x = fixed.act(first);
    const Choice y = dynamic.act(second);
    ASSERT_EQ(x.action, y.action);
    ASSERT_EQ(x.propensity, y.propensity);
    fixed.observe(seen);
    dynamic.observe(seen);
    for (std::size_t s = 0; s < 5; ++s) ASSERT_NEAR(fixed.belief()[s], dynamic.belief()[s], 1e-13);
  }
}

TEST(BeliefPolicy, TiesGoToTheLowestAction) {
  PomdpParts parts = test::random_model({}, 11).parts();
  parts.reward = Reward::by_action_state({1, 1, 1, 1, 1, 1});
  const Pomdp model(std::move(parts));
  BeliefPolicy<0> policy(model, model.transition(), 0.0);
  Rng rng({1, 0, Role::agent});
  for (int t = 0; t < 20; ++t) {
    ASSERT_EQ(policy.act(rng).action, 0);
    policy.observe(Observation{t % 4});
  }
}

TEST(MemorylessPolicy, TellsItsTable) {
  const Pomdp model = test::random_model({}, 12);
  MemorylessPolicy policy(model, model.transition(), 0.0);
  Rng rng({1, 0, Role::agent});
  for (int t = 0; t < 100; ++t) {
    const Action last = policy.act(rng).action;
    const Observation seen{rng.below(4)};
    policy.observe(seen);
    ASSERT_EQ(MemorylessPolicy(policy).act(rng).action, policy.greedy(last, seen));
  }
}

// One draw u: below Aι it picks the action that u falls on, above it stays greedy.
RC_GTEST_PROP(Explore, SplitsOneDraw, ()) {
  const int num_actions = *rc::gen::inRange(1, 9).as("actions");
  const int greedy = *rc::gen::inRange(0, num_actions).as("greedy");
  const double floor =
      *rc::gen::element(0.0, 1e-300, 0.01, 0.1, 1.0).as("floor times actions") / num_actions;
  Rng rng({test::any_seed(), 0, Role::agent});
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t position = rng.position();
    const double u = Rng(rng.key(), position).uniform();
    const Choice choice = explore(greedy, floor, num_actions, rng);
    RC_ASSERT(rng.position() == position + 1);
    if (u >= floor * num_actions) {
      RC_ASSERT(choice.action == greedy);
    } else {
      RC_ASSERT(choice.action * floor <= u && u <= (choice.action + 1) * floor);
    }
    const double others = (num_actions - 1) * floor;
    RC_ASSERT(choice.propensity == (choice.action == greedy ? 1.0 - others : floor));
  }
}

TEST(UniformPolicy, EveryChoiceHasTheSamePropensity) {
  UniformPolicy policy(5);
  Rng rng({1, 0, Role::agent});
  for (int t = 0; t < 200; ++t) {
    const Choice choice = policy.act(rng);
    ASSERT_GE(choice.action, 0);
    ASSERT_LT(choice.action, 5);
    ASSERT_EQ(choice.propensity, 0.2);
    policy.observe(Observation{0});
  }
}

TEST(RoundRobinPolicy, TakesActionsInTurnWithCertainty) {
  RoundRobinPolicy policy(3);
  Rng rng({1, 0, Role::agent});
  for (int t = 0; t < 20; ++t) {
    const Choice choice = policy.act(rng);
    ASSERT_EQ(choice.action, t % 3);
    ASSERT_EQ(choice.propensity, 1.0);
  }
  EXPECT_EQ(rng.position(), 0U);
}

TEST(Floor, LiesBetweenZeroAndOneOverA) {
  EXPECT_DOUBLE_EQ(default_floor(4), 1.0 / 40.0);
  EXPECT_NO_THROW(check_floor(0.0, 3));
  EXPECT_NO_THROW(check_floor(1.0 / 3.0, 3));
  for (const double floor : {-0.01, 0.34, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(
        [&] { check_floor(floor, 3); },
        ThrowsMessage<InvalidArgument>(HasSubstr(fmt::format(
            "iota, the smallest probability of every action, is {}; it must lie in [0, 1/3]",
            floor))));
  }
}

}  // namespace
}  // namespace oas
