// Rows that are reading-first against the same rows shifted by hand to timing `after`, and from a
// simulation back to the truth.
#include <gmock/gmock.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/log_forecast.hpp"
#include "oas/jobs/log_score.hpp"
#include "oas/jobs/log_simulation.hpp"
#include "oas/logs/log_files.hpp"
#include "reading_first_support.hpp"
#include "support/random_densities.hpp"
#include "support/temporary_directory.hpp"
#include "support/worst.hpp"

namespace oas {
namespace {

using test::reading_model;
using testing::HasSubstr;

// A log of one run by simulation, and its rows as LogFiles gives them.
struct SimulatedRows {
  SimulatedRows(const AnyModel& model, const std::string& path, std::int64_t runs) {
    LogSimulationOptions options;
    options.policy = PolicyOptions{};
    options.runs = runs;
    options.steps = 400;
    options.seed = 3;
    simulate_log(model, options, path);
    const std::vector<std::string> paths = {path};
    std::visit(
        [&](const auto& any) {
          LogFiles files(any, paths);
          for (RowBlock block; files.next(block);) rows.add(block);
        },
        model);
  }
  StoredRows rows;
};

TransitionEstimate estimate_of(std::string_view estimator, const AnyModel& model,
                               const RowBlock& rows) {
  EvidenceOptions options;
  options.draws = 200;
  Evidence evidence = make_evidence(estimator, model, options);
  evidence.add(rows);
  EstimateOptions asked;
  asked.error_bars = false;
  return evidence.estimate(asked);
}

double largest_error(const TransitionModel& found, const TransitionModel& truth) {
  test::Worst worst;
  for (std::size_t i = 0; i < truth.values().size(); ++i) {
    worst.take(std::abs(found.values()[i] - truth.values()[i]));
  }
  return worst.value();
}

// Every estimator sees a run that starts at the belief after the first reading.
TEST(ReadingFirst, IsTimingAfterShiftedByOne) {
  const test::TemporaryDirectory folder;
  const Pomdp model = reading_model();
  const SimulatedRows log(model, folder.file("log.csv"), 1);
  const RowBlock rows = log.rows.all();
  ASSERT_EQ(rows.size(), 399U);
  PomdpParts parts = model.parts();
  parts.rows = Rows::action_first;
  parts.first_observation.reset();
  rows.starts[0].belief(model.start(), parts.start);
  const Pomdp shifted(std::move(parts));
  RowBlock plain = rows;
  plain.starts = {};
  for (const EstimatorInfo& info : estimators()) {
    if (info.errors == ErrorSource::batches) continue;  // these pair the first reading
    const auto one = estimate_of(info.name, model, rows).transition;
    const auto other = estimate_of(info.name, shifted, plain).transition;
    if (info.name == "oas-ml") {  // whose climb starts at the moments of these pairs
      EXPECT_LT(largest_error(one, other), 1e-4);
    } else {
      EXPECT_EQ(one, other) << info.name;
    }
  }
}

TEST(ReadingFirst, SavedEvidenceKeepsFirstReadings) {
  const test::TemporaryDirectory folder;
  const Pomdp model = reading_model();
  const SimulatedRows log(model, folder.file("log.csv"), 3);
  const RowBlock rows = log.rows.all();
  EstimateOptions asked;
  asked.error_bars = false;
  for (const EstimatorInfo& info : estimators()) {
    EvidenceOptions options;
    options.draws = 100;
    Evidence all = make_evidence(info.name, model, options);
    all.add(rows);
    Evidence loaded = make_evidence(info.name, model, options);
    loaded.load(all.save());
    EXPECT_EQ(loaded.save(), all.save()) << info.name;
    EXPECT_EQ(loaded.estimate(asked).transition, all.estimate(asked).transition) << info.name;
  }
  StoredRows stored;
  stored.add(rows);
  ByteWriter out;
  stored.save(out);
  StoredRows again;
  const std::string bytes = out.take();
  ByteReader in(bytes);
  again.load(in);
  ASSERT_EQ(again.all().starts.size(), 3U);
  for (std::size_t run = 0; run < 3; ++run) {
    EXPECT_EQ(again.all().starts[run], rows.starts[run]);
    EXPECT_NE(again.all().starts[run], RunStart());
  }
}

// Where all sensors are the same, a row in front stands for the first reading.
TEST(ReadingFirst, PairsBeginWithTheFirstReading) {
  const test::TemporaryDirectory folder;
  const Pomdp model = reading_model(true);
  const SimulatedRows log(model, folder.file("log.csv"), 1);
  const RowBlock rows = log.rows.all();
  Trajectory front;
  front.actions = {Action{0}};
  front.observations = {rows.starts[0].first()->observation};
  front.propensities = {1.0};
  front.actions.insert(front.actions.end(), rows.actions.begin(), rows.actions.end());
  front.observations.insert(front.observations.end(), rows.observations.begin(),
                            rows.observations.end());
  front.propensities.insert(front.propensities.end(), rows.propensities.begin(),
                            rows.propensities.end());
  const Pomdp plain = model.with_rows(Rows::action_first);
  for (const char* name : {"oas", "oas-overlap", "oas-soft"}) {
    EXPECT_EQ(estimate_of(name, model, rows).transition, estimate_of(name, plain, front).transition)
        << name;
  }
  // Weights follow the marginals of all readings, in which that row has another place.
  const auto weighted = estimate_of("oas-weighted", model, rows).transition;
  const auto expected = estimate_of("oas-weighted", plain, front).transition;
  for (std::size_t i = 0; i < weighted.values().size(); ++i) {
    EXPECT_NEAR(weighted.values()[i], expected.values()[i], 0.02);
  }
}

TEST(ReadingFirst, ABlindFirstSensorLeavesThePairOut) {
  const test::TemporaryDirectory folder;
  PomdpParts parts = reading_model().parts();
  parts.first_observation = ObservationModel(3, 1, 4, std::vector<double>(12, 0.25));
  const Pomdp model(std::move(parts));
  const SimulatedRows log(model, folder.file("log.csv"), 1);
  const RowBlock rows = log.rows.all();
  RowBlock plain = rows;
  plain.starts = {};
  const auto pairs = [&](const RowBlock& given) {
    const std::vector<std::int64_t> by_action = estimate_of("oas-overlap", model, given).pairs;
    return by_action[0] + by_action[1];
  };
  EXPECT_EQ(pairs(rows), 398);
  EXPECT_LT(largest_error(estimate_of("oas-overlap", model, rows).transition,
                          estimate_of("oas-overlap", model, plain).transition),
            1e-12);
}

// D_a of many runs of two rows, each a pair of a first reading and what followed, is that of the
// formula with the left inverse of first_observation.
TEST(ReadingFirst, FirstPairsUseTheLeftInverseOfFirstObservation) {
  const test::TemporaryDirectory folder;
  const Pomdp model = reading_model();
  std::string text = "run,observation,action,propensity\n";
  const Eigen::MatrixXd first =
      pseudo_inverse(Matrix(model.first_observation()->matrix(Action{0}))).inverse;
  std::vector<Matrix> expected(2, Matrix::Zero(3, 3));
  for (int run = 0; run < 60; ++run) {
    const int seen = (7 * run + run / 5) % 4;
    const int action = (run / 3) % 2;
    const int next = (3 * run + run / 7) % 4;
    const double propensity = action == 0 ? 0.4 : 0.6;
    text += fmt::format("{},{},{},{}\n{},{},,\n", run, seen, action, propensity, run, next);
    const Eigen::MatrixXd second =
        pseudo_inverse(Matrix(model.sensors().matrix(Action{action}))).inverse;
    expected[action] += first.col(seen) * second.col(next).transpose() / propensity;
  }
  const std::vector<std::string> paths = {folder.file("log.csv")};
  write_text_file(paths[0], text);
  LogFiles files(model, paths);
  for (const char* name : {"oas", "oas-overlap"}) {
    Evidence evidence = make_evidence(name, model, EvidenceOptions());
    files.rewind();
    evidence.read(files, {});
    const PairMoments total = evidence.moments().total();
    for (int a = 0; a < 2; ++a) {
      EXPECT_LE((total.matrix(a) - expected[a]).cwiseAbs().maxCoeff(), 1e-9) << name;
    }
  }
}

// Sensors that do not depend on the action: the same file, read in timing `before`, is as likely.
TEST(ReadingFirst, HasTheLikelihoodOfBeforeWhereSensorsDoNotDependOnTheAction) {
  const test::TemporaryDirectory folder;
  const Pomdp reading = reading_model(true);
  const Pomdp before = reading_model(true, Timing::before);
  const SimulatedRows log(reading, folder.file("log.csv"), 3);
  std::string text = read_text_file(folder.file("log.csv"));
  text = text.substr(text.find('\n') + 1);
  write_text_file(folder.file("plain.csv"), text);
  const std::vector<std::string> paths = {folder.file("plain.csv")};
  const LogScore one = score_logs(std::vector{reading}, paths);
  const LogScore other = score_logs(std::vector{before}, paths);
  EXPECT_EQ(one.rows, other.rows);
  EXPECT_NEAR(one.models[0].value, other.models[0].value, 1e-12);
  Estimation how;
  how.estimate.error_bars = false;
  const TransitionEstimate first = estimate_from_logs(reading, paths, how);
  const TransitionEstimate second = estimate_from_logs(before, paths, how);
  EXPECT_NEAR(*first.log_likelihood, *second.log_likelihood, 1e-6);
}

// Sensors that depend on the action before: read as timing `before`, or as plain `after`, the log
// leads astray.
TEST(ReadingFirst, SimulatedLogsLeadBackToTheTruth) {
  const test::TemporaryDirectory folder;
  const Pomdp model = reading_model();
  LogSimulationOptions options;
  options.policy = PolicyOptions{.name = "belief", .min_action_probability = 0.2};
  options.runs = 40;
  options.steps = 5000;
  const std::string path = folder.file("log.csv");
  simulate_log(model, options, path);
  const std::vector<std::string> paths = {path};
  Estimation how;
  how.estimate.error_bars = false;
  for (const char* name : {"oas", "oas-overlap", "oas-weighted", "oas-soft", "oas-ml"}) {
    how.estimator = name;
    EXPECT_LT(largest_error(estimate_from_logs(model, paths, how).transition, model.transition()),
              0.12)
        << name;
  }
  how.estimator = "oas-ml";
  const std::string text = read_text_file(path);
  write_text_file(path, text.substr(text.find('\n') + 1));
  EXPECT_GT(
      largest_error(estimate_from_logs(reading_model(false, Timing::before), paths, how).transition,
                    model.transition()),
      0.2);
  EXPECT_GT(
      largest_error(estimate_from_logs(model.with_rows(Rows::action_first), paths, how).transition,
                    model.transition()),
      0.2);
}

ContinuousPomdp reading_gaussians() {
  const ContinuousPomdp model = test::gaussian_model(Timing::after);
  const auto gaussian = [](double place) { return VectorDensity({Density::gaussian(place, 1.5)}); };
  return ContinuousPomdp(model.chain().with_rows(Rows::reading_first), model.sensors(),
                         DensitySensors(3, 1, {gaussian(-1), gaussian(2), gaussian(5)}));
}

TEST(ReadingFirst, RealValuedReadingsAreShiftedLikewise) {
  const test::TemporaryDirectory folder;
  const ContinuousPomdp model = reading_gaussians();
  const SimulatedRows log(model, folder.file("log.csv"), 1);
  const RowBlock rows = log.rows.all();
  const FirstReading& first = *rows.starts[0].first();
  ASSERT_EQ(first.reading.size(), 1U);
  for (int s = 0; s < 3; ++s) {
    EXPECT_EQ(first.likelihood[s], (*model.first_density())(Action{0}, State{s})(first.reading));
    for (std::size_t t = 0; t < rows.size(); ++t) {
      ASSERT_EQ(rows.likelihoods[3 * t + s],
                model.sensors()(rows.actions[t], State{s})(rows.readings.subspan(t, 1)));
    }
  }
  std::vector<double> start(3);
  rows.starts[0].belief(model.chain().start(), start);
  PomdpParts parts = model.chain().parts();
  parts.rows = Rows::action_first;
  parts.first_observation.reset();
  parts.start = start;
  const ContinuousPomdp shifted(Pomdp(std::move(parts)), model.sensors());
  RowBlock plain = rows;
  plain.starts = {};
  for (const char* name : {"em", "gibbs"}) {
    EXPECT_EQ(estimate_of(name, model, rows).transition,
              estimate_of(name, shifted, plain).transition)
        << name;
  }
  // Moments pair the first reading too.
  for (const char* name : {"oas-overlap", "oas-soft"}) {
    const TransitionEstimate with = estimate_of(name, model, rows);
    const TransitionEstimate without = estimate_of(name, shifted, plain);
    EXPECT_EQ(with.pairs[0] + with.pairs[1], without.pairs[0] + without.pairs[1] + 1) << name;
  }
}

TEST(ReadingFirst, RealValuedLogsLeadBackToTheTruth) {
  const test::TemporaryDirectory folder;
  const ContinuousPomdp model = reading_gaussians();
  LogSimulationOptions options;
  options.policy = PolicyOptions{.name = "belief", .min_action_probability = 0.2};
  options.runs = 200;
  options.steps = 100;
  const std::string path = folder.file("log.csv");
  simulate_log(model, options, path);
  Estimation how;
  how.estimate.error_bars = false;
  for (const char* name : {"oas-overlap", "oas-soft", "oas-ml"}) {
    how.estimator = name;
    const TransitionEstimate estimate = estimate_from_logs(model, {{path}}, how);
    EXPECT_LT(largest_error(estimate.transition, model.chain().transition()), 0.1) << name;
  }
}

// A unit with one reading has a forecast, and its last action moves the belief on.
TEST(ReadingFirst, ForecastsBeginAfterTheLastReadingOrAction) {
  const test::TemporaryDirectory folder;
  const Pomdp model = reading_model();
  const std::string path = folder.file("log.csv");
  write_text_file(path, "run,observation,action\na,2,\nb,2,1\nc,,\n");
  ForecastOptions options;
  options.question.steps = 1;
  options.question.schedule = {Action{0}};
  const auto units = forecast_log(model, {}, path, options);
  ASSERT_EQ(units.size(), 3U);
  Vector belief(3);
  for (int s = 0; s < 3; ++s) {
    belief[s] =
        model.start()[s] * (*model.first_observation())(Action{0}, State{s}, Observation{2});
  }
  belief /= belief.sum();
  for (int s = 0; s < 3; ++s) {
    EXPECT_NEAR(units[0].belief(3)[s], belief[s], 1e-14);
    double moved = 0.0;
    for (int from = 0; from < 3; ++from) {
      moved += belief[from] * model.transition()(Action{1}, State{from}, State{s});
    }
    EXPECT_NEAR(units[1].belief(3)[s], moved, 1e-14);
    EXPECT_NEAR(units[2].belief(3)[s], model.start()[s], 1e-14);
  }
  for (const UnitForecast& unit : units) EXPECT_EQ(unit.rows, 1);
}

// Agents know the first reading before they act: actions of a greedy policy follow it.
TEST(ReadingFirst, PoliciesActOnTodaysReading) {
  const test::TemporaryDirectory folder;
  PomdpParts parts;
  parts.timing = Timing::after;
  parts.rows = Rows::reading_first;
  parts.states = Labels(2, "state");
  parts.actions = Labels(2, "action");
  parts.observations = Labels(2, "observation");
  parts.transition = TransitionModel(2, 2, std::vector<double>(8, 0.5));
  parts.sensors = ObservationModel(2, 2, 2, {1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0});
  parts.reward = Reward::by_action_state({1.0, 0.0, 0.0, 1.0});
  const Pomdp model(std::move(parts));
  for (const char* policy : {"belief", "memoryless"}) {
    LogSimulationOptions options;
    options.policy = PolicyOptions{.name = policy, .min_action_probability = 0.0};
    options.runs = 30;
    options.steps = 20;
    const std::string path = folder.file("log.csv");
    const SimulatedLog totals = simulate_log(model, options, path);
    EXPECT_EQ(totals.mean_reward(), 1.0) << policy;
    LogReader reader(path, model);
    reader.set_rows(LogRows::as_written);
    LogBlock block;
    ASSERT_TRUE(reader.read_block(block, 1000));
    ASSERT_EQ(block.rows.size(), 600U);
    for (std::size_t t = 0; t < block.rows.size(); ++t) {
      EXPECT_EQ(block.rows.actions[t].value(), block.rows.observations[t].value());
    }
  }
}

TEST(ReadingFirst, SensorsThatDifferNeedAFirstObservation) {
  PomdpParts parts = reading_model().parts();
  parts.first_observation.reset();
  try {
    static_cast<void>(Pomdp(parts));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"first_observation\""));
  }
  parts.timing = Timing::before;
  EXPECT_THROW(static_cast<void>(Pomdp(parts)), InvalidArgument);
}

}  // namespace
}  // namespace oas
