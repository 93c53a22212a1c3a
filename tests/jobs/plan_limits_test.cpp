#include <gmock/gmock.h>

#include "oas/core/contracts.hpp"
#include "oas/jobs/credible_models.hpp"
#include "oas/jobs/plan_limits.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/uncertain/posterior_value.hpp"
#include "oas/problems/named.hpp"

namespace oas {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Well or failed, seen without error; well pays 1 a step, failed -1. Nothing can be done.
Pomdp machine(double fails, double recovers) {
  PomdpParts parts;
  parts.states = Labels({"well", "failed"}, "state");
  parts.actions = Labels({"run"}, "action");
  parts.observations = Labels({"good", "bad"}, "observation");
  parts.sensors = ObservationModel(2, 1, 2, {1.0, 0.0, 0.0, 1.0});
  parts.transition = TransitionModel(2, 1, {1.0 - fails, fails, recovers, 1.0 - recovers});
  parts.reward = Reward::by_observation({1.0, -1.0});
  parts.start = {1.0, 0.0};
  return Pomdp(std::move(parts));
}

// The long run of such a machine, in closed form.
double gain(double fails, double recovers) { return (recovers - fails) / (recovers + fails); }

DrawnModels drawn(std::vector<Pomdp> models, std::vector<Pomdp> extremes) {
  DrawnModels draws;
  draws.models = std::move(models);
  draws.extremes = std::move(extremes);
  draws.estimated = true;
  return draws;
}

TEST(PlanLimits, HoldTheGainsOfDrawsAndExtremes) {
  Plan plan = make_plan(machine(0.1, 0.3));
  const DrawnModels draws = drawn({machine(0.1, 0.3), machine(0.12, 0.3)}, {machine(0.1, 0.31)});
  const PlanLimits limits = set_limits_over_draws(plan, draws, 0.9);
  EXPECT_THAT(limits.coarseness, IsEmpty());
  EXPECT_THAT(limits.beyond_draws, IsEmpty());  // hardly beyond
  ASSERT_TRUE(plan.posterior.has_value());
  EXPECT_EQ(plan.posterior->draws, 2);
  EXPECT_NEAR(plan.posterior->mean, 0.5 * (gain(0.1, 0.3) + gain(0.12, 0.3)), 1e-9);
  EXPECT_LE(plan.posterior->lower, gain(0.12, 0.3) + 1e-2);
  EXPECT_NEAR(plan.posterior->upper, gain(0.1, 0.31), 1e-9);
}

// Every path of the estimate and of the draws ends in a failure for ever; in the dynamics with the
// fewest transitions nothing ever fails.
TEST(PlanLimits, SayWhereTheMeanLeavesOutWhatTheLimitsHold) {
  Plan plan = make_plan(machine(0.02, 0.0));
  const DrawnModels draws = drawn({machine(0.02, 0.0), machine(0.01, 0.0)}, {machine(0.0, 0.0)});
  const PlanLimits limits = set_limits_over_draws(plan, draws, 0.95);
  EXPECT_NEAR(plan.posterior->mean, -1.0, 1e-9);
  EXPECT_NEAR(plan.posterior->upper, 1.0, 1e-9);
  EXPECT_THAT(limits.beyond_draws, HasSubstr("over the draws alone they are [-1, -1]"));
}

// Other criteria are advised only where all ends for ever; an estimate at 0 is a tiny number.
TEST(LongRun, SaysNothingOfTheTimeBeforeTheEnd) {
  for (const double recovers : {0.0, 1e-8}) {
    EXPECT_THAT(long_run_note(make_plan(machine(0.02, recovers))),
                HasSubstr("stays in failed for ever"));
  }
  EXPECT_THAT(long_run_note(make_plan(machine(0.02, 0.01))), IsEmpty());
  EXPECT_THAT(long_run_note(make_plan(machine(0.0, 0.0))), IsEmpty());  // nothing ends: it stays
  EXPECT_THAT(long_run_note(make_plan(machine(0.3, 1.0))), IsEmpty());
  PlanOptions options;
  options.horizon = 5;
  EXPECT_THAT(long_run_note(make_plan(machine(0.02, 0.0), options)), IsEmpty());
  options.horizon.reset();
  options.discount = 0.9;
  EXPECT_THAT(long_run_note(make_plan(machine(0.02, 0.0), options)), IsEmpty());
}

TEST(PlanLimits, AreThoseOfTheCriterion) {
  const Pomdp model = machine(0.2, 0.0);
  PlanOptions options;
  options.horizon = 3;
  Plan plan = make_plan(model, options);
  static_cast<void>(set_limits_over_draws(plan, drawn({model}, {machine(0.0, 0.0)}), 0.95));
  // Timing before: the three rewards are those of the states acted in.
  EXPECT_NEAR(plan.posterior->mean, 1.0 + (0.8 - 0.2) + (0.64 - 0.36), 1e-9);
  EXPECT_NEAR(plan.posterior->upper, 3.0, 1e-9);

  options.horizon.reset();
  options.discount = 0.5;
  Plan discounted = make_plan(model, options);
  static_cast<void>(set_limits_over_draws(discounted, drawn({model}, {machine(0.0, 0.0)}), 0.95));
  // Σ γ^t (2·0.8^t - 1)
  EXPECT_NEAR(discounted.posterior->mean, 2.0 / (1.0 - 0.4) - 2.0, 1e-6);
  EXPECT_NEAR(discounted.posterior->upper, 2.0, 1e-6);
}

TEST(PlanLimits, RefuseALevelThatIsNone) {
  Plan plan = make_plan(machine(0.1, 0.3));
  const Plan before = plan;
  for (const double level : {0.0, 1.0, -1.0, 2.0}) {
    EXPECT_THROW(
        static_cast<void>(set_limits_over_draws(plan, drawn({machine(0.1, 0.3)}, {}), level)),
        InvalidArgument);
  }
  static_cast<void>(set_limits_over_draws(plan, {}, 0.9));
  EXPECT_EQ(plan, before);
}

TEST(CredibleModels, AreThoseWithinARadius) {
  const Pomdp model = machine(0.1, 0.3);
  const CredibleModels models = models_within(model, 0.05);
  EXPECT_TRUE(models.set.contains(*machine(0.14, 0.26).parts().transition));
  EXPECT_FALSE(models.set.contains(*machine(0.16, 0.3).parts().transition));
  EXPECT_THAT(models.text, HasSubstr("within 0.05"));
  EXPECT_THROW(static_cast<void>(models_within(model, -0.1)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(models_within(model, 1.5)), InvalidArgument);
}

TEST(CredibleModels, OfAnEstimateHoldItsDrawsOrItsBounds) {
  const Pomdp model = machine(0.1, 0.3);
  TransitionEstimate estimate;
  estimate.transition = model.transition();
  EXPECT_FALSE(credible_models(model, estimate, 0.9).has_value());
  EXPECT_THROW(static_cast<void>(credible_models(model, estimate, 0.0)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(credible_models(model, estimate, 1.1)), InvalidArgument);

  estimate.confidence = 0.95;
  estimate.joint_region.l1 = {0.2, std::numeric_limits<double>::infinity()};
  const auto bounds = credible_models(model, estimate, 0.9);
  ASSERT_TRUE(bounds.has_value());
  EXPECT_FALSE(bounds->of_draws);
  EXPECT_EQ(bounds->set.radius, (std::vector<double>{0.1, 1.0}));

  for (const Pomdp& one : {machine(0.1, 0.3), machine(0.15, 0.2)}) {
    const auto values = one.transition().values();
    estimate.draws.insert(estimate.draws.end(), values.begin(), values.end());
  }
  const auto draws = credible_models(model, estimate, 1.0);
  ASSERT_TRUE(draws.has_value());
  EXPECT_TRUE(draws->of_draws);
  EXPECT_TRUE(draws->set.contains(machine(0.15, 0.2).transition()));
}

}  // namespace
}  // namespace oas
