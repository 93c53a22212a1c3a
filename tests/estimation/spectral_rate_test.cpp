// The spectral estimator has the rate 1/√n where its conditions hold, and fails where they do not.

#include <gtest/gtest.h>

#include "oas/jobs/empirical_error.hpp"

namespace oas {
namespace {

// Sensors that depend on the action, invertible dynamics that differ much between actions.
Pomdp identifiable(Timing timing) {
  PomdpParts parts;
  parts.timing = timing;
  parts.states = Labels(3, "state");
  parts.actions = Labels(2, "action");
  parts.observations = Labels(4, "observation");
  parts.transition = TransitionModel(3, 2,
                                     {0.8, 0.15, 0.05, 0.1, 0.8, 0.1, 0.05, 0.15, 0.8,  //
                                      0.1, 0.8, 0.1, 0.1, 0.1, 0.8, 0.8, 0.1, 0.1});
  parts.sensors = ObservationModel(
      3, 2, 4, {0.8, 0.1, 0.05, 0.05, 0.1,  0.7, 0.1, 0.1,  0.05, 0.1, 0.8,  0.05,  //
                0.1, 0.1, 0.1,  0.7,  0.75, 0.1, 0.1, 0.05, 0.05, 0.8, 0.05, 0.1});
  parts.reward = Reward::by_observation({0.0, 0.3, 1.0, 0.5});
  return Pomdp(std::move(parts));
}

struct SpectralCase {
  Timing timing;
  const char* policy;
};

class SpectralRate : public ::testing::TestWithParam<SpectralCase> {};

// 16 times the data, a quarter of the error. Means over 16 runs: the ratio of two such means is
// known to about 10 %.
TEST_P(SpectralRate, IsOneOverSquareRootOfN) {
  const Pomdp model = identifiable(GetParam().timing);
  EmpiricalErrorOptions options;
  options.estimator = "spectral";
  options.policy.name = GetParam().policy;
  if (options.policy.name != "uniform") options.policy.min_action_probability = 0.2;
  options.replications = 16;
  options.steps = 40'000;
  const double few = empirical_error(model, options).mean;
  options.steps = 640'000;
  const double many = empirical_error(model, options).mean;
  EXPECT_LT(many, 0.06);
  EXPECT_GT(few / many, 2.8);
  EXPECT_LT(few / many, 5.7);
}

// Before timing is valid for a belief policy too (docs/reference/estimation.md).
INSTANTIATE_TEST_SUITE_P(All, SpectralRate,
                         ::testing::Values(SpectralCase{Timing::before, "uniform"},
                                           SpectralCase{Timing::before, "memoryless"},
                                           SpectralCase{Timing::before, "belief"},
                                           SpectralCase{Timing::after, "uniform"},
                                           SpectralCase{Timing::after, "memoryless"}));

}  // namespace
}  // namespace oas
