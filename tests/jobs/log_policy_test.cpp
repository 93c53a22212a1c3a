#include "oas/jobs/log_policy.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "oas/core/contracts.hpp"
#include "oas/jobs/log_forecast.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/temporary_directory.hpp"

/// The policy behind a log, and forecasts under policies.
namespace oas {
namespace {

class LogPolicy : public testing::Test {
 protected:
  void write(const std::string& rows) const { std::ofstream(path_) << rows; }

  test::TemporaryDirectory folder_;
  std::string path_ = folder_.file("log.csv");
  Pomdp model_ = make_problem("pest-control");
};

TEST_F(LogPolicy, CountsWhatFollowsEachKindOfRow) {
  // Two runs; a row without observation says nothing about the one after it.
  write("run,action,observation\n0,0,0\n0,1,0\n0,0,\n0,1,1\n1,1,0\n1,1,0\n1,0,2\n");
  const LoggedPolicy policy = clone_policy(model_, path_);
  const auto given = [&](int a, int o, int next) {
    return policy.given[static_cast<std::size_t>(
        (a * model_.num_observations() + o) * model_.num_actions() + next)];
  };
  EXPECT_EQ(policy.rows, 7);
  EXPECT_EQ(policy.seen, 2);
  EXPECT_DOUBLE_EQ(policy.first[0], 0.5);
  EXPECT_DOUBLE_EQ(policy.first[1], 0.5);
  EXPECT_DOUBLE_EQ(given(0, 0, 1), 1.0);
  EXPECT_DOUBLE_EQ(given(1, 0, 0), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(given(1, 0, 1), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(given(0, 1, 1), 4.0 / 7.0);  // never seen: as in all rows
}

TEST_F(LogPolicy, IsThePolicyWhereThatLooksAtTheLastRowOnly) {
  Trajectory run;
  ClosedLoop(model_, {.name = "memoryless", .min_action_probability = 0.1}, 3, 0)
      .advance(60'000, run);
  double mean = 0.0;
  for (const double reward : run.rewards) mean += reward / static_cast<double>(run.size());
  LogWriter writer(path_, model_, {});
  writer.write(run, 0);
  writer.commit();
  const StartedPolicy policy = started(ask_policy("log:" + path_, model_));
  EXPECT_NEAR(evaluate_controller(model_, policy.controller).gain, mean, 0.02);
}

TEST_F(LogPolicy, ForecastsGoOnWhereTheLogEnds) {
  write("run,action,observation\n0,0,0\n0,0,1\n1,1,2\n");
  ForecastOptions options;
  options.question.steps = 6;
  options.question.schedule = {Action{0}};
  options.question.reach = {State{1}};
  // The same action whatever is seen, by its three roads.
  const std::vector<UnitForecast> plain = forecast_log(model_, {}, path_, options);
  const std::string first = model_.actions()[0];
  const std::string state = model_.states()[0];
  for (const std::string& text :
       {"constant:" + first, "threshold:" + state + ">0.5=" + first + ",else=" + first}) {
    options.policy = ask_policy(text, model_);
    const std::vector<UnitForecast> other = forecast_log(model_, {}, path_, options);
    ASSERT_EQ(other.size(), plain.size());
    for (std::size_t u = 0; u < plain.size(); ++u) {
      EXPECT_EQ(other[u].unit, plain[u].unit);
      for (std::size_t k = 0; k < plain[u].middle.survival.size(); ++k) {
        EXPECT_NEAR(other[u].middle.survival[k], plain[u].middle.survival[k], 1e-9);
      }
      EXPECT_NEAR(other[u].middle.mean_steps, plain[u].middle.mean_steps, 1e-6);
    }
  }
  // After the row (0, 1) of unit 0 the log's policy does not know what follows: as in all rows.
  // After (1, 2) of unit 1 likewise; the two nodes have the same probabilities, beliefs differ.
  options.policy = ask_policy("log:" + path_, model_);
  const std::vector<UnitForecast> logged = forecast_log(model_, {}, path_, options);
  EXPECT_NE(logged[0].middle.survival[1], plain[0].middle.survival[1]);
}

}  // namespace
}  // namespace oas
