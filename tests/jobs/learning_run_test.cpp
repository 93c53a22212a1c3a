#include "oas/jobs/learning_run.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/model/model_json.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/policies.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

constexpr double kGap = 1e-5;

RegretOracle oracle_of(const Pomdp& model) {
  return {model, {.floor = default_floor(model.num_actions()), .gap = kGap}, Parallelism{1}};
}

LearningOptions options_for(const char* agent, std::int64_t steps) {
  LearningOptions options;
  options.agent = agent;
  options.steps = steps;
  options.checkpoints = 10;
  return options;
}

// What an error of the gain adds up to over the run is about the reward of one step.
TEST(OracleGap, IsWhatTheRunNeeds) {
  const Pomdp model = pest_control();
  EXPECT_DOUBLE_EQ(oracle_gap_for(model, 1000), 1e-3);
  EXPECT_DOUBLE_EQ(oracle_gap_for(model, 1'000'000'000), 1e-6);
  nlohmann::ordered_json document = model_to_json(model);
  document["reward"] = {{500.0, 0.0}, {0.0, 0.0}};
  const Pomdp dear = parse_model(dump_json(document), "m.json");
  EXPECT_DOUBLE_EQ(oracle_gap_for(dear, 1000), 0.5);
}

// Uniform actions make the state a Markov chain: ρ = Σ_s d(s) (1/A) Σ_a r(a,s), d stationary.
double uniform_gain(const Pomdp& model) {
  const int n = model.num_states();
  const int num_actions = model.num_actions();
  const Matrix reward =
      expected_reward(model.reward(), model.timing(), model.sensors(), &model.transition());
  Eigen::MatrixXd chain = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd earned = Eigen::VectorXd::Zero(n);
  for (int a = 0; a < num_actions; ++a) {
    chain += model.transition().matrix(Action{a}) / num_actions;
    earned += reward.row(a).transpose() / num_actions;
  }
  Eigen::MatrixXd system = chain.transpose() - Eigen::MatrixXd::Identity(n, n);
  system.row(n - 1).setOnes();
  Eigen::VectorXd right = Eigen::VectorXd::Zero(n);
  right(n - 1) = 1.0;
  return earned.dot(system.partialPivLu().solve(right));
}

TEST(LearningRun, UniformLosesWhatItsChainSays) {
  for (const char* name : {"pest-control", "network-link", "robot-corridor"}) {
    const Pomdp model = make_problem(name);
    const RegretOracle oracle = oracle_of(model);
    constexpr std::int64_t kSteps = 20'000;
    const LearningRun run = learn(model, oracle, options_for("uniform", kSteps));
    const double expected = kSteps * (oracle.gain - uniform_gain(model));
    // The sum of advantages has the noise of b_t's path only; realised rewards have that of r too.
    EXPECT_NEAR(regrets(oracle, run.end()).expected, expected, 0.02 * expected) << name;
    EXPECT_NEAR(regrets(oracle, run.end()).realised, expected, 0.15 * expected) << name;
  }
}

TEST(LearningRun, TheOracleHasNoRegret) {
  for (const char* name : {"pest-control", "network-link"}) {
    const Pomdp model = make_problem(name);
    const RegretOracle oracle = oracle_of(model);
    EXPECT_LE(oracle.gain_error, kGap) << name;
    EXPECT_LE(oracle.floor_gain_error, kGap) << name;
    EXPECT_LT(oracle.floor_gain, oracle.gain);
    const LearningRun run = learn(model, oracle, options_for("oracle", 50'000));
    EXPECT_NEAR(regrets(oracle, run.end()).expected, 0.0, 2.0) << name;
    // The same random numbers, the same policy but for its grid: nearly the same rewards.
    EXPECT_NEAR(run.oracle_rewards.back() - run.end().reward, 0.0, 20.0) << name;
    const LearningRun floored = learn(model, oracle, options_for("oracle-floor", 50'000));
    EXPECT_NEAR(regrets(oracle, floored.end()).expected_floor, 0.0, 2.0) << name;
    EXPECT_GT(regrets(oracle, floored.end()).expected, 100.0) << name;
  }
}

// A gain and the bias of another policy do not go together: their regret is the bias of a path,
// which has either sign. The policy that a regret is about has none, at any checkpoint.
TEST(LearningRun, NoPolicyHasRegretAgainstItself) {
  for (const char* name : {"pest-control", "network-link"}) {
    const Pomdp model = make_problem(name);
    for (const double floor : {0.0, 0.02, 0.1, 0.3}) {
      const RegretOracle oracle(model, {.floor = floor, .gap = kGap}, Parallelism{1});
      LearningOptions options = options_for("oracle-floor", 50'000);
      options.settings = {{"iota", fmt::format("{}", floor)},
                          {"resolution", fmt::format("{}", oracle.floor_plan.grid_resolution())}};
      const LearningRun run = learn(model, oracle, options);
      for (const Checkpoint& at : run.checkpoints) {
        const double bound = static_cast<double>(at.step) * (oracle.floor_gain_error + kGap);
        EXPECT_NEAR(regrets(oracle, at).expected_floor, 0.0, bound) << name << ", floor " << floor;
      }
      if (floor == 0.0) {
        EXPECT_EQ(regrets(oracle, run.end()).expected, regrets(oracle, run.end()).expected_floor);
      }
    }
  }
}

TEST(LearningRun, CheckpointsAreEquallySpacedAndEndAtTheEnd) {
  const Pomdp model = make_problem("pest-control");
  const RegretOracle oracle = oracle_of(model);
  for (const std::int64_t steps : {1, 7, 10, 1003}) {
    int calls = 0;
    const LearningRun run =
        learn(model, oracle, options_for("uniform", steps), [&](const LearningRun& so_far) {
          ++calls;
          EXPECT_EQ(so_far.checkpoints.size(), static_cast<std::size_t>(calls));
        });
    EXPECT_EQ(run.checkpoints.size(), static_cast<std::size_t>(std::min<std::int64_t>(10, steps)));
    EXPECT_EQ(run.end().step, steps);
    EXPECT_EQ(run.oracle_rewards.size(), run.checkpoints.size());
  }
}

TEST(LearningRun, SameSeedSameBytes) {
  const Pomdp model = make_problem("network-link");
  const RegretOracle oracle = oracle_of(model);
  const LearningOptions options = options_for("oas-ucrl", 10'000);
  const std::string one = run_csv_rows(learn(model, oracle, options), oracle);
  EXPECT_EQ(one, run_csv_rows(learn(model, oracle, options), oracle));
  LearningOptions other = options;
  other.replication = 1;
  EXPECT_NE(one, run_csv_rows(learn(model, oracle, other), oracle));
}

// An agent from elsewhere is judged as one of the table is, under its own name.
TEST(LearningRun, AgentsNeedNotBeOfTheTable) {
  const Pomdp model = make_problem("network-link");
  const RegretOracle oracle = oracle_of(model);
  LearningOptions options = options_for("uniform", 1000);
  std::string expected = run_csv_rows(learn(model, oracle, options), oracle);
  options.agent = "mine";
  options.make = [&](const LearningOptions& of) {
    EXPECT_EQ(of.agent, "mine");
    return make_agent("uniform", model);
  };
  const std::string mine = run_csv_rows(learn(model, oracle, options), oracle);
  for (std::size_t at = 0; (at = expected.find("uniform", at)) != std::string::npos;) {
    expected.replace(at, 7, "mine");
  }
  EXPECT_EQ(mine, expected);
}

TEST(LearningRun, TheRecordTellsEachEpisode) {
  const Pomdp model = make_problem("network-link");
  const RegretOracle oracle = oracle_of(model);
  LearningOptions options = options_for("oas-ucrl", 10'000);
  options.settings = {{"first_episode", "500"}};
  const LearningRun run = learn(model, oracle, options);
  const nlohmann::ordered_json record = run_to_json(run, model, oracle);
  EXPECT_EQ(record["format"], "oas-run/1");
  EXPECT_EQ(record["settings"]["first_episode"], "500");
  const Regrets regret = regrets(oracle, run.end());
  EXPECT_EQ(record["realised_regret"], regret.realised);
  EXPECT_EQ(record["expected_regret"], regret.expected);
  EXPECT_EQ(record["realised_regret_floor"], regret.realised_floor);
  EXPECT_EQ(record["expected_regret_floor"], regret.expected_floor);
  EXPECT_NEAR(regret.realised - regret.realised_floor, 10'000 * (oracle.gain - oracle.floor_gain),
              1e-6);
  ASSERT_EQ(record["episodes"].size(), 5u);  // 500 · (1 + 2 + 4 + 8) = 7500, then the fifth
  EXPECT_FALSE(record["episodes"][0].contains("error"));
  EXPECT_GT(record["episodes"][1]["error"].get<double>(), 0.0);
  EXPECT_EQ(record["episodes"][4]["start"], 7500);
}

TEST(LearningRun, BadOptionsAreNamed) {
  const Pomdp model = make_problem("pest-control");
  const RegretOracle oracle = oracle_of(model);
  EXPECT_THROW(static_cast<void>(learn(model, oracle, options_for("uniform", 0))), InvalidArgument);
  LearningOptions options = options_for("uniform", 10);
  options.checkpoints = 0;
  EXPECT_THROW(static_cast<void>(learn(model, oracle, options)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(learn(model, oracle, options_for("nobody", 10))), InvalidArgument);
}

}  // namespace
}  // namespace oas
