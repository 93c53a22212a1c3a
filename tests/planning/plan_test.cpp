#include "oas/planning/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/planning/planner.hpp"
#include "oas/simulation/agent.hpp"
#include "oas/simulation/run.hpp"
#include "planning/planning_support.hpp"
#include "support/property.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

static_assert(Agent<PlanPolicy>);

Pomdp small_model(Timing timing, std::uint64_t seed, bool named = false) {
  test::RandomModelOptions options;
  options.num_states = 3;
  options.num_actions = 3;
  options.num_observations = 3;
  options.timing = timing;
  options.named = named;
  return test::random_model(options, seed);
}

PlanOptions quick(double iota = 0.0) {
  PlanOptions options;
  options.iota = iota;
  options.resolution = 12;
  options.simulation.steps = 6400;
  options.point.num_beliefs = 40;
  options.point.rounds = 2;
  options.work = 0.05;
  return options;
}

TEST(Plan, TextReadsBackToAnEqualPlan) {
  test::TemporaryDirectory folder;
  PlanOptions options = quick(0.05);
  for (const char* planner : {"grid", "point"}) {
    options.planner = planner;
    Plan plan = make_plan(small_model(Timing::after, 3, true), options);
    if (options.planner == "grid") plan.optimism = Optimism{0.1, plan.gain_upper + 1.0};
    write_plan(folder.file("plan.json"), plan);
    EXPECT_EQ(read_plan(folder.file("plan.json")), plan);
  }
  EXPECT_THAT(folder.entries(), testing::ElementsAre("plan.json"));
}

TEST(Plan, ErrorsNameFilePathAndValue) {
  const nlohmann::ordered_json good =
      plan_to_json(make_plan(small_model(Timing::before, 1), quick()));
  const auto message = [&](const auto& change) {
    nlohmann::ordered_json document = good;
    change(document);
    try {
      static_cast<void>(parse_plan(document.dump(), "p.json"));
    } catch (const ParseError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_EQ(message([](auto&) {}), "accepted");
  EXPECT_THAT(message([](auto& d) { d = d["model"]; }),
              HasSubstr("p.json: $.format: this is a model, not a plan; oas plan"));
  EXPECT_THAT(message([](auto& d) { d["format"] = "oas-plan/9"; }),
              AllOf(HasSubstr("p.json: $.format"), HasSubstr("oas-plan/9")));
  EXPECT_THAT(message([](auto& d) { d["iota"] = 0.7; }),
              AllOf(HasSubstr("p.json"), HasSubstr("0.7")));
  EXPECT_THAT(message([](auto& d) { d["bias"].erase(0); }), HasSubstr("bias has 90 values"));
  EXPECT_THAT(message([](auto& d) { d["bias"][3] = "x"; }), HasSubstr("$.bias[3]"));
  EXPECT_THAT(message([](auto& d) { d["planner"] = "oracle"; }), HasSubstr("oracle"));
  EXPECT_THAT(message([](auto& d) { d["extra"] = 1; }), HasSubstr("unknown key \"extra\""));
  EXPECT_THAT(message([](auto& d) { d["status"] = "fine"; }), HasSubstr("$.status"));
  EXPECT_THAT(message([](auto& d) { d["gain_lower"] = 1e9; }),
              HasSubstr("gain_lower is 1000000000"));
  EXPECT_THAT(message([](auto& d) { d["model"]["timing"] = "late"; }),
              AllOf(HasSubstr("p.json: $.model"), HasSubstr("late")));
  EXPECT_THAT(message([](auto& d) { d["model"].erase("transition"); }), HasSubstr("transition"));
}

// State 1 fades from the belief until its observation has a denormal probability.
TEST(Plan, ObservationsThatHardlyHappenAreNoTrouble) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = test::make_model(timing, 2, 1, 2, {1, 0, 0, 1}, {1, 0, 0.5, 0.5},
                                         Reward::by_action_state({0, 1}));
    const Plan plan = make_plan(model, quick());
    EXPECT_TRUE(std::isfinite(plan.gain_lower));
    EXPECT_NEAR(plan.gain_upper, 1.0, 1e-3);
  }
}

// The gain depends on the start, so that one run says little about it, however long: the lower
// limit must not be above 1/2, whatever the seed, and a gap that no grid closes is not tried for.
TEST(Plan, ALowerLimitHoldsWhereRunsNeverMix) {
  const Pomdp model = test::make_model(Timing::before, 2, 1, 2, {1, 0, 0, 1}, {0.7, 0.3, 0.3, 0.7},
                                       Reward::by_action_state({0, 1}));
  int above = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    PlanOptions options = quick();
    options.simulation.seed = seed;
    options.gap = 1e-3;
    const Plan plan = make_plan(model, options);
    above += plan.gain_lower > 0.5;
    EXPECT_EQ(plan.status, SolveStatus::stalled);
    EXPECT_THAT(plan.message, testing::HasSubstr("no finer grid"));
  }
  // Eight runs of one kind, one time in 256, cannot be told from a gain of 1.
  EXPECT_LE(above, 1);
}

TEST(PlanPolicy, PropensitiesFollowTheFloor) {
  const double iota = 0.04;
  const Plan plan = make_plan(small_model(Timing::before, 2), quick(iota));
  PlanPolicy policy(plan);
  const Trajectory log = run(plan.model, policy, 2000, 4);
  int greedy = 0;
  for (const double p : log.propensities) {
    EXPECT_TRUE(p == iota || p == 1.0 - 2 * iota) << p;
    greedy += p > 0.5 ? 1 : 0;
  }
  // Binomial(2000, 0.92): beyond 6 standard deviations is a one in a million matter.
  EXPECT_NEAR(greedy, 0.92 * 2000, 5.0 * std::sqrt(2000 * 0.92 * 0.08));
}

// The policy's belief is the exact one, and the action maximises the exact Q of the interpolated v.
TEST(PlanPolicy, LooksAheadFromTheExactBelief) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Plan plan = make_plan(small_model(timing, 5), quick());
    PlanPolicy policy(plan);
    BeliefFilter filter(plan.model);
    FilterKernel<0> kernel(plan.model, plan.model.transition(), Matrix(0, 3));
    LookAhead v(plan);
    const Matrix rewards = plan.model.expected_reward();
    Environment environment(plan.model, Rng({1, 0, Role::environment}));
    Rng rng({1, 0, Role::agent});
    for (int t = 0; t < 300; ++t) {
      const std::vector<double> b(filter.belief().begin(), filter.belief().end());
      std::vector<double> q(3);
      for (int a = 0; a < 3; ++a) {
        for (int s = 0; s < 3; ++s) q[a] += b[s] * rewards(a, s);
        for (int o = 0; o < 3; ++o) {
          std::vector<double> next(b);
          next.resize(4);
          std::vector<double> scratch(4);
          const double p = kernel.update(next.data(), a, o, nullptr, scratch.data());
          if (p > 0.0) q[a] += p * v.bias(std::span(next).first(3));
        }
      }
      const Choice choice = policy.act(rng);
      EXPECT_GE(q[choice.action], *std::max_element(q.begin(), q.end()) - 1e-12);
      EXPECT_EQ(choice.propensity, 1.0);
      const Observation seen = environment.step(choice.action).observation;
      policy.observe(seen);
      filter.update(choice.action, seen);
      EXPECT_TRUE(
          std::equal(policy.belief().begin(), policy.belief().end(), filter.belief().begin()));
    }
  }
}

TEST(PlanPolicy, RefusesAFilterOfOtherSizes) {
  const Plan plan = make_plan(small_model(Timing::before, 2), quick());
  test::RandomModelOptions other;
  other.num_states = 4;
  EXPECT_THROW(PlanPolicy(plan, test::random_model(other, 1)), InvalidArgument);
}

TEST(MakePlan, SameBytesForAnyNumberOfThreads) {
  const Pomdp model = small_model(Timing::after, 8);
  EXPECT_EQ(dump_json(plan_to_json(make_plan(model, quick(), {1}))),
            dump_json(plan_to_json(make_plan(model, quick(), {3}))));
}

TEST(MakePlan, ClosesTheGapOrSaysWhichBudgetIsSpent) {
  const Pomdp model = small_model(Timing::after, 1);
  PlanOptions options = quick(0.033);
  options.resolution = 4;
  EXPECT_GT(make_plan(model, options).gain_upper - make_plan(model, options).gain_lower, 1e-4);
  options.gap = 1e-4;
  options.max_steps = 100'000;
  const Plan refined = make_plan(model, options);
  EXPECT_LE(refined.gain_upper - refined.gain_lower, 1e-4);
  EXPECT_GT(refined.grid_resolution(), 4);
  EXPECT_THAT(refined.message, testing::HasSubstr("the gap of 0.0001 is reached"));
  options.gap = 1e-9;
  options.max_entries = 2e4;
  EXPECT_THAT(make_plan(model, options).message, testing::HasSubstr("budget"));
}

TEST(MakePlan, ChoosesThePlannerBySize) {
  EXPECT_EQ(default_resolution(small_model(Timing::before, 1)), 50);
  test::RandomModelOptions large;
  large.num_states = 20;
  large.num_actions = 5;
  large.num_observations = 20;
  EXPECT_EQ(default_resolution(test::random_model(large, 1)), 0);
  PlanOptions options;
  options.planner = "grid";
  options.resolution = 50;
  EXPECT_THAT([&] { static_cast<void>(make_plan(test::random_model(large, 1), options)); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("4.625e+16 points")));
}

// Lower <= upper whatever the model, also where the gain depends on the start or nothing is random.
RC_GTEST_PROP(MakePlanProperty, LowerIsNeverAboveUpper, ()) {
  const Pomdp model = test::any_model(3, 3, 3);
  PlanOptions options = quick(*rc::gen::element(0.0, 0.1));
  options.resolution = 6;
  options.simulation.steps = 640;
  options.planner = *rc::gen::element("grid", "point");
  options.point.num_beliefs = 10;
  options.point.rounds = 1;
  options.point.max_sweeps = 50;
  const Plan plan = make_plan(model, options);
  RC_ASSERT(plan.gain_lower <= plan.gain_upper);
  plan.validate();
}

// However few sweeps each grid gets: what a coarse one has proved stays proved.
RC_GTEST_PROP(MakePlanProperty, RefiningNeverRaisesTheUpperBound, ()) {
  const Pomdp model = test::any_model(3, 3, 3);
  PlanOptions options = quick(*rc::gen::element(0.0, 0.1));
  options.planner = "grid";
  options.resolution = 4;
  options.max_sweeps = *rc::gen::element(1, 3, 20);
  options.simulation.steps = 640;
  options.max_steps = 640;
  const Plan coarse = make_plan(model, options);
  options.gap = 1e-9;
  options.max_entries = 2e4;
  const Plan fine = make_plan(model, options);
  RC_ASSERT(fine.gain_upper <= coarse.gain_upper);
  RC_ASSERT(fine.gain_lower <= fine.gain_upper);
}

TEST(DefaultSimulation, IsShorterOnlyWhereStepsAreCostly) {
  const SimulationOptions usual;
  EXPECT_EQ(default_simulation(small_model(Timing::after, 1)).steps, usual.steps);
  constexpr int kStates = 5000;
  std::vector<ProbabilityEntry> entries;
  std::vector<std::size_t> row_starts{0};
  for (int s = 0; s < kStates; ++s) {
    entries.push_back({s, 1.0});
    row_starts.push_back(entries.size());
  }
  PomdpParts parts;
  parts.timing = Timing::after;
  parts.states = Labels(kStates, "state");
  parts.actions = Labels(1, "action");
  parts.observations = Labels(2, "observation");
  parts.sensors = ObservationModel(kStates, 1, 2, std::vector<double>(2 * kStates, 0.5));
  parts.transition = TransitionModel::listed(kStates, 1, entries, row_starts);
  const SimulationOptions shorter = default_simulation(Pomdp(std::move(parts)));
  EXPECT_LT(shorter.steps, usual.steps);
  EXPECT_GE(shorter.steps, 640U);
  EXPECT_LT(8 * shorter.burn_in, shorter.steps);
}

}  // namespace
}  // namespace oas
