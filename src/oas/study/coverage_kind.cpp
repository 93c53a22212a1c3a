#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/study/coverage_tally.hpp"
#include "oas/study/detail/coverage_report.hpp"
#include "oas/study/detail/task_kinds.hpp"
#include "oas/study/instance.hpp"
#include "oas/study/statistics.hpp"

namespace oas::detail {

namespace {

constexpr TaskSetting kCoverageSettings[] = {
    {"model", SettingType::text, "a problem or corner model of oas list, or one of [models.NAME]"},
    {"timing", SettingType::text, "own (the model's), before or after"},
    {"policy", SettingType::text, "who makes the logs, see oas list"},
    {"iota", SettingType::number_or_text, "floor of the policy; \"1/(10A)\""},
    {"rows", SettingType::integer, "length of a log"},
    {"run_length", SettingType::integer, "a run ends after so many rows; 0: one run"},
    {"estimator", SettingType::text, "whose error bars are judged"},
    {"confidence", SettingType::number, "what they promise"},
    {"logs", SettingType::integer, "logs of one replication"},
};

constexpr std::string_view kCoverageColumns[] = {"model",
                                                 "timing",
                                                 "policy",
                                                 "iota",
                                                 "rows",
                                                 "run_length",
                                                 "estimator",
                                                 "confidence",
                                                 "logs",
                                                 "part",
                                                 "action",
                                                 "state",
                                                 "next",
                                                 "truth",
                                                 "limit",
                                                 "trials",
                                                 "hits",
                                                 "coverage",
                                                 "ball_hits",
                                                 "width",
                                                 "width_limit",
                                                 "width_seen",
                                                 "flagged",
                                                 "determined",
                                                 "undetermined",
                                                 "wrongly_flagged",
                                                 "wrongly_unflagged",
                                                 "entry_logs",
                                                 "entry_share",
                                                 "entry_squares",
                                                 "row_logs",
                                                 "row_share",
                                                 "row_squares",
                                                 "without_bars",
                                                 "failures",
                                                 "message"};

constexpr std::size_t column_of(std::string_view name) {
  std::size_t i = 0;
  while (kCoverageColumns[i] != name) ++i;
  return i;
}

// What can be told of each entry is the inverse of a matrix of all.
constexpr double kMostEntries = 4000;

struct CoverageTask {
  std::string model_name;
  Pomdp model;
  LogShape shape;
  EvidenceOptions settings;
  std::string estimator;
  double iota = 0.0;
  std::uint32_t logs = 0;
  double confidence = 0.95;
};

Pomdp coverage_model(const std::string& name, const TaskSettings& settings) {
  Pomdp model = model_setting(settings, name);
  if (settings.text("timing", "own") == "own") return model;
  PomdpParts parts = model.parts();
  parts.timing = timing_setting(settings);
  return Pomdp(std::move(parts));
}

std::int64_t ranged(const TaskSettings& settings, const char* name, std::int64_t fallback,
                    std::int64_t least, std::int64_t most) {
  const std::int64_t value = settings.integer(name, fallback);
  OAS_REQUIRE(value >= least && value <= most, "{} is {}; {} to {}", name, value, least, most);
  return value;
}

CoverageTask read_coverage(const Task& task) {
  const TaskSettings& settings = task.settings;
  const std::string name = settings.text("model", "corner/minimal");
  CoverageTask read{name, coverage_model(name, settings), {}, {}, {}, 0.0, 0, 0.95};
  read.shape.policy.name = settings.text("policy", "uniform");
  const bool reacts = find_policy(read.shape.policy.name).reacts;
  read.settings.actions_ignore_observations = !reacts;
  if (reacts) {
    read.iota = floor_setting(settings, read.model.num_actions());
    read.shape.policy.min_action_probability = read.iota;
  }
  read.shape.policy.validate(read.model);
  read.shape.rows = static_cast<std::size_t>(ranged(settings, "rows", 3000, 2, 100'000'000));
  const std::int64_t length = ranged(settings, "run_length", 0, 0, 100'000'000);
  OAS_REQUIRE(length != 1, "run_length is 1; a run of one row tells nothing of transitions");
  read.shape.run_length = static_cast<std::size_t>(length);
  read.shape.seed = task.seed;
  read.confidence = settings.number("confidence", 0.95);
  OAS_REQUIRE(read.confidence > 0.0 && read.confidence < 1.0,
              "confidence is {}; it must lie strictly between 0 and 1", read.confidence);
  read.estimator = settings.text("estimator", "oas-ml");
  const double entries = static_cast<double>(read.model.num_actions()) * read.model.num_states() *
                         read.model.num_states();
  OAS_REQUIRE(entries <= kMostEntries,
              "a model of {} entries of dynamics; error bars are judged up to the limit of {}",
              entries, kMostEntries);
  OAS_REQUIRE(find_estimator(read.estimator).errors != ErrorSource::none,
              "estimator '{}' has no error bars", read.estimator);
  read.logs = static_cast<std::uint32_t>(ranged(settings, "logs", 100, 1, 100'000));
  return read;
}

// An estimator that cannot take the model's sensors says so here, not in every log.
void check_coverage(const Task& task) {
  const CoverageTask read = read_coverage(task);
  static_cast<void>(make_evidence(read.estimator, read.model, read.settings));
}

double coverage_cost(const Task& task) {
  const CoverageTask read = read_coverage(task);
  const bool moments = find_estimator(read.estimator).errors == ErrorSource::batches;
  const double states = read.model.num_states();
  const double passes = moments ? 10.0 : 200.0;
  const double per_log = 1e4 + passes * states * states * static_cast<double>(read.shape.rows);
  return per_log * read.logs;
}

// The same for all estimators of a cell: dear for long logs and many entries.
CoverageReference shared_reference(const CoverageTask& read, const TaskContext& context) {
  const std::string key =
      fmt::format("coverage {} {} {} {} {} {}", read.model_name, to_string(read.model.timing()),
                  read.shape.policy.name, read.iota, read.shape.rows, read.shape.run_length);
  return *context.shared->get<CoverageReference>(
      key, [&] { return coverage_reference(read.model, read.shape); });
}

void judge_log(const CoverageTask& read, std::uint32_t log, const TaskContext& context,
               CoverageTally& tally) {
  const std::vector<Trajectory> runs = simulate_runs(read.model, read.shape, log);
  try {
    EvidenceOptions settings = read.settings;
    settings.stream = {read.shape.seed, log, Role::estimation};
    Evidence evidence = make_evidence(read.estimator, read.model, settings);
    for (const Trajectory& run : runs) {
      context.check();
      evidence.start_run();
      evidence.add(run);
    }
    EstimateOptions asked;
    asked.confidence = read.confidence;
    asked.parallelism = {1};
    asked.carried_draws = 0;
    tally.add(evidence.estimate(asked), log_facts(read.model, runs));
  } catch (const Interrupted&) {  // neither is the estimator's failure
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    tally.add_failure(error.what());
  }
}

// Rows of the table: what all parts of a cell have in common, and one column after the other.
class CoverageRows {
 public:
  explicit CoverageRows(const CoverageTask& read) : common_(std::size(kCoverageColumns)) {
    set(common_, "model", read.model_name);
    set(common_, "timing", std::string(to_string(read.model.timing())));
    set(common_, "policy", read.shape.policy.name);
    if (!read.settings.actions_ignore_observations) set(common_, "iota", read.iota);
    set(common_, "rows", static_cast<std::int64_t>(read.shape.rows));
    set(common_, "run_length", static_cast<std::int64_t>(read.shape.run_length));
    set(common_, "estimator", read.estimator);
    set(common_, "confidence", read.confidence);
  }

  ResultRows of(const CoverageTally& tally) {
    set(common_, "logs", tally.logs());
    for (std::size_t i = 0; i < tally.entries().size(); ++i) add_entry(tally, i);
    for (std::size_t row = 0; row < tally.rows().size(); ++row) add_row(tally, row);
    add_all(tally);
    return std::move(rows_);
  }

 private:
  static void set(ResultRow& row, std::string_view name, Cell value) {
    row[column_of(name)] = std::move(value);
  }

  static void set_hits(ResultRow& row, const HitCount& count) {
    set(row, "trials", count.trials);
    set(row, "hits", count.hits);
    if (count.trials == 0) return;
    set(row, "coverage", static_cast<double>(count.hits) / static_cast<double>(count.trials));
  }

  ResultRow& next(const char* part) {
    rows_.push_back(common_);
    set(rows_.back(), "part", std::string(part));
    return rows_.back();
  }

  static void set_place(ResultRow& row, std::size_t place, std::size_t num_states) {
    set(row, "action", static_cast<std::int64_t>(place / num_states));
    set(row, "state", static_cast<std::int64_t>(place % num_states));
  }

  void add_entry(const CoverageTally& tally, std::size_t i) {
    const auto n = static_cast<std::size_t>(tally.truth().num_states());
    const CoverageTally::Entry& entry = tally.entries()[i];
    const double truth = tally.truth().values()[i];
    const double limit = tally.reference().limit[i];
    ResultRow& row = next("entry");
    set_place(row, i / n, n);
    set(row, "next", static_cast<std::int64_t>(i % n));
    set(row, "truth", truth);
    set(row, "limit", limit);
    set_hits(row, entry.interval);
    constexpr double kTwoSided = 1.959964;
    set(row, "width_limit",
        std::min(1.0, truth + kTwoSided * limit) - std::max(0.0, truth - kTwoSided * limit));
    if (entry.widths.empty()) return;
    set(row, "width", median(entry.widths));
    set(row, "width_seen", median(entry.seen_widths));
  }

  void add_row(const CoverageTally& tally, std::size_t place) {
    const CoverageTally::Row& counts = tally.rows()[place];
    ResultRow& row = next("row");
    set_place(row, place, static_cast<std::size_t>(tally.truth().num_states()));
    set_hits(row, counts.band);
    set(row, "ball_hits", counts.ball.hits);
    set(row, "flagged", counts.flagged);
    set(row, "determined", counts.determined);
    set(row, "undetermined", counts.undetermined);
    set(row, "wrongly_flagged", counts.wrongly_flagged);
    set(row, "wrongly_unflagged", counts.wrongly_unflagged);
  }

  void add_all(const CoverageTally& tally) {
    ResultRow& row = next("all");
    set_hits(row, tally.joint_band());
    set(row, "ball_hits", tally.joint_ball().hits);
    const ShareSum& entries = tally.entry_share();
    set(row, "entry_logs", entries.logs);
    set(row, "entry_share", entries.sum);
    set(row, "entry_squares", entries.squares);
    set(row, "row_logs", tally.row_share().logs);
    set(row, "row_share", tally.row_share().sum);
    set(row, "row_squares", tally.row_share().squares);
    if (entries.logs > 0) set(row, "coverage", entries.sum / static_cast<double>(entries.logs));
    set(row, "without_bars", tally.without_bars());
    set(row, "failures", tally.failures());
    if (!tally.first_failure().empty()) set(row, "message", tally.first_failure());
  }

  ResultRow common_;
  ResultRows rows_;
};

ResultRows run_coverage(const Task& task, std::uint32_t replication, const TaskContext& context) {
  const CoverageTask read = read_coverage(task);
  CoverageTally tally(read.model.transition(), shared_reference(read, context));
  for (std::uint32_t i = 0; i < read.logs; ++i) {
    context.check();
    judge_log(read, replication * read.logs + i, context, tally);
  }
  return CoverageRows(read).of(tally);
}

}  // namespace

TaskKind coverage_kind() {
  return {"coverage",
          "whether error bars and flags hold what they promise, over many logs of known models",
          {std::begin(kCoverageSettings), std::end(kCoverageSettings)},
          kCoverageColumns,
          "rows",
          false,
          check_coverage,
          coverage_cost,
          run_coverage,
          [](const KindResults& results) { return coverage_report(results.table); }};
}

}  // namespace oas::detail
