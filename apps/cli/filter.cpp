#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/jobs/log_filter.hpp"
#include "oas/logs/byte_sink.hpp"
#include "oas/logs/csv_cell.hpp"
#include "oas/logs/log_reader.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

struct FilterArguments {
  Common common;
  std::string model;
  std::vector<std::string> logs;
  std::vector<Setting> rows;
  std::string output;
};

FilteredLog filter_shown(const FilterArguments& options, const AnyModel& any, ByteSink& out) {
  Progress progress(options.common, "rows filtered", 0);
  return filter_log(
      any, one_log_of(options.logs, log_options(options.rows)), out,
      [&](std::int64_t rows) { progress.add(rows); }, log_options(options.rows));
}

void run_filter(const FilterArguments& options) {
  const AnyModel any = load_row_model(options.model, options.rows, options.common);
  const Pomdp& model = chain_of(any);
  OAS_REQUIRE(model.has_transition(), "{}: has no transition model to filter with", options.model);
  const std::unique_ptr<ByteSink> out = open_output(options.output);
  const FilteredLog totals = filter_shown(options, any, *out);
  out->commit();
  if (totals.impossible > 0) {
    const bool one = totals.impossible == 1;
    warn(options.common, fmt::format("{} {} probability 0 under this model and {} skipped: the "
                                     "model or the log is wrong",
                                     counted(totals.impossible, "observation"),
                                     one ? "has" : "have", one ? "was" : "were"));
  }
  const double per_step = totals.log_likelihood_per_observation();
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
  add_logs(*verb, "LOG", options->logs, "Log: files, folders and patterns; - is standard input",
           options->common)
      ->required();
  add_log_options(*verb, true, options->rows, options->common);
  add_output(*verb, "-o,--output", options->output,
             "CSV to write: for each row the belief before it and the smoothed state; .gz and .zst "
             "are compressed, - is standard output",
             options->common)
      ->required();
  verb->footer(
      "Row t is about s_t, the state in which the row's action was taken: belief_* is "
      "P(s_t | earlier rows), smoothed_* is P(s_t | all rows of the run), likeliest is the "
      "state with the largest smoothed probability. One more line per run, without action, "
      "is about the state after its last row. Where rows are reading-first, belief_* knows the "
      "row's "
      "own reading, and there is one more line only where the last row has an action.\n\n" +
      verb->get_footer());
}

}  // namespace oas::cli
