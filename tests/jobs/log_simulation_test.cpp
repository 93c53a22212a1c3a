#include "oas/jobs/log_simulation.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/planning/planner.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/continuous_loop.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Two states that an observation names; action 0 stays, action 1 changes the state; reward 10a + s.
Pomdp switch_model(Timing timing) {
  PomdpParts parts;
  parts.timing = timing;
  parts.states = Labels(2, "state");
  parts.actions = Labels(2, "action");
  parts.observations = Labels(2, "observation");
  parts.start = {1.0, 0.0};
  parts.transition = TransitionModel(2, 2, {1, 0, 0, 1, 0, 1, 1, 0});
  parts.sensors = ObservationModel(2, 2, 2, {1, 0, 0, 1, 1, 0, 0, 1});
  parts.reward = Reward::by_action_state({0, 1, 10, 11});
  return Pomdp(std::move(parts));
}

ContinuousPomdp gaussian_switch() {
  std::vector<VectorDensity> densities;
  for (const double mean : {0.0, 3.0, 1.0, 4.0}) {
    densities.emplace_back(VectorDensity({Density::gaussian(mean, 1.0)}));
  }
  return ContinuousPomdp(
      test::random_model({.num_states = 2, .reward = Reward::Kind::by_action_state}, 4),
      DensitySensors(2, 2, std::move(densities)));
}

LogSimulationOptions asked(PolicyOptions policy, std::int64_t runs, std::int64_t steps) {
  LogSimulationOptions options;
  options.policy = std::move(policy);
  options.runs = runs;
  options.steps = steps;
  options.seed = 5;
  options.reward = true;
  options.state = true;
  return options;
}

template <class Model>
LogBlock read_all(const std::string& path, const Model& model) {
  LogReader reader(path, model);
  LogBlock block;
  EXPECT_TRUE(reader.read_block(block, 1 << 20));
  return block;
}

class SimulateLog : public testing::Test {
 protected:
  const test::TemporaryDirectory folder_;
  const std::string path_ = folder_.file("log.csv");
};

// Nothing is left to chance: the whole file is known.
TEST_F(SimulateLog, WritesWhatADeterministicModelDoes) {
  const SimulatedLog before =
      simulate_log(switch_model(Timing::before), asked({.name = "round-robin"}, 1, 5), path_);
  EXPECT_EQ(test::slurp(path_),
            "# oas-log/1 timing=before\naction,observation,propensity,reward,state\n"
            "0,0,1,0,0\n1,0,1,10,0\n0,1,1,1,1\n1,1,1,11,1\n0,0,1,0,0\n");
  EXPECT_EQ(before.steps, 5);
  EXPECT_EQ(before.reward, 22.0);
  EXPECT_EQ(before.mean_reward(), 4.4);
  LogSimulationOptions plain = asked({.name = "round-robin"}, 2, 2);
  plain.reward = plain.state = false;
  EXPECT_EQ(simulate_log(switch_model(Timing::after), plain, path_).reward, 20.0);
  EXPECT_EQ(test::slurp(path_),
            "# oas-log/1 timing=after\nrun,action,observation,propensity\n"
            "0,0,0,1\n0,1,1,1\n1,0,0,1\n1,1,1,1\n");
}

TEST_F(SimulateLog, OneStateAndAnAbsorbingOne) {
  const Pomdp one = test::random_model(
      {.num_states = 1, .num_actions = 4, .reward = Reward::Kind::by_action_state}, 3);
  simulate_log(one, asked({.name = "uniform"}, 1, 200), path_);
  const LogBlock rows = read_all(path_, one);
  ASSERT_EQ(rows.rows.states.size(), 200U);
  EXPECT_THAT(rows.rows.states, Each(State{0}));
  EXPECT_THAT(rows.rows.propensities, Each(0.25));

  PomdpParts parts = switch_model(Timing::before).parts();
  parts.transition = TransitionModel(2, 2, {0.5, 0.5, 0, 1, 0.5, 0.5, 0, 1});
  const Pomdp absorbing{std::move(parts)};
  simulate_log(absorbing, asked({.name = "uniform"}, 20, 60), path_);
  const LogBlock runs = read_all(path_, absorbing);
  ASSERT_EQ(runs.run_starts.size(), 20U);
  ASSERT_EQ(runs.rows.states.size(), 1200U);
  for (const std::size_t start : runs.run_starts) {
    EXPECT_EQ(runs.rows.states[start], 0);
    EXPECT_EQ(runs.rows.states[start + 59], 1);  // all but once in 2^59
    for (std::size_t t = start + 1; t < start + 60; ++t) {
      EXPECT_GE(runs.rows.states[t], runs.rows.states[t - 1]);
    }
  }
}

// Run r is what ClosedLoop plays on the streams of r, whether runs are played side by side or one
// of them in parts; threads do not matter.
TEST_F(SimulateLog, RunsAreThoseOfTheirStreams) {
  const Pomdp model = test::random_model({}, 8);
  for (const auto& [runs, steps] : {std::pair{19, 30}, std::pair{2, (1 << 16) + 11}}) {
    for (const char* name : {"belief", "memoryless", "uniform", "round-robin"}) {
      const LogSimulationOptions options = asked({.name = name}, runs, steps);
      const SimulatedLog totals = simulate_log(model, options, path_, {1});
      const std::string once = test::slurp(path_);
      EXPECT_EQ(simulate_log(model, options, path_, {3}).reward, totals.reward);
      EXPECT_EQ(test::slurp(path_), once);
      Trajectory expected;
      for (int run = 0; run < runs; ++run) {
        ClosedLoop(model, {.name = name}, 5, static_cast<std::uint32_t>(run))
            .advance(static_cast<std::size_t>(steps), expected);
      }
      EXPECT_EQ(read_all(path_, model).rows, expected) << name;
      EXPECT_EQ(totals.steps, std::int64_t{runs} * steps);
      EXPECT_NEAR(totals.reward,
                  std::accumulate(expected.rewards.begin(), expected.rewards.end(), 0.0), 1e-6);
    }
  }
}

TEST_F(SimulateLog, RealValuedRunsAreThoseOfTheirStreams) {
  const ContinuousPomdp model = gaussian_switch();
  for (const char* name : {"belief", "memoryless", "uniform", "round-robin"}) {
    simulate_log(model, asked({.name = name}, 3, 50), path_);
    LogBlock expected;
    for (std::uint32_t run = 0; run < 3; ++run) {
      ContinuousLoop(model, {.name = name}, 5, run).advance(50, expected.rows, expected.readings);
    }
    const LogBlock rows = read_all(path_, model);
    EXPECT_EQ(rows.rows.actions, expected.rows.actions) << name;
    EXPECT_EQ(rows.rows.propensities, expected.rows.propensities);
    EXPECT_EQ(rows.rows.rewards, expected.rows.rewards);
    EXPECT_EQ(rows.rows.states, expected.rows.states);
    EXPECT_EQ(rows.readings, expected.readings);
    EXPECT_THAT(rows.run_starts, ElementsAre(0, 50, 100));
  }
}

TEST_F(SimulateLog, PlansPlay) {
  const Pomdp model = pest_control();
  PlanOptions planning;
  planning.iota = 0.1;
  planning.resolution = 20;
  planning.simulation.steps = 1000;
  const Plan plan = make_plan(model, planning);
  LogSimulationOptions options = asked({}, 2, 40);
  options.policy = PlanPlayer{plan, std::nullopt};
  simulate_log(model, options, path_);
  Trajectory expected;
  for (std::uint32_t run = 0; run < 2; ++run) {
    ClosedLoop::of(model, PlanPolicy(plan), 5, run).advance(40, expected);
  }
  EXPECT_EQ(read_all(path_, model).rows, expected);
  // Beliefs kept with another model make another run.
  options.policy = PlanPlayer{plan, model.with_transition(TransitionModel::uniform(2, 2))};
  simulate_log(model, options, path_);
  EXPECT_NE(read_all(path_, model).rows, expected);
  options.policy = PlanPlayer{plan, std::nullopt};
  EXPECT_THAT([&] { simulate_log(gaussian_switch(), options, path_); },
              ThrowsMessage<InvalidArgument>(HasSubstr("plans are for finite observations")));
  EXPECT_THAT([&] { simulate_log(test::random_model({.num_actions = 3}, 1), options, path_); },
              ThrowsMessage<InvalidArgument>(HasSubstr("the plan was made for")));
}

TEST_F(SimulateLog, TellsHowManyRowsAreDone) {
  std::int64_t rows = 0;
  simulate_log(switch_model(Timing::before), asked({.name = "uniform"}, 40, 7), path_, {},
               [&](std::int64_t more) { rows += more; });
  EXPECT_EQ(rows, 280);
}

// Every fault is named, and no file appears.
TEST_F(SimulateLog, RefusesWhatCannotBePlayed) {
  const Pomdp model = switch_model(Timing::before);
  const auto refused = [&](const AnyModel& any, const LogSimulationOptions& options,
                           const std::string& message) {
    EXPECT_THAT([&] { simulate_log(any, options, path_); },
                ThrowsMessage<InvalidArgument>(HasSubstr(message)));
  };
  const PolicyOptions uniform{.name = "uniform"};
  refused(model, asked(uniform, 0, 5), "runs is 0");
  refused(model, asked(uniform, 1, 0), "steps is 0");
  refused(model, asked({.name = "greedy"}, 1, 5), "unknown policy 'greedy'");
  refused(model, asked({.name = "belief", .min_action_probability = 0.6}, 1, 5), "0.6");
  refused(model.without_transition(), asked(uniform, 1, 5), "no transition model");
  refused(ContinuousPomdp(model), asked(uniform, 1, 5), "neither observation nor density");
  EXPECT_THAT(folder_.entries(), testing::IsEmpty());
}

}  // namespace
}  // namespace oas
