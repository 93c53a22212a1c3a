#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/belief/smoother.hpp"
#include "oas/core/contracts.hpp"
#include "oas/logs/byte_sink.hpp"
#include "oas/logs/csv_cell.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas::cli {

namespace {

struct FilterArguments {
  Common common;
  std::string model;
  std::string log;
  std::string output;
};

struct Run {
  std::vector<Action> actions;
  std::vector<Observation> observations;
  std::vector<double> readings;     // [row][component], where observations are real-valued
  std::vector<double> likelihoods;  // [row][state], then
};

struct Totals {
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  std::int64_t seen = 0;
  std::int64_t impossible = 0;
  double log_likelihood = 0.0;
  std::vector<double> last_belief;
};

std::string header(const Pomdp& model, std::size_t components) {
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

void append(std::string& line, std::span<const double> values) {
  for (const double value : values) fmt::format_to(std::back_inserter(line), ",{:.6g}", value);
}

// The cells of what was observed; those of a log with likelihoods are not repeated.
std::string observed(const Pomdp& model, const Run& run, std::size_t t, std::size_t components) {
  const bool seen = t < run.actions.size() && run.observations[t] != kMissing;
  if (run.likelihoods.empty()) {
    return seen ? csv_cell(model.observations()[run.observations[t]]) : "";
  }
  if (!seen || run.readings.empty()) return std::string(components - 1, ',');
  return fmt::format("{}",
                     fmt::join(std::span(run.readings).subspan(t * components, components), ","));
}

void smooth_run(const Pomdp& model, const Run& run, const SmoothedRow& receive) {
  if (run.likelihoods.empty()) {
    smooth(model, run.actions, run.observations, receive);
  } else {
    smooth_likelihoods(model, run.actions, run.likelihoods, receive);
  }
}

void write_run(const Pomdp& model, const Run& run, ByteSink& out, Progress& progress,
               Totals& totals) {
  std::string text;
  const std::size_t n = run.actions.size();
  const std::int64_t number = totals.runs++;
  const std::size_t components = std::max<std::size_t>(run.readings.size() / n, 1);
  smooth_run(model, run,
             [&](std::size_t t, std::span<const double> belief, std::span<const double> smoothed,
                 double probability) {
               const bool last = t == n;
               const bool seen = !last && run.observations[t] != kMissing;
               fmt::format_to(std::back_inserter(text), "{},{},{},{}", number, t,
                              last ? "" : csv_cell(model.actions()[run.actions[t]]),
                              observed(model, run, t, components));
               append(text, belief);
               append(text, smoothed);
               const auto best =
                   std::max_element(smoothed.begin(), smoothed.end()) - smoothed.begin();
               text += fmt::format(",{}\n", csv_cell(model.states()[static_cast<int>(best)]));
               if (seen && probability > 0.0) totals.log_likelihood += std::log(probability);
               totals.seen += seen && probability > 0.0;
               totals.impossible += seen && !(probability > 0.0);
               if (last) totals.last_belief.assign(belief.begin(), belief.end());
               if (text.size() > (1 << 16) || last) {
                 out.write(text);
                 text.clear();
                 progress.add(0);
               }
             });
  totals.rows += static_cast<std::int64_t>(n);
  progress.add(static_cast<std::int64_t>(n));
}

// The part of row t of a column with several numbers per row.
void append_part(const std::vector<double>& column, std::size_t t, std::size_t rows,
                 std::vector<double>& out) {
  const std::size_t width = column.size() / rows;
  const auto first = column.begin() + static_cast<std::ptrdiff_t>(t * width);
  out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(width));
}

Totals filter_log(const FilterArguments& options, const AnyModel& any, ByteSink& out) {
  Progress progress(options.common, "rows filtered", 0);
  const Pomdp& model = chain_of(any);
  LogReader reader =
      std::visit([&](const auto& value) { return LogReader(options.log, value); }, any);
  Totals totals;
  Run run;
  const auto* continuous = std::get_if<ContinuousPomdp>(&any);
  const bool vector = continuous != nullptr && !reader.has_likelihood();
  const auto components = static_cast<std::size_t>(vector ? continuous->sensors().dimension() : 1);
  out.write(header(model, components));
  const auto close_run = [&] {
    if (!run.actions.empty()) write_run(model, run, out, progress, totals);
    run = {};
  };
  for (LogBlock block; reader.read_block(block, 1 << 16);) {
    auto next_start = block.run_starts.begin();
    for (std::size_t t = 0; t < block.rows.size(); ++t) {
      if (next_start != block.run_starts.end() && *next_start == t) {
        close_run();
        ++next_start;
      }
      run.actions.push_back(block.rows.actions[t]);
      run.observations.push_back(block.rows.observations[t]);
      append_part(block.readings, t, block.rows.size(), run.readings);
      append_part(block.likelihoods, t, block.rows.size(), run.likelihoods);
    }
  }
  close_run();
  return totals;
}

void run_filter(const FilterArguments& options) {
  const AnyModel any = load_any_model(options.model, options.common);
  const Pomdp& model = chain_of(any);
  OAS_REQUIRE(model.has_transition(), "{}: has no transition model to filter with", options.model);
  const std::unique_ptr<ByteSink> out = open_output(options.output);
  const Totals totals = filter_log(options, any, *out);
  out->commit();
  if (totals.impossible > 0) {
    warn(options.common, fmt::format("{} observations have probability 0 under this model and were "
                                     "skipped: the model or the log is wrong",
                                     totals.impossible));
  }
  const double per_step =
      totals.log_likelihood / static_cast<double>(std::max<std::int64_t>(totals.seen, 1));
  if (options.common.json) {
    print_json(options.common, {{"rows", totals.rows},
                                {"runs", totals.runs},
                                {"log_likelihood_per_observation", per_step},
                                {"impossible_observations", totals.impossible},
                                {"last_belief", totals.last_belief}});
  }
  std::string text =
      fmt::format("{}: {}, {}, log-likelihood per observation {:.5f}\n", options.output,
                  counted(totals.rows, "row"), counted(totals.runs, "run"), per_step);
  text += "belief after the last row:\n";
  for (int s = 0; s < model.num_states(); ++s) {
    text += fmt::format("  {:<20} {:.4f}\n", model.states()[s],
                        totals.last_belief[static_cast<std::size_t>(s)]);
  }
  print(options.common, text);
}

}  // namespace

void add_filter(CLI::App& app) {
  const auto options = std::make_shared<FilterArguments>();
  CLI::App* verb = add_verb(app, "filter", "Compute beliefs and smoothed states along a log",
                            options->common, [options] { run_filter(*options); });
  add_model_argument(*verb, "MODEL", options->model, "Model file or problem name, with transition",
                     options->common);
  add_input(*verb, "LOG", options->log, "Log file; - is standard input", options->common)
      ->required();
  add_output(*verb, "-o,--output", options->output,
             "CSV to write: for each row the belief before it and the smoothed state; .gz and .zst "
             "are compressed, - is standard output",
             options->common)
      ->required();
  verb->footer(
      "Row t is about s_t, the state in which the row's action was taken: belief_* is "
      "P(s_t | earlier rows), smoothed_* is P(s_t | all rows of the run), likeliest is the "
      "state with the largest smoothed probability. One more line per run, without action, "
      "is about the state after its last row.\n\n" +
      verb->get_footer());
}

}  // namespace oas::cli
