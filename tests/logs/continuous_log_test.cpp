#include <cmath>
#include <string>

#include "logs/log_support.hpp"
#include "oas/logs/csv_cell.hpp"
#include "oas/logs/log_writer.hpp"
#include "support/random_densities.hpp"
#include "support/temporary_directory.hpp"

/// Logs with real-valued observations, and logs that bring likelihoods.
namespace oas::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

ContinuousPomdp line_model() {
  RandomModelOptions options;
  options.num_states = 2;
  options.num_actions = 1;
  return with_densities(options, 1,
                        {VectorDensity({Density::table({0, 1, 2}, {0.5, 0.5})}),
                         VectorDensity({Density::table({1, 3}, {1.0})})});
}

ContinuousPomdp plane_model() {
  RandomModelOptions options;
  options.num_states = 2;
  options.num_actions = 1;
  options.named = true;
  Rng rng({1, 0, Role::test});
  return with_densities(options, 1, {random_gaussian(2, rng), random_gaussian(2, rng)});
}

LogBlock read_block_of(const std::string& text, const ContinuousPomdp& model,
                       const LogOptions& options = {}) {
  LogReader reader(bytes_of(text), "log.csv", model, options);
  LogBlock block;
  EXPECT_TRUE(reader.read_block(block, 100));
  return block;
}

std::string continuous_error(const std::string& text, const ContinuousPomdp& model) {
  try {
    static_cast<void>(read_block_of(text, model));
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ContinuousLog, NumbersBecomeLikelihoods) {
  const LogBlock block =
      read_block_of("run,observation,action\n1,0.5,0\n1,,0\n2,1.5,0\n2,2e0,0\n", line_model());
  EXPECT_THAT(block.readings, ElementsAre(0.5, 0.0, 1.5, 2.0));
  EXPECT_THAT(block.likelihoods, ElementsAre(0.5, 0.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5));
  EXPECT_EQ(block.rows.observations[1], kMissing);
  EXPECT_EQ(block.rows.observations[2].value(), 0);
  EXPECT_THAT(block.run_starts, ElementsAre(0, 2));
}

TEST(ContinuousLog, EmptyComponentsLeaveWhatTheOthersTell) {
  const ContinuousPomdp model = plane_model();
  const LogBlock block =
      read_block_of("action,observation_1,observation_2\n0,0.5,\n0,,-1\n0,,\n0,0.5,-1\n", model);
  EXPECT_EQ(block.rows.observations[2], kMissing);
  EXPECT_EQ(block.rows.observations[0], Observation{0});
  EXPECT_EQ(block.readings[0], 0.5);
  EXPECT_TRUE(std::isnan(block.readings[1]));
  EXPECT_TRUE(std::isnan(block.readings[2]));
  for (std::size_t s = 0; s < 2; ++s) {
    const VectorDensity& density = model.sensors()(Action{0}, State{static_cast<int>(s)});
    EXPECT_DOUBLE_EQ(block.likelihoods[s], density.marginals()[0](0.5));
    EXPECT_DOUBLE_EQ(block.likelihoods[2 + s], density.marginals()[1](-1.0));
    EXPECT_EQ(block.likelihoods[4 + s], 1.0);
    EXPECT_EQ(block.likelihoods[6 + s], density(std::vector{0.5, -1.0}));
  }
}

TEST(ContinuousLog, OutliersAreFaultsMissingOrAllowedFor) {
  const std::string text = "action,observation\n0,0.5\n0,7\n0,2.5\n";
  EXPECT_THAT(continuous_error(text, line_model()), HasSubstr("log.csv:3:2: observation 7 has"));
  LogOptions options;
  options.outliers = "missing";
  const LogBlock missing = read_block_of(text, line_model(), options);
  EXPECT_THAT(missing.likelihoods, ElementsAre(0.5, 0.0, 1.0, 1.0, 0.0, 0.5));
  EXPECT_EQ(missing.rows.observations[1], kMissing);
  options.outliers = "0.1";
  const LogBlock robust = read_block_of(text, line_model(), options);
  EXPECT_EQ(robust.rows.observations[1], Observation{0});
  EXPECT_GT(robust.likelihoods[2], 0.0);
  EXPECT_EQ(robust.likelihoods[2], robust.likelihoods[3]);
  EXPECT_NEAR(robust.likelihoods[0] - robust.likelihoods[1], 0.45, 1e-12);
  EXPECT_GT(robust.likelihoods[1], 0.0);
  for (const char* wrong : {"0", "0.6", "-0.1", "nan", "some", "1e-3x"}) {
    options.outliers = wrong;
    EXPECT_THROW(static_cast<void>(read_block_of(text, line_model(), options)), InvalidArgument)
        << wrong;
  }
}

// Of a vector only the component that cannot be is left out.
TEST(ContinuousLog, OneSensorMayFailAlone) {
  RandomModelOptions options;
  options.num_states = 2;
  options.num_actions = 1;
  const auto model =
      with_densities(options, 1,
                     {VectorDensity({Density::gaussian(0, 1), Density::gamma(2, 1)}),
                      VectorDensity({Density::gaussian(3, 1), Density::gamma(5, 1)})});
  const std::string text = "action,observation_1,observation_2\n0,1,-3\n";
  EXPECT_THAT(continuous_error(text, model),
              HasSubstr("log.csv:2:2: observation (1, -3) has density 0"));
  LogOptions missing;
  missing.outliers = "missing";
  const LogBlock block = read_block_of(text, model, missing);
  EXPECT_EQ(block.rows.observations[0], Observation{0});
  EXPECT_DOUBLE_EQ(block.likelihoods[0], Density::gaussian(0, 1)(1));
  EXPECT_DOUBLE_EQ(block.likelihoods[1], Density::gaussian(3, 1)(1));
}

TEST(ContinuousLog, LikelihoodsAreTakenAsTheyAre) {
  const ContinuousPomdp bare(line_model().chain());
  for (const char* header : {"action,likelihood_1,likelihood_2\n0,0.25,3\n0,,\n",
                             "likelihood_2,likelihood_1,action\n3,0.25,0\n,,0\n"}) {
    const LogBlock block = read_block_of(header, bare);
    EXPECT_THAT(block.likelihoods, ElementsAre(0.25, 3.0, 1.0, 1.0));
    EXPECT_TRUE(block.readings.empty());
    EXPECT_EQ(block.rows.observations[1], kMissing);
  }
  const ContinuousPomdp plane = plane_model();
  const Labels& states = plane.chain().states();
  const std::string named = "action," + csv_cell("likelihood_" + states[1]) + "," +
                            csv_cell("likelihood_" + states[0]) + "\n0,2,1\n";
  EXPECT_THAT(read_block_of(named, plane).likelihoods, ElementsAre(1.0, 2.0));
}

TEST(ContinuousLog, WhatIsWrittenReadsBackToTheBit) {
  const TemporaryDirectory folder;
  const ContinuousPomdp model = plane_model();
  Trajectory rows;
  std::vector<double> readings;
  Rng rng({2, 0, Role::test});
  for (int t = 0; t < 100; ++t) {
    rows.actions.emplace_back(0);
    rows.observations.push_back(t == 50 ? kMissing : Observation{0});
    rows.propensities.push_back(1.0);
    for (int i = 0; i < 2; ++i) readings.push_back(t == 50 ? 0.0 : 3.0 * sample_normal(rng));
  }
  const std::string path = folder.file("log.csv.gz");
  LogWriter writer(path, model, {.propensity = true});
  writer.write(rows, readings, 0);
  writer.commit();
  LogReader reader(path, model);
  LogBlock block;
  ASSERT_TRUE(reader.read_block(block, 1000));
  EXPECT_EQ(block.readings, readings);
  EXPECT_EQ(block.rows.observations, rows.observations);
}

TEST(ContinuousLog, ComponentsThatWereNotReadAndNamesAreWritten) {
  const TemporaryDirectory folder;
  const ContinuousPomdp model = plane_model();
  const std::string path = folder.file("log.csv");
  const double none = std::nan("");
  Trajectory rows;
  for (const Observation seen : {Observation{0}, Observation{0}, kMissing}) {
    rows.actions.emplace_back(0);
    rows.observations.push_back(seen);
  }
  const std::vector<double> readings = {0.5, none, none, -1.0, 0.0, 0.0};
  LogWriter writer(path, model, {.run = true});
  writer.write(rows, readings, 0, "P, 7");
  writer.commit();
  LogReader reader(path, model);
  LogBlock block;
  ASSERT_TRUE(reader.read_block(block, 1000));
  EXPECT_THAT(block.run_names, ElementsAre("P, 7"));
  EXPECT_EQ(block.rows.observations, rows.observations);
  EXPECT_EQ(block.readings[0], 0.5);
  EXPECT_TRUE(std::isnan(block.readings[1]) && std::isnan(block.readings[2]));
  EXPECT_EQ(block.readings[3], -1.0);

  const auto refusal = [&](const std::vector<double>& wrong) {
    LogWriter refusing(folder.file("wrong.csv"), model, {.run = true});
    try {
      refusing.write(rows, wrong, 0);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal({none, none, 1, 1, 1, 1}), "row 0: observation nan is not finite");
  EXPECT_EQ(refusal({1, 1, 1, -INFINITY, 1, 1}), "row 1: observation -inf is not finite");
}

TEST(ContinuousLog, ErrorsNameLineAndValue) {
  const ContinuousPomdp line = line_model();
  const auto rows = [&](const std::string& text) {
    return continuous_error("action,observation\n0,1\n" + text, line);
  };
  EXPECT_EQ(rows("0,3.5\n"),
            "log.csv:3:2: observation 3.5 has density 0 in every state under action '0'");
  EXPECT_EQ(rows("0,abc\n"), "log.csv:3:2: observation 'abc' is not a number");
  EXPECT_EQ(rows("0,inf\n"), "log.csv:3:2: observation 'inf' is not finite");
  EXPECT_EQ(rows("0,1,2\n"), "log.csv:3: 3 fields where the header has 2");
  EXPECT_EQ(rows("1,1\n").substr(0, 12), "log.csv:3:1:");
  RandomModelOptions one;
  one.num_states = one.num_actions = 1;
  const auto beta = with_densities(one, 1, {VectorDensity({Density::beta(0.5, 1.0)})});
  EXPECT_THAT(continuous_error("action,observation\n0,0\n", beta), HasSubstr("infinite density"));
}

TEST(ContinuousLog, BadLikelihoods) {
  const ContinuousPomdp bare(line_model().chain());
  const auto rows = [&](const std::string& text) {
    return continuous_error("action,likelihood_1,likelihood_2\n" + text, bare);
  };
  EXPECT_EQ(rows("0,0,0\n"), "log.csv:2:2: the likelihood is 0 in every state");
  EXPECT_EQ(rows("0,1,-0.5\n"), "log.csv:2:3: likelihood '-0.5' is negative");
  EXPECT_EQ(rows("0,1,x\n"), "log.csv:2:3: likelihood 'x' is not a number");
  EXPECT_EQ(rows("0,1,\n"), "log.csv:2:2: 1 of 2 likelihood cells are empty; all or none may be");
  EXPECT_EQ(rows("0,1,nan\n"), "log.csv:2:3: likelihood 'nan' is not finite");
}

TEST(ContinuousLog, BadHeaders) {
  const ContinuousPomdp line = line_model();
  const ContinuousPomdp plane = plane_model();
  const ContinuousPomdp bare(line.chain());
  const auto header = [](const std::string& text, const ContinuousPomdp& model) {
    return continuous_error(text + "\n", model);
  };
  EXPECT_EQ(header("action,likelihood_1", bare), "log.csv:1: 1 likelihood columns for 2 states");
  EXPECT_THAT(header("action,likelihood_3", bare), HasSubstr("'likelihood_3' is of no state"));
  EXPECT_THAT(header("action,observation", bare), HasSubstr("must hold likelihoods"));
  EXPECT_EQ(header("action", bare), "log.csv:1: column 'likelihood_1' is missing");
  EXPECT_THAT(header("action,observation", plane), HasSubstr("observation_1 to observation_2"));
  EXPECT_THAT(header("action,observation_1", plane), HasSubstr("1 of the 2 columns"));
  EXPECT_THAT(header("action,observation_1,observation_3", plane), HasSubstr("'observation_3'"));
  EXPECT_THAT(header("action,observation,likelihood_1,likelihood_2", line),
              HasSubstr("observations and likelihoods"));
  EXPECT_THAT(header("action,likelihood_1,likelihood_1", bare), HasSubstr("given twice"));
  // With one action it need not be told.
  EXPECT_THAT(header("observation", line), HasSubstr("no rows below the header"));
  EXPECT_THAT(error_of("action,likelihood_1\n", index_model()), HasSubstr("are finite"));
}

}  // namespace
}  // namespace oas::test
