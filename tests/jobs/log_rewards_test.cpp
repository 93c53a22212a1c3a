#include "oas/jobs/log_rewards.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "oas/core/contracts.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"
#include "support/thread_team.hpp"

/// Mean rewards of action and state, learned from the column of a log.
namespace oas {
namespace {

Pomdp without_reward(const Pomdp& model) {
  PomdpParts parts = model.parts();
  parts.reward = Reward();
  return Pomdp(std::move(parts));
}

Pomdp cycle_from_its_first_state() {
  PomdpParts parts = make_problem("corner/perfect-cycle").parts();
  parts.start.assign(parts.start.size(), 0.0);
  parts.start[0] = 1.0;
  return Pomdp(std::move(parts));
}

class RewardsOfLog : public testing::Test {
 protected:
  std::string log_of(const Pomdp& model, std::size_t rows) {
    std::string path = folder_.file("log.csv");
    LogWriter writer(path, model, {.run = true, .reward = true});
    for (std::uint32_t run = 0; run < 2; ++run) {
      ClosedLoop(model, {.name = "uniform"}, 11, run).advance(rows, runs_.emplace_back());
      writer.write(runs_.back(), run);
    }
    writer.commit();
    return path;
  }
  // Runs of one row, in which only the first action shows the first state: costs of 3 and 1.5.
  std::string log_of_costs() {
    std::string path = folder_.file("log.csv");
    std::ofstream out(path);
    out << "run,action,observation,reward\n";
    for (int run = 0; run < 99; ++run) out << run << ",0,," << (run % 3 == 0 ? -3 : -1.5) << "\n";
    return path;
  }
  // With the true dynamics, so that only rewards are to be learned.
  static TransitionEstimate learned(const Pomdp& model, const std::string& path,
                                    const LogOptions& options = {}) {
    TransitionEstimate estimate;
    estimate.transition = model.transition();
    const std::vector<std::string> logs = {path};
    RewardEstimation how;
    how.rows = options;
    estimate_rewards(without_reward(model), logs, estimate, how);
    return estimate;
  }

  static RewardEstimation on(Parallelism parallelism) {
    RewardEstimation how;
    how.parallelism = parallelism;
    return how;
  }

  test::TemporaryDirectory folder_;
  std::vector<Trajectory> runs_;
};

// States that follow each other in a known order and a sure start: the belief is the state, and
// least squares are means.
TEST_F(RewardsOfLog, AreMeansWhereTheStateIsKnown) {
  const Pomdp model = cycle_from_its_first_state();
  const std::string path = folder_.file("log.csv");
  Trajectory run;
  ClosedLoop(model, {.name = "uniform"}, 3, 0).advance(300, run);
  std::vector<double> sums(static_cast<std::size_t>(model.num_actions() * model.num_states()), 0.0);
  std::vector<double> counts(sums.size(), 0.0);
  for (std::size_t t = 0; t < run.size(); ++t) {
    run.rewards[t] = std::sin(static_cast<double>(t));
    const auto row = static_cast<std::size_t>(run.actions[t] * model.num_states() + run.states[t]);
    sums[row] += run.rewards[t];
    ++counts[row];
  }
  LogWriter writer(path, model, {.reward = true});
  writer.write(run, 0);
  writer.commit();
  const TransitionEstimate found = learned(model, path);
  for (std::size_t row = 0; row < sums.size(); ++row) {
    EXPECT_NEAR(found.reward[row], sums[row] / counts[row], 1e-9);
    EXPECT_GT(found.reward_standard_error[row], 0.0);
  }
  EXPECT_THAT(found.warnings, testing::IsEmpty());
}

// Rewards by the next state and the reading have a mean in every state too. At most 5.5 standard
// errors from it (Student with more than 100 degrees of freedom, 1e-6 over all entries).
TEST_F(RewardsOfLog, HoldTheTruthWhateverRewardsDependOn) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    runs_.clear();
    test::RandomModelOptions options;
    options.num_states = 3;
    options.num_actions = 2;
    options.num_observations = 4;
    options.timing = timing;
    PomdpParts parts = test::random_model(options, 9).parts();
    parts.reward = Reward::by_observation({0.0, 1.0, 5.0, -3.0});
    const Pomdp model(std::move(parts));
    const TransitionEstimate found = learned(model, log_of(model, 30'000));
    const Matrix truth =
        expected_reward(model.reward(), timing, model.sensors(), &model.transition());
    for (int a = 0; a < 2; ++a) {
      for (int s = 0; s < 3; ++s) {
        const auto row = static_cast<std::size_t>(a * 3 + s);
        EXPECT_NEAR(found.reward[row], truth(a, s), 5.5 * found.reward_standard_error[row]);
        EXPECT_LT(found.reward_standard_error[row], 1.0);
      }
    }
  }
}

// An action that was never taken, and beliefs that never move, tell nothing.
TEST_F(RewardsOfLog, SayWhatTheLogDoesNotTell) {
  const Pomdp model = make_problem("corner/perfect-cycle");
  const std::string path = folder_.file("log.csv");
  std::ofstream(path) << "action,observation,reward\n0,0,1\n0,1,2\n";
  const TransitionEstimate found = learned(model, path);
  EXPECT_EQ(found.warnings.size(), found.reward.size());
  EXPECT_THAT(found.reward_standard_error, testing::Each(testing::IsNan()));
  for (const double value : found.reward) EXPECT_TRUE(std::isfinite(value));
}

// Costs: what was never tried must not look free, nor as good as what was earned elsewhere. The
// runs of one row show one state only.
TEST_F(RewardsOfLog, AreTheLeastInTheLogWhereNothingWasSeen) {
  const Pomdp model = cycle_from_its_first_state();
  ASSERT_GE(model.num_states(), 2);
  const TransitionEstimate found = learned(model, log_of_costs());
  EXPECT_NEAR(found.reward[0], -2.0, 1e-9);
  EXPECT_GT(found.reward_standard_error[0], 0.0);
  for (std::size_t row = 1; row < found.reward.size(); ++row) {
    EXPECT_EQ(found.reward[row], -3.0);
    EXPECT_TRUE(std::isnan(found.reward_standard_error[row]));
  }
  ASSERT_EQ(found.warnings.size(), found.reward.size() - 1);
  EXPECT_THAT(found.warnings.front(), testing::HasSubstr("the least in the log, -3"));
}

// States that no reading tells apart: what the rows say about their mixture stays as it is.
TEST_F(RewardsOfLog, KeepTheMeanOfStatesThatAreNotToldApart) {
  PomdpParts parts;
  parts.states = Labels(2, "state");
  parts.actions = Labels(1, "action");
  parts.observations = Labels(1, "observation");
  parts.sensors = ObservationModel(2, 1, 1, {1.0, 1.0});
  parts.transition = TransitionModel(2, 1, {0.7, 0.3, 0.7, 0.3});
  parts.start = {0.7, 0.3};
  const Pomdp model(std::move(parts));
  const std::string path = folder_.file("log.csv");
  std::ofstream out(path);
  out << "action,observation,reward\n";
  for (int t = 0; t < 100; ++t) out << "0,0," << (t % 2 == 0 ? -3 : -1) << "\n";
  out.close();
  const TransitionEstimate found = learned(model, path);
  EXPECT_NEAR(0.7 * found.reward[0] + 0.3 * found.reward[1], -2.0, 1e-9);
  EXPECT_THAT(found.reward_standard_error, testing::Each(testing::IsNan()));
}

TEST_F(RewardsOfLog, AreNotMadeUpWhereTheColumnIsEmpty) {
  const Pomdp model = make_problem("pest-control");
  const std::string path = folder_.file("log.csv");
  std::ofstream(path) << "action,observation,reward\n0,0,\n1,1,\n";
  const TransitionEstimate found = learned(model, path);
  EXPECT_THAT(found.reward, testing::IsEmpty());
  EXPECT_THAT(found.warnings, testing::ElementsAre(testing::HasSubstr("no row")));
}

// Rows that fill a gap earned nothing that anybody wrote down.
TEST_F(RewardsOfLog, GapsCountForNothing) {
  const Pomdp model = make_problem("pest-control");
  const std::string path = folder_.file("log.csv");
  std::ofstream out(path);
  out << "run,time,action,observation,reward\n";
  for (int t = 0; t < 400; ++t) {
    if (t % 10 != 9) out << "a," << t << "," << t % 2 << "," << t % 3 << ",7\n";
  }
  out.close();
  LogOptions options;
  options.step = "1";
  options.gaps = "repeat";
  const TransitionEstimate found = learned(model, path, options);
  for (const double value : found.reward) EXPECT_NEAR(value, 7.0, 1e-6);
}

// [row]: what is drawn with `copies` of some dynamics, while the estimate has its own.
std::vector<double> drawn_with(const TransitionModel& dynamics, std::size_t copies,
                               const Pomdp& model, const std::string& path,
                               TransitionEstimate& estimate, int threads) {
  estimate.transition = model.transition();
  for (std::size_t i = 0; i < copies; ++i) {
    estimate.draws.insert(estimate.draws.end(), dynamics.values().begin(), dynamics.values().end());
  }
  const std::vector<std::string> logs = {path};
  RewardEstimation how;
  how.parallelism = Parallelism{threads};
  estimate_rewards(without_reward(model), logs, estimate, how);
  return estimate.reward_draws;
}

// Two states, sensors that tell a lot, and rewards of what is read.
PomdpParts small_model() {
  test::RandomModelOptions options;
  options.num_states = 2;
  options.num_actions = 2;
  options.num_observations = 3;
  options.min_alpha = 0.3;
  PomdpParts parts = test::random_model(options, 5).parts();
  parts.reward = Reward::by_observation({0.0, 1.0, 5.0});
  return parts;
}

// Mean and spread over the draws; their mean is 5.5 of its own standard errors off at most, their
// spread (chi-squared with 399 degrees of freedom) by a fifth.
TEST_F(RewardsOfLog, AreDrawnWithEachOfTheDynamics) {
  PomdpParts parts = small_model();
  const Pomdp model(parts);
  const std::string path = log_of(model, 1000);
  parts.transition = TransitionModel(2, 2, {0.9, 0.1, 0.3, 0.7, 0.2, 0.8, 0.6, 0.4});
  const TransitionEstimate other = learned(Pomdp(parts), path);
  TransitionEstimate estimate;
  constexpr std::size_t kCopies = 400;
  const std::vector<double> draws =
      drawn_with(*parts.transition, kCopies, model, path, estimate, 4);
  const std::size_t rows = estimate.reward.size();
  ASSERT_EQ(draws.size(), kCopies * rows);
  double moved = 0.0;
  for (std::size_t row = 0; row < rows; ++row) {
    const double error = estimate.reward_standard_error[row];
    double mean = 0.0;
    double square = 0.0;
    for (std::size_t i = row; i < draws.size(); i += rows) mean += draws[i] / kCopies;
    for (std::size_t i = row; i < draws.size(); i += rows) {
      square += (draws[i] - mean) * (draws[i] - mean) / (kCopies - 1);
    }
    EXPECT_NEAR(mean, other.reward[row], 5.5 * error / std::sqrt(kCopies));
    EXPECT_NEAR(std::sqrt(square), error, 0.2 * error);
    moved = std::max(moved, std::abs(other.reward[row] - estimate.reward[row]) / error);
  }
  EXPECT_GT(moved, 1.0);  // the dynamics of the draws matter
  TransitionEstimate again;
  EXPECT_EQ(drawn_with(*parts.transition, kCopies, model, path, again, 1), draws);
}

// Half of the draws are of one kind, half of another: what they make of the rows differs by a known
// amount, which standard errors must hold beside that of the rows.
TEST_F(RewardsOfLog, HaveStandardErrorsThatHoldTheErrorOfTheDynamics) {
  PomdpParts parts = small_model();
  const Pomdp model(parts);
  const std::string path = log_of(model, 1000);
  const TransitionEstimate one = learned(model, path);
  parts.transition = TransitionModel(2, 2, {0.9, 0.1, 0.3, 0.7, 0.2, 0.8, 0.6, 0.4});
  const TransitionEstimate other = learned(Pomdp(parts), path);
  TransitionEstimate both;
  const auto first = model.transition().values();
  both.draws.assign(first.begin(), first.end());
  static_cast<void>(drawn_with(*parts.transition, 1, model, path, both, 1));
  for (std::size_t row = 0; row < both.reward.size(); ++row) {
    const double apart = one.reward[row] - other.reward[row];
    EXPECT_GT(std::abs(apart), 1e-3);
    EXPECT_NEAR(both.reward_standard_error[row],
                std::hypot(one.reward_standard_error[row], apart / std::sqrt(2.0)), 1e-9);
  }
}

// Nothing is open about a constant reward; what was not seen stays what it is taken for.
TEST_F(RewardsOfLog, AreDrawnWithoutErrorWhereThereIsNone) {
  const Pomdp model = make_problem("pest-control");
  const std::string path = folder_.file("log.csv");
  std::ofstream out(path);
  out << "action,observation,reward\n";
  for (int t = 0; t < 400; ++t) out << "0," << t % 3 << ",7\n";
  out.close();
  TransitionEstimate estimate;
  const std::vector<double> draws = drawn_with(model.transition(), 3, model, path, estimate, 2);
  EXPECT_EQ(draws.size(), 3 * estimate.reward.size());
  for (const double value : draws) EXPECT_NEAR(value, 7.0, 1e-6);
}

// An action that was taken in one state only: the others keep the least reward in all draws.
TEST_F(RewardsOfLog, AreTheSameGuessInAllDraws) {
  const Pomdp model = cycle_from_its_first_state();
  TransitionEstimate estimate;
  const std::vector<double> draws =
      drawn_with(model.transition(), 5, model, log_of_costs(), estimate, 1);
  const std::size_t rows = estimate.reward.size();
  ASSERT_EQ(draws.size(), 5 * rows);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    if (i % rows != 0) {
      EXPECT_EQ(draws[i], -3.0);
    } else {
      EXPECT_NE(draws[i], draws[(i + rows) % draws.size()]);
    }
  }
}

// Of a log with runs of more rows than are filtered at a time.
TEST_F(RewardsOfLog, AreTheSameForAnyNumberOfRanks) {
  const Pomdp model = make_problem("pest-control");
  const std::vector<std::string> logs = {log_of(model, 70'000)};
  for (const int draws : {0, 1, 7}) {
    TransitionEstimate dynamics;
    dynamics.transition = model.transition();
    for (int draw = 0; draw < draws; ++draw) {
      const TransitionModel drawn =
          mixed_with_uniform(model.transition(), 0.01 * static_cast<double>(draw));
      dynamics.draws.insert(dynamics.draws.end(), drawn.values().begin(), drawn.values().end());
    }
    TransitionEstimate expected = dynamics;
    estimate_rewards(without_reward(model), logs, expected, on({1}));
    for (const int ranks : {1, 2, 3, 5, 11}) {
      TransitionEstimate found;
      EXPECT_TRUE(testing_support::run_team(ranks, [&](testing_support::ThreadTeam& team) {
        TransitionEstimate estimate;  // of which others know nothing, nor do they read the log
        if (team.leads()) estimate = dynamics;
        const std::vector<std::string> no_logs = {"nowhere.csv"};
        estimate_rewards(without_reward(model), team.leads() ? logs : no_logs, estimate,
                         on({1, &team}));
        if (team.leads()) found = estimate;
      }));
      EXPECT_EQ(found.reward, expected.reward) << ranks;
      EXPECT_EQ(found.reward_standard_error, expected.reward_standard_error) << ranks;
      EXPECT_EQ(found.reward_draws, expected.reward_draws) << ranks;
    }
  }
}

// A fault that nobody has met before, when other ranks have rows already.
TEST_F(RewardsOfLog, TheFirstFaultIsReportedWhoeverReads) {
  const Pomdp model = make_problem("pest-control");
  const std::vector<std::string> logs = {folder_.file("wrong.csv")};
  std::ofstream out(logs.front());
  out << "action,observation,reward\n";
  for (int t = 0; t < 67'000; ++t) {
    out << "0,0," << (t == 66'150 || t == 66'200 ? "much" : "1") << "\n";
  }
  out.close();
  for (const int ranks : {1, 2, 5}) {
    const auto read = [&] {
      testing_support::run_team(ranks, [&](testing_support::ThreadTeam& team) {
        TransitionEstimate estimate;
        estimate.transition = model.transition();
        const auto values = model.transition().values();
        for (int k = 0; k < 3; ++k) {
          estimate.draws.insert(estimate.draws.end(), values.begin(), values.end());
        }
        estimate_rewards(without_reward(model), logs, estimate, on({1, &team}));
      });
    };
    EXPECT_THAT(read, testing::ThrowsMessage<InvalidArgument>(
                          testing::HasSubstr("wrong.csv:66152:3: reward 'much'")));
  }
}

TEST_F(RewardsOfLog, AreAskedForOnlyWhereTheyAreMissing) {
  const Pomdp model = make_problem("pest-control");
  const std::vector<std::string> logs = {log_of(model, 20)};
  EXPECT_FALSE(brings_rewards(model, logs));
  EXPECT_TRUE(brings_rewards(without_reward(model), logs));
  const std::vector<std::string> bare = {folder_.file("bare.csv")};
  std::ofstream(bare.front()) << "action,observation\n0,0\n";
  EXPECT_FALSE(brings_rewards(without_reward(model), bare));
  TransitionEstimate estimate;
  estimate.transition = model.transition();
  EXPECT_THROW(estimate_rewards(without_reward(model), bare, estimate), InvalidArgument);
}

}  // namespace
}  // namespace oas
