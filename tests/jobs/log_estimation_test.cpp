#include "oas/jobs/log_estimation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/estimation/spectral/spectral.hpp"
#include "oas/jobs/empirical_error.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;

Estimation moments(int threads = 0) {
  Estimation how;
  how.estimator = "oas-overlap";
  how.estimate.parallelism = {threads};
  return how;
}

Trajectory play(const Pomdp& model, const char* policy, std::size_t steps,
                std::uint32_t replication) {
  PolicyOptions options;
  options.name = policy;
  ClosedLoop loop(model, options, 77, replication);
  Trajectory rows;
  loop.advance(steps, rows);
  return rows;
}

class LogEstimation : public ::testing::Test {
 protected:
  std::string write(const Pomdp& model, const Trajectory& rows, const std::string& name,
                    bool propensity = true) {
    const std::string path = folder_.file(name);
    LogColumns columns;
    columns.propensity = propensity;
    LogWriter writer(path, model, columns);
    writer.write(rows, 0);
    writer.commit();
    return path;
  }

  std::string message(const Pomdp& model, const std::vector<std::string>& paths,
                      const Estimation& how = moments()) {
    try {
      static_cast<void>(estimate_from_logs(model, paths, how));
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no exception";
  }

  test::TemporaryDirectory folder_;
};

TEST_F(LogEstimation, EqualsFoldingInMemoryToTheBit) {
  for (const Pomdp& model : {machine_maintenance(), robot_corridor()}) {
    const Trajectory rows = play(model, "belief", 150'000, 0);
    const std::vector<std::string> paths = {write(model, rows, "log.csv")};
    const LeftInverses inverses(model);
    FoldOptions fold;
    fold.inverse_propensity = model.timing() == Timing::after;
    PairFolder folder(inverses, model.timing(), fold);
    folder.add(rows.actions, rows.observations, rows.propensities);
    const TransitionEstimate expected = estimate_oas(folder.finish(), inverses, model);
    const TransitionEstimate estimate = estimate_from_logs(model, paths, moments());
    EXPECT_EQ(estimate.transition, expected.transition);
    EXPECT_EQ(estimate.standard_error, expected.standard_error);
  }
}

TEST_F(LogEstimation, ThreadsDoNotChangeABit) {
  const Pomdp model = robot_corridor();  // weighted: sums of doubles
  std::vector<std::string> paths;
  for (std::uint32_t r = 0; r < 7; ++r) {
    paths.push_back(write(model, play(model, "belief", 3000 + 500 * r, r),
                          "log" + std::to_string(r) + ".csv.zst"));
  }
  const TransitionEstimate one = estimate_from_logs(model, paths, moments(1));
  for (const int threads : {2, 3, 8}) {
    const TransitionEstimate many = estimate_from_logs(model, paths, moments(threads));
    EXPECT_EQ(many.transition, one.transition);
    EXPECT_EQ(many.standard_error, one.standard_error);
    EXPECT_EQ(many.rows, one.rows);
  }
  EXPECT_EQ(one.runs, 7);
}

TEST_F(LogEstimation, PairsDoNotCrossFiles) {
  const Pomdp model = pest_control();
  const Trajectory rows = play(model, "uniform", 1000, 0);
  const std::string path = write(model, rows, "log.csv");
  const std::vector<std::string> paths = {path, path, path};
  const TransitionEstimate estimate = estimate_from_logs(model, paths, moments());
  EXPECT_EQ(estimate.pairs[0] + estimate.pairs[1], 3 * 999);
}

TEST_F(LogEstimation, AfterTimingRefusesWhatCannotBeWeighted) {
  const Pomdp model = robot_corridor();
  const Trajectory rows = play(model, "belief", 1000, 0);
  const std::vector<std::string> bare = {write(model, rows, "bare.csv", false)};
  EXPECT_THAT(message(model, bare), HasSubstr("no column propensity"));
  const std::vector<std::string> certain = {
      write(model, play(model, "round-robin", 1000, 0), "certain.csv")};
  EXPECT_THAT(message(model, certain), HasSubstr("all 1000 propensities are 1"));
  Estimation options = moments();
  options.evidence.actions_ignore_observations = true;
  EXPECT_EQ(message(model, certain, options), "no exception");
  EXPECT_EQ(message(model, bare, options), "no exception");
}

TEST_F(LogEstimation, WarnsWhenSomeActionsWereCertain) {
  const Pomdp model = robot_corridor();
  Trajectory rows = play(model, "belief", 5000, 0);
  rows.propensities[17] = 1.0;
  const std::vector<std::string> paths = {write(model, rows, "log.csv")};
  EXPECT_THAT(estimate_from_logs(model, paths, moments()).warnings,
              ::testing::Contains(HasSubstr("1 of 5000 rows have propensity 1")));
}

TEST_F(LogEstimation, WarnsWhenOneRowWeighsTooMuch) {
  const Pomdp model = robot_corridor();
  Trajectory rows = play(model, "belief", 5000, 0);
  const auto heavy = ::testing::Contains(HasSubstr("smallest propensity"));
  EXPECT_THAT(
      estimate_from_logs(model, std::vector{write(model, rows, "log.csv")}, moments()).warnings,
      ::testing::Not(heavy));
  rows.propensities[17] = 1e-4;
  EXPECT_THAT(
      estimate_from_logs(model, std::vector{write(model, rows, "log.csv")}, moments()).warnings,
      heavy);
}

// Twenty pairs in twenty files say next to nothing, and so do their error bars.
TEST_F(LogEstimation, ManySmallFilesGiveWideErrorBars) {
  const Pomdp model = pest_control();
  std::vector<std::string> paths;
  for (std::uint32_t r = 0; r < 20; ++r) {
    paths.push_back(write(model, play(model, "uniform", 2, r), std::to_string(r) + ".csv"));
  }
  const TransitionEstimate estimate = estimate_from_logs(model, paths, moments());
  EXPECT_EQ(estimate.num_batches, 20);
  ASSERT_FALSE(estimate.standard_error.empty());
  for (std::size_t i = 0; i < estimate.lower.size(); ++i) {
    EXPECT_GT(estimate.upper[i] - estimate.lower[i], 0.3) << i;
  }
  EXPECT_EQ(estimate.status, EstimateStatus::flagged);
}

// Whatever the settings are, none is passed over: each is looked at, or refused by name.
TEST_F(LogEstimation, SettingsThatAnEstimatorDoesNotLookAtAreRefused) {
  const Pomdp model = pest_control();
  for (const EstimatorInfo& info : estimators()) {
    for (const SharedSetting& setting : estimation_settings()) {
      const auto& by = setting.by;
      if (std::find(by.begin(), by.end(), info.name) != by.end()) continue;
      const std::string value = setting.info.type.empty()     ? "true"
                                : !setting.info.value.empty() ? setting.info.value
                                : setting.info.accepts("100") ? "100"
                                                              : "log";
      const std::vector<Setting> given = {{"--" + setting.info.name, value}};
      try {
        static_cast<void>(estimation_from(std::string(info.name), model, given));
        ADD_FAILURE() << info.name << " passes over " << setting.info.name;
      } catch (const InvalidArgument& error) {
        EXPECT_EQ(error.what(),
                  fmt::format("--{}: {} does not use it; {} {}", setting.info.name, info.name,
                              fmt::join(by, ", "), by.size() == 1 ? "does" : "do"));
      }
    }
  }
}

TEST_F(LogEstimation, OptionsThatAnEstimatorDoesNotLookAtAreRefused) {
  const Pomdp model = pest_control();
  const std::vector<std::string> log = {write(model, play(model, "uniform", 2000, 0), "log.csv")};
  for (const char* name : {"oas-overlap", "oas-weighted", "particle", "spectral"}) {
    Estimation how;
    how.estimator = name;
    how.estimate.prior = 5.0;
    EXPECT_EQ(message(model, log, how),
              fmt::format("prior: {} does not use it; oas-ml, em do", name));
  }
  Estimation how;
  how.estimate.confidence = 7.0;
  EXPECT_EQ(message(model, log, how), "confidence is '7'; it must be a number above 0 and below 1");
  how = {};
  how.evidence.particles.particles = 7;
  EXPECT_EQ(message(model, log, how), "particles: oas-ml does not use it; particle does");
  how = {};
  how.bootstrap.resamples = 30;
  EXPECT_EQ(message(model, log, how),
            "resamples: used only by bootstrap error bars (--error-bars)");
  how.bootstrap.error_bars = ErrorBars::block_bootstrap;
  EXPECT_EQ(message(model, log, how), "no exception");
}

TEST_F(LogEstimation, SettingsThatNeedOthersAreRefusedWithoutThem) {
  const AnyModel finite = pest_control();
  const auto said = [&](const char* estimator, std::vector<Setting> settings) -> std::string {
    try {
      static_cast<void>(estimation_from(estimator, finite, settings));
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  const Setting parametric = {"--error-bars", "parametric-bootstrap"};
  EXPECT_THAT(said("oas", {{"--seed", "1"}}),
              HasSubstr("--seed: used only by bootstrap error bars"));
  EXPECT_EQ(said("oas", {{"--seed", "1"}, parametric}), "");
  EXPECT_THAT(said("oas", {{"--memory", "256"}}), HasSubstr("--memory: moments keep no rows"));
  EXPECT_EQ(said("oas", {{"--memory", "256"}, parametric}), "");
  EXPECT_THAT(said("oas", {{"--age", "log"}}), HasSubstr("half-life or a window"));
  EXPECT_EQ(said("oas", {{"--age", "log"}, {"--window", "5"}}), "");
  EXPECT_THAT(said("oas", {{"--window", "5"}, parametric}), HasSubstr("bootstraps do not support"));
  EXPECT_THAT(said("oas", {{"--search", "refined"}}), HasSubstr("only real-valued observations"));
  EXPECT_EQ(said("particle", {{"--seed", "1"}}), "");
  EXPECT_THAT(said("oas", {{"--magic", "1"}}), HasSubstr("oas has no setting '--magic'"));
}

// With a prior the estimate is not where the log fits best, which is no fault of the sensors.
TEST_F(LogEstimation, APriorIsNotAskedToFit) {
  const Pomdp model = pest_control();
  const std::vector<std::string> log = {write(model, play(model, "uniform", 3000, 0), "log.csv")};
  Estimation how;
  EXPECT_TRUE(estimate_from_logs(model, log, how).fit_p_value.has_value());
  how.estimate.prior = 100.0;
  EXPECT_FALSE(estimate_from_logs(model, log, how).fit_p_value.has_value());
}

// What is said of a row speaks of the error bars that are shown.
TEST_F(LogEstimation, PoorRowsAreThoseOfTheErrorBarsInUse) {
  const Pomdp model = machine_maintenance();
  const std::vector<std::string> log = {write(model, play(model, "belief", 3000, 0), "log.csv")};
  Estimation how;
  how.bootstrap.error_bars = ErrorBars::block_bootstrap;
  how.bootstrap.resamples = 20;
  const TransitionEstimate estimate = estimate_from_logs(model, log, how);
  int poor = 0;
  for (std::size_t row = 0; row < estimate.standard_error.size(); row += 4) {
    const auto first = estimate.standard_error.begin() + static_cast<std::ptrdiff_t>(row);
    poor += *std::max_element(first, first + 4) > 0.1;
  }
  const auto said = std::count_if(
      estimate.warnings.begin(), estimate.warnings.end(),
      [](const std::string& text) { return text.find("poorly determined") != std::string::npos; });
  EXPECT_EQ(said, poor);
}

TEST_F(LogEstimation, TheFirstBadFileIsReported) {
  const Pomdp model = pest_control();
  const std::string good = write(model, play(model, "uniform", 100, 0), "good.csv");
  const std::vector<std::string> paths = {good, folder_.file("first"), folder_.file("second")};
  EXPECT_THAT(message(model, paths), HasSubstr("first"));
  EXPECT_THAT(message(model, {}), HasSubstr("no log"));
}

TEST(EmpiricalErrorTest, ThreadsDoNotChangeABitAndSeedsDo) {
  const Pomdp model = robot_corridor();
  EmpiricalErrorOptions options;
  options.steps = 3000;
  options.replications = 6;
  const EmpiricalError one = empirical_error(model, options, {1});
  EXPECT_EQ(empirical_error(model, options, {2}).errors, one.errors);
  EXPECT_EQ(empirical_error(model, options, {5}).errors, one.errors);
  options.seed = 2;
  EXPECT_NE(empirical_error(model, options, {1}).errors, one.errors);
}

TEST(EmpiricalErrorTest, ExtrapolatesByTheRate) {
  EmpiricalError error;
  error.mean = 0.2;
  EXPECT_DOUBLE_EQ(error.steps_for(0.1, 1000), 4000.0);
}

TEST(EmpiricalErrorTest, BadOptionsAreNamed) {
  EmpiricalErrorOptions options;
  options.replications = 1;
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.replications = 2;
  options.steps = 1;
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.steps = 2;
  options.estimator = "magic";
  EXPECT_THROW(options.validate(), InvalidArgument);
}

// Files, runs and threads do not matter to the spectral estimator; propensities are not needed.
TEST_F(LogEstimation, SpectralEqualsFoldingInMemoryToTheBit) {
  for (const Pomdp& model : {spectrum_access(), robot_corridor()}) {
    const Trajectory one = play(model, "uniform", 60'000, 0);
    const Trajectory two = play(model, "uniform", 90'000, 1);
    const std::vector<std::string> paths = {write(model, one, "one.csv", false),
                                            write(model, two, "two.csv.gz", false)};
    TripleFolder folder(model.num_actions(), model.num_observations());
    folder.add(one.actions, one.observations);
    folder.start_run();
    folder.add(two.actions, two.observations);
    Rng rng({1, 0, Role::estimation});
    const TransitionEstimate expected = estimate_spectral(folder, model, {}, rng);
    Estimation how;
    how.estimator = "spectral";
    for (const int threads : {1, 2}) {
      how.estimate.parallelism = {threads};
      const TransitionEstimate estimate = estimate_from_logs(model, paths, how);
      EXPECT_EQ(estimate.transition, expected.transition);
      EXPECT_EQ(estimate.warnings, expected.warnings);
      EXPECT_EQ(estimate.rows, 150'000);
      EXPECT_EQ(estimate.runs, 2);
      EXPECT_EQ(estimate.estimator, "spectral");
    }
  }
}

}  // namespace
}  // namespace oas
