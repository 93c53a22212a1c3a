// Known states and runs that start in an unknown state, by every road from a log to a number,
// against sums over all hidden paths.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/log_filter.hpp"
#include "oas/jobs/log_score.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"
#include "support/worst.hpp"

namespace oas {
namespace {

using testing::HasSubstr;

struct Row {
  int action;
  int observation;  // -1: missing
  int state;        // -1: unknown
};

// A run, and how it starts.
struct FleetRun {
  std::vector<Row> rows;
  bool unknown = false;
};

// Sums over all paths s_0 … s_n of one run.
class Paths {
 public:
  // `unknown`: law of the first state where the run has no start; empty: all states alike.
  Paths(const Pomdp& model, const TransitionModel& transition, const FleetRun& run,
        const std::vector<double>& unknown = {})
      : model_(model),
        transition_(transition),
        rows_(run.rows),
        states_(run.rows.size() + 1, std::vector<double>(model.start().size(), 0.0)) {
    for (int s = 0; s < model.num_states(); ++s) {
      double weight = !run.unknown      ? model.start()[s]
                      : unknown.empty() ? 1.0 / model.num_states()
                                        : unknown[static_cast<std::size_t>(s)];
      // In `after` timing the first state is where the run starts, not something that was seen.
      if (model.timing() == Timing::after && rows_[0].state >= 0) weight = 1.0;
      path_ = {s};
      walk(weight);
    }
  }

  [[nodiscard]] double likelihood() const { return likelihood_; }
  [[nodiscard]] double smoothed(std::size_t t, int s) const { return states_[t][s] / likelihood_; }

 private:
  void walk(double weight) {
    const std::size_t t = path_.size() - 1;
    if (t == rows_.size()) {
      likelihood_ += weight;
      for (std::size_t i = 0; i <= t; ++i) states_[i][path_[i]] += weight;
      return;
    }
    const Row& row = rows_[t];
    const int s = path_[t];
    if (row.state >= 0 && row.state != s) return;
    for (int next = 0; next < model_.num_states(); ++next) {
      const int emitter = model_.timing() == Timing::before ? s : next;
      const double shown =
          row.observation < 0
              ? 1.0
              : model_.sensors()(Action{row.action}, State{emitter}, Observation{row.observation});
      path_.push_back(next);
      walk(weight * shown * transition_(Action{row.action}, State{s}, State{next}));
      path_.pop_back();
    }
  }

  const Pomdp& model_;
  const TransitionModel& transition_;
  const std::vector<Row>& rows_;
  std::vector<std::vector<double>> states_;
  std::vector<int> path_;
  double likelihood_ = 0.0;
};

// Three units of 6 rows, interleaved; times of unit 1 jump by three steps before its fourth row.
constexpr int kUnits = 3;
constexpr int kRows = 6;
Row row_of(int unit, int t) {
  const int mixed = (17 * unit + 7 * t + unit * t * t) % 30;
  return {mixed % 2, (mixed + t) % 5 == 4 ? -1 : mixed % 4, mixed % 3 == t % 2 ? mixed % 3 : -1};
}
int time_of(int unit, int t) { return t + (unit == 1 && t >= 3 ? 2 : 0); }

std::string cell(int value) { return value < 0 ? "" : std::to_string(value); }

std::string fleet_log() {
  std::string text = "time,run,action,observation,state\n";
  for (int t = 0; t < kRows; ++t) {
    for (int unit = 0; unit < kUnits; ++unit) {
      const Row row = row_of(unit, t);
      text += fmt::format("{},u{},{},{},{}\n", time_of(unit, t), unit, row.action,
                          cell(row.observation), cell(row.state));
    }
  }
  return text;
}

// The runs that these options make of it.
std::vector<FleetRun> fleet_runs(const LogOptions& options) {
  std::vector<FleetRun> runs;
  for (int unit = 0; unit < kUnits; ++unit) {
    runs.emplace_back();
    for (int t = 0; t < kRows; ++t) {
      const bool gap = t > 0 && time_of(unit, t) > time_of(unit, t - 1) + 1;
      if (gap && options.gaps == "new-run") runs.push_back({{}, true});
      if (gap && options.gaps == "repeat") {
        runs.back().rows.insert(runs.back().rows.end(), 2, {row_of(unit, t - 1).action, -1, -1});
      }
      Row row = row_of(unit, t);
      if (!options.known_states) row.state = -1;
      runs.back().rows.push_back(row);
    }
  }
  return runs;
}

struct FleetCase {
  Timing timing;
  std::string gaps;
  bool known_states;
};

void PrintTo(const FleetCase& one, std::ostream* out) {
  *out << to_string(one.timing) << " " << one.gaps << (one.known_states ? " known" : "");
}

class Fleet : public testing::TestWithParam<FleetCase> {
 protected:
  Fleet() : model_(model()) {
    write_text_file(log_, fleet_log());
    options_.step = "1";
    options_.gaps = GetParam().gaps;
    options_.known_states = GetParam().known_states;
    runs_ = fleet_runs(options_);
  }

  static Pomdp model() {
    test::RandomModelOptions options;
    options.timing = GetParam().timing;
    options.concentration = 1.0;
    return test::random_model(options, 5);
  }

  [[nodiscard]] double log_probability(const TransitionModel& transition,
                                       const std::vector<double>& unknown = {}) const {
    double sum = 0.0;
    for (const FleetRun& run : runs_) {
      sum += std::log(Paths(model_, transition, run, unknown).likelihood());
    }
    return sum;
  }

  test::TemporaryDirectory folder_;
  std::string log_ = folder_.file("log.csv");
  Pomdp model_;
  LogOptions options_;
  std::vector<FleetRun> runs_;
};

TEST_P(Fleet, ScoresAreThoseOfAllPaths) {
  const std::vector<Pomdp> models = {model_};
  const std::vector<std::string> logs = {log_};
  const LogScore score = score_logs(models, logs, {}, {}, options_);
  EXPECT_EQ(score.runs, static_cast<std::int64_t>(runs_.size()));
  EXPECT_NEAR(score.models[0].value * static_cast<double>(score.rows - score.missing),
              log_probability(model_.transition()), 1e-10);
}

TEST_P(Fleet, EstimatesClimbTheLikelihoodOfAllPaths) {
  for (const char* estimator : {"oas-ml", "em"}) {
    for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{0}}) {
      Estimation how;
      how.estimator = estimator;
      how.rows = options_;
      how.evidence.memory_limit = memory;
      how.estimate.error_bars = false;
      const TransitionEstimate estimate = estimate_from_logs(model_, {{log_}}, how);
      ASSERT_TRUE(estimate.log_likelihood);
      const std::vector<double>& law = estimate.unknown_start;
      EXPECT_NEAR(*estimate.log_likelihood, log_probability(estimate.transition, law), 1e-8)
          << estimator << " " << memory;
      EXPECT_GE(*estimate.log_likelihood, log_probability(model_.transition(), law) - 1e-6);
    }
  }
}

TEST_P(Fleet, SmoothedStatesAreThoseOfAllPaths) {
  const std::string path = folder_.file("beliefs.csv");
  const auto out = open_output(path);
  static_cast<void>(filter_log(model_, log_, *out, {}, options_));
  out->commit();
  std::ifstream file(path);
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  test::Worst worst;
  for (const FleetRun& run : runs_) {
    const Paths paths(model_, model_.transition(), run);
    for (std::size_t t = 0; t <= run.rows.size(); ++t) {
      ASSERT_TRUE(std::getline(file, line));
      std::vector<std::string> cells;
      std::stringstream stream(line);
      for (std::string one; std::getline(stream, one, ',');) cells.push_back(one);
      ASSERT_EQ(cells.size(), 11U) << line;
      EXPECT_EQ(cells[0][0], 'u');
      for (int s = 0; s < 3; ++s)
        worst.take(std::abs(std::stod(cells[7 + s]) - paths.smoothed(t, s)));
    }
  }
  EXPECT_LE(worst.value(), 1e-5);  // six digits are written
}

INSTANTIATE_TEST_SUITE_P(BothTimings, Fleet,
                         testing::ValuesIn(std::vector<FleetCase>{
                             {Timing::before, "repeat", false},
                             {Timing::before, "repeat", true},
                             {Timing::before, "new-run", false},
                             {Timing::before, "new-run", true},
                             {Timing::after, "repeat", false},
                             {Timing::after, "repeat", true},
                             {Timing::after, "new-run", false},
                             {Timing::after, "new-run", true},
                         }));

// Sensors of states 0 and 1 alone see 0 and 1.
Pomdp revealing(Timing timing) {
  PomdpParts parts;
  parts.timing = timing;
  parts.states = Labels({"ok", "bad"}, "state");
  parts.actions = Labels({"run"}, "action");
  parts.observations = Labels({"green", "red"}, "observation");
  parts.start = {1.0, 0.0};
  parts.sensors = ObservationModel(2, 1, 2, {1.0, 0.0, 0.5, 0.5});
  parts.transition = TransitionModel(2, 1, {0.9, 0.1, 0.0, 1.0});
  return Pomdp(std::move(parts));
}

TEST(KnownStates, ContradictionsNameTheLine) {
  test::TemporaryDirectory folder;
  const std::string log = folder.file("log.csv");
  const auto error = [&](const std::string& rows, Timing timing) -> std::string {
    write_text_file(log, "state,action,observation\n" + rows);
    LogOptions options;
    options.known_states = true;
    const std::vector<Pomdp> models = {revealing(timing)};
    try {
      static_cast<void>(score_logs(models, {{log}}, {}, {}, options));
    } catch (const ParseError& fault) {
      return fault.what();
    }
    return "";
  };
  EXPECT_THAT(error(",run,green\nok,run,red\n", Timing::before),
              HasSubstr("log.csv:3:1: state 'ok' cannot have given the observation of line 3"));
  EXPECT_THAT(error(",run,red\nok,run,green\n", Timing::after),
              HasSubstr("log.csv:3:1: state 'ok' cannot have given the observation of line 2"));
  for (const Timing timing : {Timing::before, Timing::after}) {
    EXPECT_THAT(error("bad,run,red\n", timing),
                HasSubstr("log.csv:2:1: state 'bad' has probability 0 at the start of a run"));
    EXPECT_THAT(error("worse,run,red\n", timing), HasSubstr("log.csv:2:1: unknown state 'worse'"));
    EXPECT_EQ(error("ok,run,green\n,run,red\nbad,run,red\n", timing), "");
  }
}

// With all states known the maximum is that of counting.
TEST(KnownStates, AllKnownIsCounting) {
  test::TemporaryDirectory folder;
  const std::string log = folder.file("log.csv");
  write_text_file(log,
                  "state,action,observation\nok,run,green\nok,run,green\nok,run,green\nok,run,\n"
                  "bad,run,red\nbad,run,green\n");
  Estimation how;
  how.rows.known_states = true;
  how.estimate.error_bars = false;
  const TransitionEstimate estimate = estimate_from_logs(revealing(Timing::before), {{log}}, how);
  EXPECT_NEAR(estimate.transition(Action{0}, State{0}, State{1}), 0.25, 1e-4);
  EXPECT_NEAR(estimate.transition(Action{0}, State{1}, State{1}), 1.0, 1e-4);
  how.estimator = "oas-overlap";
  EXPECT_THROW(static_cast<void>(estimate_from_logs(revealing(Timing::before), {{log}}, how)),
               InvalidArgument);
}

}  // namespace
}  // namespace oas
