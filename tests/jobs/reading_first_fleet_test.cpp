// Rows that are reading-first, of a fleet with gaps and known states, by every road from a log to a
// number, against sums over all hidden paths.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "oas/core/files.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/log_filter.hpp"
#include "oas/jobs/log_score.hpp"
#include "reading_first_support.hpp"
#include "support/temporary_directory.hpp"
#include "support/worst.hpp"

namespace oas {
namespace {

using test::reading_model;

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
  // `unknown`: law of the first state where the run has no start; empty: all states alike.
  ReadPaths(const Pomdp& model, const TransitionModel& transition, const FileRun& run,
            const std::vector<double>& unknown = {})
      : model_(model),
        transition_(transition),
        rows_(run.rows),
        states_(run.rows.size(), std::vector<double>(model.start().size(), 0.0)) {
    for (int s = 0; s < model.num_states(); ++s) {
      double weight = !run.unknown      ? model.start()[s]
                      : unknown.empty() ? 1.0 / model.num_states()
                                        : unknown[static_cast<std::size_t>(s)];
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

  [[nodiscard]] double log_probability(const TransitionModel& transition,
                                       const std::vector<double>& unknown = {}) const {
    double sum = 0.0;
    for (const FileRun& run : runs_) {
      sum += std::log(ReadPaths(model_, transition, run, unknown).likelihood());
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
      const std::vector<double>& law = estimate.unknown_start;
      EXPECT_NEAR(*estimate.log_likelihood, log_probability(estimate.transition, law), 1e-8)
          << estimator << " " << memory;
      EXPECT_GE(*estimate.log_likelihood, log_probability(model_.transition(), law) - 1e-6);
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

}  // namespace
}  // namespace oas
