#include "oas/estimation/likelihood/row_likelihood.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/sensors/sensor_fit.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/log_score.hpp"
#include "oas/logs/log_files.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_same_bits(const LikelihoodPass& one, const LikelihoodPass& other) {
  EXPECT_EQ(one.log_likelihood, other.log_likelihood);
  EXPECT_EQ(one.score, other.score);
  EXPECT_EQ(one.counts, other.counts);
  EXPECT_EQ(one.batch_scores, other.batch_scores);
  EXPECT_EQ(one.batch_steps, other.batch_steps);
}

class LikelihoodOfLogs : public ::testing::Test {
 protected:
  std::string simulate(const Pomdp& model, std::size_t steps, const std::string& name,
                       std::uint32_t replication = 0, std::size_t missing_every = 0) {
    ClosedLoop loop(model, {}, 77, replication);
    Trajectory rows;
    loop.advance(steps, rows);
    for (std::size_t t = 5; missing_every > 0 && t < steps; t += missing_every) {
      rows.observations[t] = kMissing;
    }
    LogWriter writer(folder_.file(name), model, {});
    writer.write(rows, 0);
    writer.commit();
    return folder_.file(name);
  }

  Estimation options(const char* estimator, int threads = 0) {
    Estimation how;
    how.estimator = estimator;
    how.estimate.parallelism = {threads};
    how.estimate.carried_draws = 0;  // they have tests of their own, and take seconds
    return how;
  }

  template <class Function>
  std::string message(const Function& function) {
    try {
      function();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no exception";
  }

  test::TemporaryDirectory folder_;
};

// Runs cross windows (of 2^19 rows), windows cross files. The same bits as in memory, and what a
// pass over all rows at once gives.
TEST_F(LikelihoodOfLogs, FilesReadAgainGiveWhatMemoryGives) {
  for (const Pomdp& model : {pest_control(), robot_corridor()}) {
    const std::vector<std::string> paths = {simulate(model, 540'000, "long.csv", 0, 1000),
                                            simulate(model, 3, "short.csv", 1),
                                            simulate(model, 600'000, "last.csv.zst", 2)};
    LogFiles source(model, paths);
    RowLikelihood kept(model, std::size_t{1} << 30);
    kept.read(source, {});
    source.rewind();
    RowLikelihood read(model, 1000);
    read.read(source, {});
    EXPECT_TRUE(kept.in_memory());
    EXPECT_FALSE(read.in_memory());
    EXPECT_EQ(read.rows({}).transitions, kept.rows({}).transitions);
    PassOptions batches;
    batches.batches = 100;
    const LikelihoodPass expected = kept.stored().pass(model.transition(), batches, {});
    const LikelihoodPass pass = read.pass(model.transition(), batches, {});
    expect_same_bits(pass, kept.pass(model.transition(), batches, {}));
    EXPECT_NEAR(pass.log_likelihood, expected.log_likelihood, 1e-7);
    for (std::size_t i = 0; i < pass.counts.size(); ++i) {
      EXPECT_NEAR(pass.counts[i], expected.counts[i], 1e-6);
    }
    EXPECT_GE(pass.batch_steps.size(), 90U);
    std::int64_t rows = 0;
    std::int64_t runs = 0;
    read.visit_rows([&](Action, Observation, bool starts) {
      ++rows;
      runs += starts;
    });
    EXPECT_EQ(rows, 1'140'003);
    EXPECT_EQ(runs, 3);
  }
}

// Windows are cut elsewhere than blocks in memory, and with them the stretches of equal weight.
TEST_F(LikelihoodOfLogs, ForgettingIsTheSameFromFiles) {
  const Pomdp model = robot_corridor();
  const std::vector<std::string> paths = {simulate(model, 540'000, "long.csv", 0, 1000),
                                          simulate(model, 600'000, "last.csv", 2)};
  LogFiles source(model, paths);
  RowLikelihood kept(model, std::size_t{1} << 30);
  kept.read(source, {});
  source.rewind();
  RowLikelihood read(model, 1000);
  read.read(source, {});
  for (const Forgetting& forgetting :
       {Forgetting{300'000.0, 0}, Forgetting{1000.0, 0}, Forgetting{0.0, 700'000}}) {
    PassOptions weights;
    weights.forgetting = forgetting;
    const LikelihoodPass expected = kept.stored().pass(model.transition(), weights, {});
    const LikelihoodPass pass = read.pass(model.transition(), weights, {});
    expect_same_bits(pass, kept.pass(model.transition(), weights, {}));
    EXPECT_NEAR(pass.log_likelihood, expected.log_likelihood,
                1e-4 * std::abs(expected.log_likelihood));
    double total = 0.0;
    for (std::size_t i = 0; i < pass.counts.size(); ++i) {
      EXPECT_NEAR(pass.counts[i], expected.counts[i], 0.5 + 1e-3 * expected.counts[i]);
      total += pass.counts[i];
    }
    EXPECT_NEAR(total, forgetting.mean_weight(0, 1'140'000) * 1'140'000, 2.0);
  }
}

// Runs end within windows, at their ends and far behind them; many are short.
TEST_F(LikelihoodOfLogs, AgeWithinRunsIsTheSameFromFiles) {
  const Pomdp model = robot_corridor();
  ClosedLoop loop(model, {}, 77, 0);
  LogColumns columns;
  columns.run = true;
  LogWriter writer(folder_.file("units.csv"), model, columns);
  long unit = 0;
  std::int64_t expected_weight = 0;
  constexpr std::int64_t kWindow = 1 << 19;  // of RowLikelihood
  const Forgetting window{0.0, 8'000, Age::run};
  // The second run ends where a window does, the fourth covers one and a half.
  const std::vector<std::int64_t> lengths = {kWindow - 200'000, 200'000, 30'000, 800'000, 5};
  const auto write = [&](std::int64_t length) {
    Trajectory rows;
    loop.advance(static_cast<std::size_t>(length), rows);
    writer.write(rows, unit++);
    expected_weight += std::min(length, window.window);
  };
  for (const std::int64_t length : lengths) write(length);
  for (int i = 0; i < 300; ++i) write(100);
  writer.commit();
  const std::vector<std::string> paths = {folder_.file("units.csv")};
  LogFiles source(model, paths);
  RowLikelihood kept(model, std::size_t{1} << 30);
  kept.read(source, {});
  source.rewind();
  RowLikelihood read(model, 1000);
  read.read(source, {});
  EXPECT_EQ(kept.run_lengths(), kept.stored().run_lengths());
  EXPECT_EQ(read.run_lengths(), kept.run_lengths());
  for (const Forgetting& forgetting : {window, Forgetting{1000.0, 0, Age::run}}) {
    PassOptions weights;
    weights.forgetting = forgetting;
    const LikelihoodPass expected = kept.stored().pass(model.transition(), weights, {});
    const LikelihoodPass pass = read.pass(model.transition(), weights, {});
    expect_same_bits(pass, kept.pass(model.transition(), weights, {}));
    EXPECT_NEAR(pass.log_likelihood, expected.log_likelihood,
                1e-4 * std::abs(expected.log_likelihood));
    double total = 0.0;
    for (std::size_t i = 0; i < pass.counts.size(); ++i) {
      EXPECT_NEAR(pass.counts[i], expected.counts[i], 0.5 + 1e-3 * expected.counts[i]);
      total += pass.counts[i];
    }
    if (forgetting == window) {
      const auto runs = static_cast<double>(lengths.size() + 300);
      const double lost = model.timing() == Timing::before ? runs : 0.0;  // last rows make no step
      EXPECT_NEAR(total, static_cast<double>(expected_weight) - lost, 1.0);
    }
  }
}

TEST_F(LikelihoodOfLogs, ThreadsAndMemoryDoNotMatter) {
  const Pomdp model = robot_corridor();
  const std::vector<std::string> paths = {simulate(model, 20'000, "a.csv", 0, 50),
                                          simulate(model, 3'000, "b.csv", 1)};
  const TransitionEstimate one = estimate_from_logs(model, paths, options("oas-ml", 1));
  for (const int threads : {2, 4}) {
    const TransitionEstimate many = estimate_from_logs(model, paths, options("oas-ml", threads));
    EXPECT_EQ(many.transition, one.transition);
    EXPECT_EQ(many.upper, one.upper);  // standard errors may be NaN
    EXPECT_EQ(many.fit_p_value, one.fit_p_value);
  }
  Estimation tight = options("oas-ml", 1);
  tight.evidence.memory_limit = 0;
  const TransitionEstimate read = estimate_from_logs(model, paths, tight);
  for (std::size_t i = 0; i < read.standard_error.size(); ++i) {
    EXPECT_NEAR(read.transition.values()[i], one.transition.values()[i], 1e-6);
  }
  EXPECT_EQ(one.rows, 23'000);
  EXPECT_EQ(one.runs, 2);
  EXPECT_EQ(one.missing, 400);
}

TEST_F(LikelihoodOfLogs, EmAndOasMlEndAtTheSamePlace) {
  const Pomdp model = pest_control();
  const std::vector<std::string> paths = {simulate(model, 20'000, "log.csv")};
  const TransitionEstimate fast = estimate_from_logs(model, paths, options("oas-ml"));
  const TransitionEstimate slow = estimate_from_logs(model, paths, options("em"));
  EXPECT_NEAR(*fast.log_likelihood, *slow.log_likelihood, 1e-3);
  EXPECT_LT(fast.passes, slow.passes);
  EXPECT_EQ(fast.estimator, "oas-ml");
  EXPECT_THAT(slow.brief(), HasSubstr("em: log-likelihood"));
}

TEST_F(LikelihoodOfLogs, NeedsNoPropensities) {
  const Pomdp model = robot_corridor();  // `after` timing
  const std::string path = folder_.file("bare.csv");
  ClosedLoop loop(model, {}, 1, 0);
  Trajectory rows;
  loop.advance(5'000, rows);
  LogColumns columns;
  columns.propensity = false;
  LogWriter writer(path, model, columns);
  writer.write(rows, 0);
  writer.commit();
  const std::vector<std::string> paths = {path};
  EXPECT_EQ(estimate_from_logs(model, paths, options("oas-ml")).rows, 5'000);
}

TEST_F(LikelihoodOfLogs, AnObservationThatCannotBeIsNamedWithItsLine) {
  PomdpParts parts = pest_control().parts();
  std::vector<double> sensors(parts.sensors.values().begin(), parts.sensors.values().end());
  const auto width = static_cast<std::size_t>(parts.observations.size());
  for (std::size_t s = 0; s < 2; ++s) {  // under action 0 the last observation never comes
    sensors[s * width] += sensors[s * width + width - 1];
    sensors[s * width + width - 1] = 0.0;
  }
  parts.sensors = ObservationModel(2, 2, static_cast<int>(width), sensors);
  const Pomdp model(parts);
  const std::string path = folder_.file("log.csv");
  test::spill(path, "# oas-log/1 timing=before\naction,observation\n0,0\n1,2\n0,2\n0,1\n");
  const std::vector<std::string> paths = {path};
  const std::string said =
      message([&] { static_cast<void>(estimate_from_logs(model, paths, options("oas-ml"))); });
  EXPECT_THAT(said, HasSubstr("log.csv:5"));
  EXPECT_THAT(said, HasSubstr("probability 0 in every state"));
}

// The sensors of one action are mixed up: the estimate says so. With the right ones it is silent.
TEST_F(LikelihoodOfLogs, WrongSensorsAreFoundOut) {
  const Pomdp truth = machine_maintenance();
  const std::vector<std::string> paths = {simulate(truth, 50'000, "log.csv")};
  const TransitionEstimate good = estimate_from_logs(truth, paths, options("oas-ml"));
  EXPECT_GT(*good.fit_p_value, 1e-3);
  EXPECT_THAT(good.warnings, Not(Contains(HasSubstr("does not fit"))));
  PomdpParts parts = truth.parts();
  std::vector<double> sensors(parts.sensors.values().begin(), parts.sensors.values().end());
  const auto width = static_cast<std::ptrdiff_t>(parts.observations.size());
  const auto first = sensors.begin();
  std::rotate(first, first + 1, first + width);  // P(· | state 0, action 0)
  parts.sensors =
      ObservationModel(truth.num_states(), truth.num_actions(), truth.num_observations(), sensors);
  const TransitionEstimate bad = estimate_from_logs(Pomdp(parts), paths, options("oas-ml"));
  EXPECT_LT(*bad.fit_p_value, 1e-6);
  EXPECT_THAT(bad.warnings, Contains(HasSubstr("does not fit the sensors")));
  EXPECT_THAT(bad.warnings, Contains(HasSubstr("nor in timing")));
  EXPECT_THAT(bad.warnings, Contains(HasSubstr("the sensors are wrong")));
}

// The sensors are right, the timing is not: the message says so, with both p-values.
TEST_F(LikelihoodOfLogs, AWrongTimingIsNotBlamedOnTheSensors) {
  for (const Pomdp& truth : {machine_maintenance(), robot_corridor(), network_link()}) {
    simulate(truth, 50'000, "log.csv");
    std::string text = test::slurp(folder_.file("log.csv"));
    text.erase(0, text.find('\n') + 1);  // "# oas-log/1 timing=…"
    test::spill(folder_.file("bare.csv"), text);
    const std::vector<std::string> paths = {folder_.file("bare.csv")};
    PomdpParts parts = truth.parts();
    parts.timing = truth.timing() == Timing::before ? Timing::after : Timing::before;
    const TransitionEstimate bad = estimate_from_logs(Pomdp(parts), paths, options("oas-ml"));
    EXPECT_LT(*bad.fit_p_value, 1e-4);
    const std::string right(to_string(truth.timing()));
    EXPECT_THAT(bad.warnings, Contains(HasSubstr("it does in timing " + right + " (p = ")));
    const TransitionEstimate good = estimate_from_logs(truth, paths, options("oas-ml"));
    EXPECT_GT(*good.fit_p_value, 1e-4);
    EXPECT_THAT(good.warnings, Not(Contains(HasSubstr("timing"))));
  }
}

// P-values of the truth itself are uniform: mean 1/2, standard deviation 1/√12.
TEST_F(LikelihoodOfLogs, PValuesOfTheTruthAreUniform) {
  for (const Pomdp& model : {pest_control(), robot_corridor()}) {
    double sum = 0.0;
    constexpr std::uint32_t kLogs = 200;
    for (std::uint32_t r = 0; r < kLogs; ++r) {
      ClosedLoop loop(model, {}, 5, r);
      Trajectory rows;
      loop.advance(2'000, rows);
      SensorFitTest test(model);
      for (std::size_t t = 0; t < rows.size(); ++t) {
        const RunStart start;
        test.add(rows.actions[t], rows.observations[t], t == 0 ? &start : nullptr);
      }
      sum += test.finish().p_value;
    }
    EXPECT_NEAR(sum / kLogs, 0.5, 5.0 / std::sqrt(12.0 * kLogs));
  }
}

TEST_F(LikelihoodOfLogs, ScoresAreMeansOfLogProbabilities) {
  const Pomdp model = pest_control();
  const Pomdp other = model.with_transition(TransitionModel::uniform(2, 2));
  const std::vector<std::string> paths = {simulate(model, 5'000, "a.csv", 0, 7),
                                          simulate(model, 2'000, "b.csv", 1)};
  const Pomdp near = model.with_transition(mixed_with_uniform(model.transition(), 0.05));
  const std::vector<Pomdp> models = {model, other, near};
  const LogScore score = score_logs(models, paths, {1});
  double sum = 0.0;
  std::int64_t observed = 0;
  for (const std::string& path : paths) {
    LogReader reader(path, model);
    BeliefFilter filter(model);
    for (LogBlock block; reader.read_block(block, 100);) {
      for (std::size_t t = 0; t < block.rows.size(); ++t) {
        const Observation seen = block.rows.observations[t];
        const double p = filter.update(block.rows.actions[t], seen);
        if (seen == kMissing) continue;
        sum += std::log(p);
        ++observed;
      }
    }
  }
  EXPECT_NEAR(score.models[0].value, sum / static_cast<double>(observed), 1e-12);
  EXPECT_NEAR(score.models[1].value - score.models[0].value, score.differences[1].value, 1e-12);
  EXPECT_LT(score.differences[1].value, -5.0 * score.differences[1].standard_error);
  EXPECT_LT(5.0 * score.differences[2].standard_error, score.models[2].standard_error);
  EXPECT_EQ(score.differences[0].value, 0.0);
  EXPECT_EQ(score.rows, 7'000);
  EXPECT_EQ(score.runs, 2);
  const LogScore threads = score_logs(models, paths, {3});
  EXPECT_EQ(threads.models[1].value, score.models[1].value);
  EXPECT_EQ(threads.models[1].standard_error, score.models[1].standard_error);
  const std::vector<Pomdp> unlike = {model, machine_maintenance()};
  EXPECT_THAT(message([&] { static_cast<void>(score_logs(unlike, paths)); }),
              HasSubstr("differ in actions, observations, timing or rows"));
}

}  // namespace
}  // namespace oas
