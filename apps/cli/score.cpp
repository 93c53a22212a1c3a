#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/jobs/log_score.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

struct ScoreArguments {
  Common common;
  std::vector<std::string> files;
  std::vector<std::string> logs;
  std::vector<Setting> rows;
};

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const std::vector<std::string>& names, const LogScore& score) {
  Json document;
  document["rows"] = score.rows;
  document["runs"] = score.runs;
  document["missing_observations"] = score.missing;
  document["batches"] = score.num_batches;
  for (std::size_t m = 0; m < names.size(); ++m) {
    Json model = {{"model", names[m]},
                  {"log_likelihood_per_row", number(score.models[m].value)},
                  {"standard_error", number(score.models[m].standard_error)},
                  {"impossible_rows", score.impossible_rows[m]}};
    if (m > 0) {
      model["difference"] = number(score.differences[m].value);
      model["difference_standard_error"] = number(score.differences[m].standard_error);
    }
    document["models"].push_back(std::move(model));
  }
  return document;
}

std::string with_error(const ScoreMean& mean, bool sign) {
  if (std::isnan(mean.value)) return "?";  // impossible under both
  const std::string value =
      sign ? fmt::format("{:+.6f}", mean.value) : fmt::format("{:.6f}", mean.value);
  return std::isfinite(mean.standard_error) ? fmt::format("{} ± {:.6f}", value, mean.standard_error)
                                            : value + " ± ?";
}

std::string to_text(const std::vector<std::string>& names, const LogScore& score) {
  Table table({"model", "log-likelihood per row", "difference to the first"});
  for (std::size_t m = 0; m < names.size(); ++m) {
    table.add({names[m], with_error(score.models[m], false),
               m == 0 ? "" : with_error(score.differences[m], true)});
  }
  return fmt::format("{} in {}, {} without observation\n{}", counted(score.rows, "row"),
                     counted(score.runs, "run"), big_number(static_cast<double>(score.missing)),
                     table.text());
}

LogScore score_files(const ScoreArguments& options) {
  std::vector<Pomdp> finite;
  std::vector<ContinuousPomdp> continuous;
  for (const std::string& file : options.files) {
    const AnyModel model = load_row_model(file, options.rows, options.common);
    OAS_REQUIRE(chain_of(model).has_transition(), "{}: has no transition model to score", file);
    if (const auto* value = std::get_if<ContinuousPomdp>(&model)) {
      continuous.push_back(*value);
    } else {
      finite.push_back(std::get<Pomdp>(model));
    }
    OAS_REQUIRE(finite.empty() || continuous.empty(),
                "{}: finite and real-valued observations cannot be compared", file);
  }
  Progress progress(options.common, "rows", 0);
  const auto parallelism = options.common.parallelism();
  const RowsRead report = [&](std::int64_t rows) { progress.add(rows); };
  const LogOptions rows = log_options(options.rows);
  return finite.empty() ? score_logs(continuous, options.logs, parallelism, report, rows)
                        : score_logs(finite, options.logs, parallelism, report, rows);
}

void run_score(ScoreArguments options) {
  if (options.logs.empty()) {  // oas score MODEL LOG…
    OAS_REQUIRE(
        options.files.size() >= 2,
        "a model and a log are needed: oas score MODEL LOG…, or oas score MODEL… --log LOG…");
    options.logs.assign(options.files.begin() + 1, options.files.end());
    options.files.resize(1);
  }
  check_different(options.logs);
  const LogScore score = score_files(options);
  for (std::size_t m = 0; m < options.files.size(); ++m) {
    if (score.impossible_rows[m] > 0) {
      warn(options.common, fmt::format("{}: {} impossible under this model", options.files[m],
                                       counted(score.impossible_rows[m], "row")));
    }
  }
  if (options.common.json) print_json(options.common, to_json(options.files, score));
  print(options.common, to_text(options.files, score));
}

}  // namespace

void add_score(CLI::App& app) {
  const auto options = std::make_shared<ScoreArguments>();
  CLI::App* verb =
      add_verb(app, "score", "Measure how well models predict logs that they were not made from",
               options->common, [options] { run_score(*options); });
  add_input(*verb, "FILES", options->files,
            "MODEL LOG…; with --log, models (estimates) to compare with the first", options->common)
      ->required();
  add_logs(*verb, "--log", options->logs, "Logs to score on (CSV, plain, gzip or zstd)",
           options->common);
  add_log_options(*verb, true, options->rows, options->common);
  add_lenient_flag(*verb, options->common);
}

}  // namespace oas::cli
