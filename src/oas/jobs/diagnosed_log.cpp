#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>

#include "oas/core/contracts.hpp"
#include "oas/jobs/log_diagnosis.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/logged_runs.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas {

namespace {

// Puts runs one after the other, with units told apart.
class LogCollector {
 public:
  explicit LogCollector(DiagnosedLog& log) : log_(log) {}

  void file(const std::string& path, bool several) { path_ = several ? path : std::string(); }
  void add(const LoggedRun& run, bool timed) {
    DiagnosedRows& rows = log_.rows;
    // The last action of rows that are reading-first showed nothing.
    const std::size_t count = run.actions.size() - (run.last_action ? 1 : 0);
    const std::string unit = name_of(run);
    const std::int64_t before = rows_of_[unit];
    rows_of_[unit] += run.rows();
    if (count == 0) return;
    const std::size_t all = run.actions.size();
    rows.run_starts.push_back(rows.size());
    rows.starts.push_back(run.start);
    rows.unit_of_run.push_back(number_of(unit));
    append(run.actions, count, rows.actions);
    append(run.observations, count, rows.observations);
    append(run.readings, run.readings.size() / all * count, rows.readings);
    append(run.likelihoods, run.likelihoods.size() / all * count, rows.likelihoods);
    for (std::size_t t = 0; t < std::min(count, run.known.size()); ++t) {
      const bool nothing = run.known[t] == DiagnosedRows::kNoneNoticed && rows.noticed.empty();
      rows.notes.push_back(nothing ? DiagnosedRows::kNobodyLooked : run.known[t]);
    }
    for (std::size_t t = 0; t < count; ++t) {
      rows.place.push_back(timed ? run.times[t] : static_cast<double>(before) + t + 1.0);
      log_.missing += rows.observations[rows.size() - count + t] == kMissing;
    }
  }

 private:
  template <class T>
  static void append(const std::vector<T>& from, std::size_t count, std::vector<T>& to) {
    to.insert(to.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
  }
  // Numbers are counted anew in every file; names are the same unit wherever they stand.
  [[nodiscard]] std::string name_of(const LoggedRun& run) const {
    const bool number =
        std::all_of(run.unit.begin(), run.unit.end(), [](char c) { return c >= '0' && c <= '9'; });
    return number && !path_.empty() ? path_ + ":" + run.unit : run.unit;
  }
  int number_of(const std::string& name) {
    const auto [found, fresh] = numbers_.try_emplace(name, static_cast<int>(numbers_.size()));
    if (fresh) log_.rows.units.push_back(name);
    return found->second;
  }

  DiagnosedLog& log_;
  std::string path_;
  std::map<std::string, int> numbers_;           // of units that have rows
  std::map<std::string, std::int64_t> rows_of_;  // units so far, over all files
};

}  // namespace

DiagnosedLog read_diagnosed_log(const AnyModel& model, std::span<const std::string> paths,
                                const LogOptions& options) {
  OAS_REQUIRE(!paths.empty(), "no log to diagnose");
  DiagnosedLog log{row_model(model, paths.front(), options), {}, true, 0, {}};
  const AnyModel read_with = log.model;
  const auto* finite = std::get_if<Pomdp>(&read_with);
  if (finite != nullptr && options.known_states) log.model = ContinuousPomdp(*finite);
  LogCollector collector(log);
  if (finite != nullptr && options.known_states) {
    log.rows.finite = std::make_shared<const Pomdp>(*finite);
  }
  log.rows.noticed = noticed_states(options.noticed, chain_of(read_with).states());
  log.rows.outlier_share = Outliers(options.outliers).share;
  const std::vector<OneLog> logs = logs_of(paths, options);
  for (const OneLog& one : logs) {
    const auto reader = std::make_shared<LogReader>(
        std::visit([&](const auto& any) { return LogReader(one, any, options); }, read_with));
    OAS_REQUIRE(&one == logs.data() || reader->has_time() == log.timed,
                "{}: some logs have a column 'time' and others have none", one.name());
    log.timed = reader->has_time();
    collector.file(one.name(), logs.size() > 1);
    for_each_run(*reader, [&](const LoggedRun& run) { collector.add(run, log.timed); });
    if (log.timed) log.place_text = [reader](double time) { return reader->time_text(time); };
  }
  if (!log.timed) log.place_text = [](double place) { return fmt::format("{:.0f}", place); };
  return log;
}

}  // namespace oas
