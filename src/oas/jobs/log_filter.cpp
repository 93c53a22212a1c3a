#include "oas/jobs/log_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "oas/belief/smoother.hpp"
#include "oas/jobs/logged_runs.hpp"
#include "oas/logs/csv_cell.hpp"

namespace oas {

namespace {

std::string filter_header(const Pomdp& model, std::size_t components) {
  std::string text = "run,step,action";
  if (components == 1) text += ",observation";
  for (std::size_t i = 0; components > 1 && i < components; ++i) {
    text += fmt::format(",observation_{}", i + 1);
  }
  for (const char* what : {"belief", "smoothed"}) {
    for (int s = 0; s < model.num_states(); ++s) {
      text += "," + csv_cell(fmt::format("{}_{}", what, model.states()[s]));
    }
  }
  return text + ",likeliest\n";
}

void append_numbers(std::string& line, std::span<const double> values) {
  for (const double value : values) fmt::format_to(std::back_inserter(line), ",{:.6g}", value);
}

// What was observed in row t as the log counts them: where rows are reading-first, what the action
// of the row before led to.
struct Observed {
  Observation observation = kMissing;
  std::span<const double> reading;
};
Observed observed(const LoggedRun& run, std::size_t t, std::size_t components) {
  const FirstReading* const first = run.start.first();
  if (first != nullptr && t == 0) return {first->observation, first->reading};
  const std::size_t row = first != nullptr ? t - 1 : t;
  if (row >= run.actions.size()) return {};
  const std::span<const double> readings = run.readings;
  return {run.observations[row],
          readings.empty() ? readings : readings.subspan(row * components, components)};
}

// The cells of that; those of a log with likelihoods are not repeated.
std::string observed_cells(const Pomdp& model, const Observed& observed, std::size_t components,
                           bool finite) {
  const bool seen = observed.observation != kMissing;
  if (finite) return seen ? csv_cell(model.observations()[observed.observation]) : "";
  if (!seen || observed.reading.empty()) return std::string(components - 1, ',');
  std::string cells;
  for (std::size_t c = 0; c < components; ++c) {
    if (c > 0) cells += ',';
    if (!std::isnan(observed.reading[c])) cells += fmt::format("{}", observed.reading[c]);
  }
  return cells;
}

void smooth_run(const Pomdp& model, const LoggedRun& run, const SmoothedRow& receive) {
  if (run.likelihoods.empty()) {
    smooth(model, run.actions, run.observations, receive, run.start);
  } else {
    smooth_likelihoods(model, run.actions, run.likelihoods, receive, run.start);
  }
}

// Whether a row tells of the state by its observation or because that is known.
bool tells(const LoggedRun& run, std::size_t t) {
  return run.observations[t] != kMissing || (!run.known.empty() && run.known[t] >= 0);
}

void count_observation(double probability, FilteredLog& totals) {
  const bool possible = probability > 0.0;
  if (possible) totals.log_likelihood += std::log(probability);
  totals.seen += possible;
  totals.impossible += !possible;
}

// The first reading of a run, where rows are reading-first.
void count_first(const Pomdp& model, const RunStart& start, FilteredLog& totals) {
  if (start.first() == nullptr || start.first()->observation == kMissing) return;
  std::vector<double> belief(model.start().size());
  count_observation(start.belief(model.start(), belief), totals);
}

void write_run(const Pomdp& model, bool finite, std::size_t components, const LoggedRun& run,
               ByteSink& out, const RowsRead& progress, FilteredLog& totals) {
  std::string text;
  const std::size_t n = run.actions.size();
  const std::string unit = csv_cell(run.unit);
  ++totals.runs;
  count_first(model, run.start, totals);
  smooth_run(
      model, run,
      [&](std::size_t t, std::span<const double> belief, std::span<const double> smoothed,
          double probability) {
        const bool last = t == n;
        const bool seen = !last && tells(run, t);
        fmt::format_to(std::back_inserter(text), "{},{},{},{}", unit,
                       run.first_step + static_cast<std::int64_t>(t),
                       last ? "" : csv_cell(model.actions()[run.actions[t]]),
                       observed_cells(model, observed(run, t, components), components, finite));
        append_numbers(text, belief);
        append_numbers(text, smoothed);
        const auto best = std::max_element(smoothed.begin(), smoothed.end()) - smoothed.begin();
        text += fmt::format(",{}\n", csv_cell(model.states()[static_cast<int>(best)]));
        if (seen) count_observation(probability, totals);
        if (last) totals.last_belief.assign(belief.begin(), belief.end());
        if (text.size() > (1 << 16) || last) {
          out.write(text);
          text.clear();
          progress(0);
        }
      });
  totals.rows += run.rows();
  progress(run.rows());
}

}  // namespace

double FilteredLog::log_likelihood_per_observation() const {
  return log_likelihood / static_cast<double>(std::max<std::int64_t>(seen, 1));
}

FilteredLog filter_log(const AnyModel& model, const OneLog& log, ByteSink& out,
                       const RowsRead& progress, const LogOptions& options) {
  const RowsRead report = progress ? progress : [](std::int64_t /*rows*/) {};
  const Pomdp& chain = chain_of(model);
  static_cast<void>(chain.transition());
  LogReader reader =
      std::visit([&](const auto& any) { return LogReader(log, any, options); }, model);
  const auto* const continuous = std::get_if<ContinuousPomdp>(&model);
  const bool vector = continuous != nullptr && !reader.has_likelihood();
  const auto components = static_cast<std::size_t>(vector ? continuous->sensors().dimension() : 1);
  out.write(filter_header(chain, components));
  FilteredLog totals;
  for_each_run(reader, [&](const LoggedRun& run) {
    write_run(chain, continuous == nullptr, components, run, out, report, totals);
  });
  return totals;
}

}  // namespace oas
