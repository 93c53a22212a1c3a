// Rows that are reading-first, by every road from a log to a number: against sums over all hidden
// paths, and against the same rows shifted by hand to timing `after`.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/log_filter.hpp"
#include "oas/jobs/log_forecast.hpp"
#include "oas/jobs/log_score.hpp"
#include "oas/jobs/log_simulation.hpp"
#include "oas/logs/log_files.hpp"
#include "support/random_densities.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"
#include "support/worst.hpp"

namespace oas {
namespace {

using testing::HasSubstr;

// A row of a file: what was read, then the action.
struct FileRow {
  int observation;  // -1: missing
  int action;       // -1: none
  int state;        // -1: unknown
};

struct FileRun {
  std::vector<FileRow> rows;
  bool unknown = false;  // how it starts
};

// Sums over all paths s_0 … s_{n-1} of one run.
class ReadPaths {
 public:
  ReadPaths(const Pomdp& model, const TransitionModel& transition, const FileRun& run)
      : model_(model),
        transition_(transition),
        rows_(run.rows),
        states_(run.rows.size(), std::vector<double>(model.start().size(), 0.0)) {
    for (int s = 0; s < model.num_states(); ++s) {
      double weight = run.unknown ? 1.0 / model.num_states() : model.start()[s];
      // As in timing `after` a first state that is known is where the run starts.
      if (rows_[0].state >= 0) weight = 1.0;
      path_ = {s};
      walk(weight);
    }
  }

  [[nodiscard]] double likelihood() const { return likelihood_; }
  [[nodiscard]] double smoothed(std::size_t t, int s) const { return states_[t][s] / likelihood_; }

 private:
  [[nodiscard]] double shown(std::size_t t, int s) const {
    const FileRow& row = rows_[t];
    if (row.state >= 0 && row.state != s) return 0.0;
    if (row.observation < 0) return 1.0;
    const Observation seen{row.observation};
    if (t == 0) return (*model_.first_observation())(Action{0}, State{s}, seen);
    return model_.sensors()(Action{rows_[t - 1].action}, State{s}, seen);
  }

  void walk(double weight) {
    const std::size_t t = path_.size() - 1;
    weight *= shown(t, path_[t]);
    if (t + 1 == rows_.size()) {
      likelihood_ += weight;
      for (std::size_t i = 0; i <= t; ++i) states_[i][path_[i]] += weight;
      return;
    }
    for (int next = 0; next < model_.num_states(); ++next) {
      const int from = path_[t];
      path_.push_back(next);
      walk(weight * transition_(Action{rows_[t].action}, State{from}, State{next}));
      path_.pop_back();
    }
  }

  const Pomdp& model_;
  const TransitionModel& transition_;
  const std::vector<FileRow>& rows_;
  std::vector<std::vector<double>> states_;
  std::vector<int> path_;
  double likelihood_ = 0.0;
};

// Sensors that depend on the action before, and one of their own for first readings.
Pomdp reading_model(bool same_sensors = false, Timing timing = Timing::after) {
  test::RandomModelOptions options;
  options.timing = timing;
  options.concentration = 1.0;
  options.min_alpha = 0.2;
  PomdpParts parts = test::random_model(options, 5).parts();
  Rng rng({8, 0, Role::environment});
  if (same_sensors) {
    const auto all = parts.sensors.values();
    std::vector<double> one(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
    one.insert(one.end(), one.begin(), one.begin() + static_cast<std::ptrdiff_t>(one.size()));
    parts.sensors = ObservationModel(3, 2, 4, std::move(one));
  } else if (timing == Timing::after) {
    parts.first_observation = ObservationModel(3, 1, 4, test::random_rows(3, 4, 1.0, 0.0, rng));
  }
  if (timing == Timing::after) parts.rows = Rows::reading_first;
  return Pomdp(std::move(parts));
}

// Three units of 6 rows, interleaved; times of unit 1 jump by three steps before its fourth row,
// the first reading of unit 2 is missing, and units 0 and 1 end without an action.
constexpr int kUnits = 3;
constexpr int kRows = 6;
FileRow file_row(int unit, int t) {
  const int mixed = (17 * unit + 7 * t + unit * t * t) % 30;
  const bool missing = (mixed + t) % 5 == 4 || (unit == 2 && t == 0);
  const bool ends = unit < 2 && t + 1 == kRows;
  return {missing ? -1 : mixed % 4, ends ? -1 : mixed % 2, mixed % 3 == t % 2 ? mixed % 3 : -1};
}
int file_time(int unit, int t) { return t + (unit == 1 && t >= 3 ? 2 : 0); }

std::string file_cell(int value) { return value < 0 ? "" : std::to_string(value); }

std::string reading_log() {
  std::string text =
      "# oas-log/1 timing=after rows=reading-first\ntime,run,observation,action,state\n";
  for (int t = 0; t < kRows; ++t) {
    for (int unit = 0; unit < kUnits; ++unit) {
      const FileRow row = file_row(unit, t);
      text += fmt::format("{},u{},{},{},{}\n", file_time(unit, t), unit, file_cell(row.observation),
                          file_cell(row.action), file_cell(row.state));
    }
  }
  return text;
}

std::vector<FileRun> file_runs(const LogOptions& options) {
  std::vector<FileRun> runs;
  for (int unit = 0; unit < kUnits; ++unit) {
    runs.emplace_back();
    for (int t = 0; t < kRows; ++t) {
      const bool gap = t > 0 && file_time(unit, t) > file_time(unit, t - 1) + 1;
      if (gap && options.gaps == "new-run") runs.push_back({{}, true});
      if (gap && options.gaps == "repeat") {
        runs.back().rows.insert(runs.back().rows.end(), 2, {-1, file_row(unit, t - 1).action, -1});
      }
      FileRow row = file_row(unit, t);
      if (!options.known_states) row.state = -1;
      runs.back().rows.push_back(row);
    }
  }
  return runs;
}

struct ReadingCase {
  std::string gaps;
  bool known_states;
};

void PrintTo(const ReadingCase& one, std::ostream* out) {
  *out << one.gaps << (one.known_states ? " known" : "");
}

class ReadingFleet : public testing::TestWithParam<ReadingCase> {
 protected:
  ReadingFleet() {
    write_text_file(log_, reading_log());
    options_.step = "1";
    options_.gaps = GetParam().gaps;
    options_.known_states = GetParam().known_states;
    runs_ = file_runs(options_);
  }

  [[nodiscard]] double log_probability(const TransitionModel& transition) const {
    double sum = 0.0;
    for (const FileRun& run : runs_) {
      sum += std::log(ReadPaths(model_, transition, run).likelihood());
    }
    return sum;
  }

  test::TemporaryDirectory folder_;
  std::string log_ = folder_.file("log.csv");
  Pomdp model_ = reading_model();
  LogOptions options_;
  std::vector<FileRun> runs_;
};

TEST_P(ReadingFleet, ScoresAreThoseOfAllPaths) {
  const std::vector<Pomdp> models = {model_};
  const LogScore score = score_logs(models, {{log_}}, {}, {}, options_);
  EXPECT_EQ(score.runs, static_cast<std::int64_t>(runs_.size()));
  std::int64_t rows = 0;
  for (const FileRun& run : runs_) rows += static_cast<std::int64_t>(run.rows.size());
  EXPECT_EQ(score.rows, rows);
  EXPECT_NEAR(score.models[0].value * static_cast<double>(score.rows - score.missing),
              log_probability(model_.transition()), 1e-10);
}

TEST_P(ReadingFleet, EstimatesClimbTheLikelihoodOfAllPaths) {
  for (const char* estimator : {"oas-ml", "em"}) {
    for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{0}}) {
      Estimation how;
      how.estimator = estimator;
      how.rows = options_;
      how.evidence.memory_limit = memory;
      how.estimate.error_bars = false;
      const TransitionEstimate estimate = estimate_from_logs(model_, {{log_}}, how);
      ASSERT_TRUE(estimate.log_likelihood);
      EXPECT_NEAR(*estimate.log_likelihood, log_probability(estimate.transition), 1e-8)
          << estimator << " " << memory;
      EXPECT_GE(*estimate.log_likelihood, log_probability(model_.transition()) - 1e-6);
    }
  }
}

TEST_P(ReadingFleet, SmoothedStatesAreThoseOfAllPathsAndLinesThoseOfTheLog) {
  const std::string path = folder_.file("beliefs.csv");
  const auto out = open_output(path);
  const FilteredLog totals = filter_log(model_, log_, *out, {}, options_);
  out->commit();
  EXPECT_NEAR(totals.log_likelihood + 0.0, log_probability(model_.transition()), 1e-9);
  std::ifstream file(path);
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  test::Worst worst;
  for (const FileRun& run : runs_) {
    const ReadPaths paths(model_, model_.transition(), run);
    const bool one_more = run.rows.back().action >= 0;
    for (std::size_t t = 0; t < run.rows.size() + (one_more ? 1 : 0); ++t) {
      ASSERT_TRUE(std::getline(file, line));
      std::vector<std::string> cells;
      std::stringstream stream(line);
      for (std::string one; std::getline(stream, one, ',');) cells.push_back(one);
      ASSERT_EQ(cells.size(), 11U) << line;
      if (t == run.rows.size()) {
        EXPECT_EQ(cells[2] + cells[3], "") << line;
        continue;
      }
      EXPECT_EQ(cells[2], file_cell(run.rows[t].action)) << line;
      EXPECT_EQ(cells[3], file_cell(run.rows[t].observation)) << line;
      for (int s = 0; s < 3; ++s) {
        worst.take(std::abs(std::stod(cells[7 + s]) - paths.smoothed(t, s)));
      }
    }
  }
  EXPECT_FALSE(std::getline(file, line));
  EXPECT_LE(worst.value(), 1e-5);  // six digits are written
}

INSTANTIATE_TEST_SUITE_P(
    AllGaps, ReadingFleet,
    testing::ValuesIn(std::vector<ReadingCase>{
        {"repeat", false}, {"repeat", true}, {"new-run", false}, {"new-run", true}}));

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
    EXPECT_EQ(one, estimate_of(info.name, shifted, plain).transition) << info.name;
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
  EXPECT_EQ(estimate_of("oas-overlap", model, rows).transition,
            estimate_of("oas-overlap", model, plain).transition);
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

double largest_error(const TransitionModel& found, const TransitionModel& truth) {
  test::Worst worst;
  for (std::size_t i = 0; i < truth.values().size(); ++i) {
    worst.take(std::abs(found.values()[i] - truth.values()[i]));
  }
  return worst.value();
}

// Sensors that depend on the action before: read as timing `before`, or as plain `after`, the log
// leads astray.
TEST(ReadingFirst, SimulatedLogsLeadBackToTheTruth) {
  const test::TemporaryDirectory folder;
  const Pomdp model = reading_model();
  LogSimulationOptions options;
  options.policy = PolicyOptions{.name = "belief", .min_action_probability = 0.2};
  options.runs = 40;
  options.steps = 1000;
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
  for (const char* name : {"oas-ml", "em", "gibbs"}) {
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
