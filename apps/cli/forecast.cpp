#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "command_files.hpp"
#include "forecast_report.hpp"
#include "names.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/jobs/log_forecast.hpp"
#include "oas/jobs/log_policy.hpp"
#include "oas/logs/byte_sink.hpp"
#include "posterior.hpp"
#include "setting_options.hpp"
#include "undetermined.hpp"

namespace oas::cli {

namespace {

void run_forecast(const ForecastArguments& given) {
  ForecastArguments options = given;
  const AnyModel any = load_row_model(options.model, options.rows, options.common);
  const Pomdp& model = chain_of(any);
  OAS_REQUIRE(model.has_transition(), "{}: has no transition model to forecast with",
              options.model);
  OAS_REQUIRE(!options.schedule.empty() || !options.policy.empty() || model.num_actions() == 1,
              "--actions: say which actions are to come, or --policy; there are {}",
              listed(model.actions()));
  OAS_REQUIRE(options.schedule.empty() || options.policy.empty(),
              "--policy says which actions are to come; --actions is for forecasts without it");
  ForecastQuestion& question = options.forecast.question;
  question.schedule = indices_of<Action>(options.schedule, model.actions(), "--actions", "action");
  if (question.schedule.empty()) question.schedule = {Action{0}};
  question.reach = indices_of<State>(options.reach, model.states(), "--reach", "state");
  if (!options.policy.empty()) {
    if (const auto* const real = std::get_if<ContinuousPomdp>(&any)) {
      options.forecast.seen_by_policy = seen_by_policy(options.policy, *real);
    }
    options.forecast.policy = ask_policy(
        options.policy, options.forecast.seen_by_policy.value_or(model), log_options(options.rows));
  }
  options.forecast.parallelism = options.common.parallelism();
  std::vector<TransitionModel> draws;
  if (const auto estimate = estimate_in(options.model)) {
    draws = drawn_transitions(*estimate);
    if (!draws.empty()) options.forecast.within = without_unseen(*estimate);
    options.forecast.drawn_densities =
        estimate->labelled_rows.has_value() && options.logs.front() != "-";
  }
  if (draws.empty()) {
    refuse_options(options.common, {"--confidence"}, why_no_limits(options.model));
  }
  const std::unique_ptr<ByteSink> out =
      options.output.empty() ? nullptr : open_output(options.output);
  const std::string warning =
      warn_of_undetermined_rows(options.model, model, "the forecast", options.common);
  Progress progress(options.common, "rows filtered", 0);
  const std::vector<UnitForecast> units = forecast_log(
      any, draws, one_log_of(options.logs, log_options(options.rows)), options.forecast,
      log_options(options.rows), [&](std::int64_t rows) { progress.add(rows); });
  const Forecasts forecasts{units, draws.size(), warning};
  if (const std::int64_t impossible = forecasts.impossible_rows(); impossible > 0) {
    warn(options.common,
         fmt::format("{} of probability 0 under this model skipped: the model or "
                     "the log is wrong",
                     impossible == 1 ? "1 row was" : fmt::format("{} rows were", impossible)));
  }
  if (out) {
    write_forecasts(model, units, *out);
    out->commit();
  }
  if (options.common.json) print_json(options.common, forecast_json(options, model, forecasts));
  std::string text = forecast_text(options, model, forecasts);
  if (out) text += fmt::format("{}: written\n", options.output);
  print(options.common, text);
}

}  // namespace

void add_forecast(CLI::App& app) {
  const auto options = std::make_shared<ForecastArguments>();
  CLI::App* verb = add_verb(app, "forecast",
                            "Predict for each unit of a log: its state now, its state ahead, its "
                            "time to failure",
                            options->common, [options] { run_forecast(*options); });
  add_model_argument(
      *verb, "MODEL", options->model,
      "Model or estimate with transition; the drawn dynamics that an estimate carries give error "
      "bars",
      options->common);
  add_logs(*verb, "LOG", options->logs, "Log: files, folders and patterns; - is standard input",
           options->common)
      ->required();
  verb->add_option("--actions", options->schedule,
                   "Future actions, repeated in this order: run, or run,run,service")
      ->delimiter(',');
  verb->add_option(
      "--policy", options->policy,
      "Instead of --actions, a policy that will choose them from what it sees: a plan, or "
      "any policy of oas evaluate --policy");
  verb->add_option("--reach", options->reach, "States whose first visit is predicted: failed")
      ->delimiter(',');
  add_fields(*verb, options->forecast);
  add_log_options(*verb, true, options->rows, options->common);
  add_output(*verb, "-o,--output", options->output,
             "CSV to write: for each unit and step the probability of every state, and of having "
             "reached those of --reach",
             options->common);
  verb->footer(
      "\"Now\" is the state after a unit's last row. `reached` includes units that are there now. "
      "`half by` is the step by which half of such units have been there. `mean steps` is the mean "
      "time to get there, or never where that may not happen. With draws, probabilities are means "
      "over the draws and `mean steps` is their median. Limits cover what is unknown about the "
      "dynamics; where the present state is uncertain, all its possibilities are weighed.\n\n" +
      verb->get_footer());
}

}  // namespace oas::cli
