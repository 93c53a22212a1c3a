#include "oas/planning/grid/optimistic_memoryless.hpp"

#include <gtest/gtest.h>

#include "support/random_models.hpp"

namespace oas {
namespace {

Pomdp model_of(Timing timing, Reward::Kind reward, std::uint64_t seed) {
  test::RandomModelOptions options;
  options.timing = timing;
  options.num_states = 3;
  options.num_actions = 2;
  options.num_observations = 3;
  options.reward = reward;
  return test::random_model(options, seed);
}

class OptimisticMemorylessPlanning
    : public testing::TestWithParam<std::tuple<Timing, Reward::Kind>> {
 protected:
  [[nodiscard]] static Pomdp model(std::uint64_t seed) {
    return model_of(std::get<0>(GetParam()), std::get<1>(GetParam()), seed);
  }
};

TEST_P(OptimisticMemorylessPlanning, WithoutRadiusItIsTheBestMemorylessPolicy) {
  MemorylessOptions options;
  options.iota = 0.05;
  const Pomdp center = model(1);
  const OptimisticMemoryless result =
      optimistic_memoryless(ConfidenceSet::uniform(center, 0.0), options);
  const MemorylessResult best = best_memoryless(center, options);
  EXPECT_EQ(result.greedy, best.greedy);
  EXPECT_EQ(result.gain, best.gain);
  EXPECT_EQ(result.member, center.transition());
  EXPECT_TRUE(result.exhaustive);
}

// No sampled member of the set makes the policy look better than the one that was found.
TEST_P(OptimisticMemorylessPlanning, TheBestMemberIsTheBest) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Pomdp center = model(seed);
    const ConfidenceSet set = ConfidenceSet::uniform(center, 0.15);
    const std::vector<int> greedy = {0, 1, 1, 0, 0, 1};
    const TransitionModel member = best_member_for(set, greedy, 0.05);
    EXPECT_TRUE(set.contains(member, 1e-9));
    const double found = memoryless_gain(center.with_transition(member), greedy, 0.05);
    Rng rng({seed, 0, Role::test});
    for (int i = 0; i < 200; ++i) {
      const Pomdp other = center.with_transition(set.sample(rng));
      EXPECT_LE(memoryless_gain(other, greedy, 0.05), found + 1e-7);
    }
  }
}

TEST_P(OptimisticMemorylessPlanning, TheGainGrowsWithTheRadius) {
  MemorylessOptions options;
  options.iota = 0.05;
  const Pomdp center = model(2);
  double last = optimistic_memoryless(ConfidenceSet::uniform(center, 0.0), options).gain;
  const double plain = last;
  for (const double radius : {0.02, 0.1, 0.4}) {
    const OptimisticMemoryless result =
        optimistic_memoryless(ConfidenceSet::uniform(center, radius), options);
    EXPECT_GT(result.gain, last);
    EXPECT_EQ(result.center_gain, plain);
    EXPECT_NEAR(memoryless_gain(center.with_transition(result.member), result.greedy, 0.05),
                result.gain, 1e-12);
    last = result.gain;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OptimisticMemorylessPlanning,
                         testing::Combine(testing::Values(Timing::before, Timing::after),
                                          testing::Values(Reward::Kind::by_observation,
                                                          Reward::Kind::by_action_state,
                                                          Reward::Kind::by_transition)));

}  // namespace
}  // namespace oas
