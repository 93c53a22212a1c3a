#include "oas/jobs/log_cells.hpp"

#include <gmock/gmock.h>

#include "oas/core/contracts.hpp"
#include "oas/jobs/log_simulation.hpp"
#include "oas/logs/log_reader.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// `components` numbers a reading, all around `means` [action][state].
ContinuousPomdp gaussians(const Pomdp& chain, const std::vector<double>& means, int components) {
  std::vector<VectorDensity> densities;
  for (const double mean : means) {
    densities.emplace_back(VectorDensity(
        std::vector<Density>(static_cast<std::size_t>(components), Density::gaussian(mean, 1.0))));
  }
  return ContinuousPomdp(chain, DensitySensors(chain.num_states(), chain.num_actions(), densities));
}

class DiscretiseLog : public testing::Test {
 protected:
  std::int64_t discretise_text(const ContinuousPomdp& model, const Cells& cells,
                               const std::string& log) {
    test::spill(log_, log);
    return discretise_log(model, discretise(model, cells), cells, log_, path_);
  }

  const test::TemporaryDirectory folder_;
  const std::string log_ = folder_.file("log.csv");
  const std::string path_ = folder_.file("cells.csv");
};

// Split points belong to the cell on their left; what stands beside observations goes along.
TEST_F(DiscretiseLog, WritesTheCellOfEveryReading) {
  const Pomdp one = test::random_model({.num_states = 1, .num_actions = 1}, 1);
  const ContinuousPomdp model = gaussians(one, {0.0}, 1);
  EXPECT_EQ(discretise_text(model, Cells({{-1.0, 1.0}}),
                            "run,action,observation,propensity,reward,state\n"
                            "7,0,-1,1,0.5,0\n7,0,-0.99,1,0.25,0\n7,0,,1,0,0\n9,0,5,1,-2,0\n"),
            4);
  EXPECT_EQ(test::slurp(path_),
            "# oas-log/1 timing=before\nrun,action,observation,propensity,reward,state\n"
            "7,0,0,1,0.5,0\n7,0,1,1,0.25,0\n7,0,,1,0,0\n9,0,2,1,-2,0\n");
  EXPECT_EQ(discretise_text(model, Cells(std::vector<std::vector<double>>(1)),
                            "action,observation\n0,-3\n0,4\n"),
            2);
  EXPECT_EQ(test::slurp(path_),
            "# oas-log/1 timing=before\nrun,action,observation\n0,0,0\n0,0,0\n");
}

// Boxes, the last component varying fastest.
TEST_F(DiscretiseLog, CutsEveryComponent) {
  const Pomdp one = test::random_model({.num_states = 1, .num_actions = 1}, 1);
  discretise_text(gaussians(one, {0.0}, 2), Cells({{0.0}, {-1.0, 1.0}}),
                  "action,observation_1,observation_2\n0,-5,-5\n0,-5,5\n0,5,0\n0,5,5\n");
  EXPECT_EQ(test::slurp(path_),
            "# oas-log/1 timing=before\nrun,action,observation\n0,0,0\n0,0,2\n0,0,4\n0,0,5\n");
}

// A long log of several runs against the definition, row by row.
TEST_F(DiscretiseLog, KeepsRunsAndRows) {
  const Pomdp chain =
      test::random_model({.num_states = 2, .reward = Reward::Kind::by_action_state}, 3);
  const ContinuousPomdp model = gaussians(chain, {0.0, 2.0, 1.0, 3.0}, 1);
  LogSimulationOptions options;
  options.policy = PolicyOptions{.name = "belief"};
  options.runs = 3;
  options.steps = 40'000;
  options.reward = options.state = true;
  simulate_log(model, options, log_);
  const Cells cells({{0.5, 1.5, 2.5}});
  const Pomdp finite = discretise(model, cells);
  std::int64_t told = 0;
  EXPECT_EQ(
      discretise_log(model, finite, cells, log_, path_, [&](std::int64_t rows) { told += rows; }),
      120'000);
  EXPECT_EQ(told, 120'000);
  LogBlock readings;
  LogBlock found;
  ASSERT_TRUE(LogReader(log_, model).read_block(readings, 1 << 20));
  ASSERT_TRUE(LogReader(path_, finite).read_block(found, 1 << 20));
  for (std::size_t t = 0; t < readings.readings.size(); ++t) {
    const double x = readings.readings[t];
    readings.rows.observations[t] = Observation{(x > 0.5) + (x > 1.5) + (x > 2.5)};
  }
  EXPECT_EQ(found.rows, readings.rows);
  EXPECT_EQ(found.run_starts, readings.run_starts);
}

TEST_F(DiscretiseLog, RefusesLikelihoodsAndBadRows) {
  const Pomdp chain = test::random_model({.num_states = 2, .num_actions = 1}, 1);
  const ContinuousPomdp model = gaussians(chain, {0.0, 2.0}, 1);
  const Cells cells(std::vector<std::vector<double>>{{1.0}});
  EXPECT_THAT(
      [&] { discretise_text(model, cells, "action,likelihood_1,likelihood_2\n0,0.5,0.5\n"); },
      ThrowsMessage<InvalidArgument>(HasSubstr("cells need observations")));
  EXPECT_THAT([&] { discretise_text(model, cells, "action,observation\n0,1\n0,warm\n"); },
              ThrowsMessage<ParseError>(HasSubstr("warm")));
  EXPECT_THAT(folder_.entries(), testing::ElementsAre("log.csv"));  // complete or not at all
}

}  // namespace
}  // namespace oas
