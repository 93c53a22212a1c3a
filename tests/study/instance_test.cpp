#include "oas/study/instance.hpp"

#include <gmock/gmock.h>

#include "oas/core/contracts.hpp"
#include "oas/sensors/revealing.hpp"

namespace oas {
namespace {

InstanceRule rule_of(double alpha_quantile) {
  InstanceRule rule;
  rule.epsilon = 0.05;
  rule.peaks = PeakRule::spread_over_pairs;
  rule.candidates = 15;
  rule.alpha_quantile = alpha_quantile;
  return rule;
}

TEST(Instance, RankOfAlphaDecides) {
  const Instance least = make_instance(rule_of(0.0));
  const Instance middle = make_instance(rule_of(0.5));
  const Instance most = make_instance(rule_of(1.0));
  EXPECT_LT(least.alpha, middle.alpha);
  EXPECT_LT(middle.alpha, most.alpha);
  // The rank is exact: seven of the fifteen candidates lie below the one in the middle.
  int below = 0;
  for (std::uint32_t i = 0; i < 15; ++i) {
    RandomPomdpOptions options;
    options.min_transition = 0.05;
    options.peaks = PeakRule::spread_over_pairs;
    Rng rng({1, i, Role::problem});
    below += random_pomdp(options, rng).alpha < middle.alpha ? 1 : 0;
  }
  EXPECT_EQ(below, 7);
}

TEST(Instance, SigmaEntersWhereAsked) {
  InstanceRule rule = rule_of(0.5);
  rule.sigma_quantile = 0.0;
  const double low = make_instance(rule).sigma;
  rule.sigma_quantile = 1.0;
  EXPECT_LT(low, make_instance(rule).sigma);
}

TEST(Instance, NoiseSetsAlphaAndNothingElse) {
  InstanceRule rule = rule_of(1.0);
  const Instance plain = make_instance(rule);
  rule.alpha = plain.alpha / 3.0;
  const Instance noisy = make_instance(rule);
  EXPECT_NEAR(noisy.alpha, plain.alpha / 3.0, 1e-9);
  EXPECT_EQ(noisy.model.transition(), plain.model.transition());
  EXPECT_EQ(noisy.policy_model, plain.policy_model);
  rule.alpha = 1.0;
  EXPECT_THROW(static_cast<void>(make_instance(rule)), InvalidArgument);
}

TEST(Instance, AnInstanceForEachReplication) {
  InstanceRule rule = rule_of(0.5);
  EXPECT_EQ(make_instance(rule, 3).candidate, make_instance(rule, 0).candidate);
  rule.per_replication = true;
  EXPECT_EQ(make_instance(rule, 0).candidate / 15, 0);
  EXPECT_EQ(make_instance(rule, 3).candidate / 15, 3);
}

TEST(Instance, EpsilonChangesOnlyTheFloor) {
  InstanceRule rule = rule_of(0.5);
  const Instance low = make_instance(rule);
  rule.epsilon = 0.2;
  const Instance high = make_instance(rule);
  EXPECT_EQ(low.candidate, high.candidate);
  EXPECT_EQ(low.model.sensors(), high.model.sensors());
  const auto values = high.model.transition().values();
  EXPECT_GE(*std::min_element(values.begin(), values.end()), 0.2);
}

}  // namespace
}  // namespace oas
