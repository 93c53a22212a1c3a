#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "command_files.hpp"
#include "names.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/jobs/log_forecast.hpp"
#include "oas/jobs/log_policy.hpp"
#include "oas/logs/byte_sink.hpp"
#include "posterior.hpp"
#include "setting_options.hpp"
#include "undetermined.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

constexpr double kExactBeliefs = 1e-6;  // rounded so little, a policy is itself
constexpr std::size_t kShownUnits = 40;

struct ForecastArguments {
  Common common;
  std::string model;
  std::vector<std::string> logs;
  std::vector<Setting> rows;
  std::vector<std::string> schedule;
  std::string policy;
  std::vector<std::string> reach;
  ForecastOptions forecast;
  std::string output;
};

nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

// An estimate at 0 is a tiny number.
constexpr double kNoTime = 1e-6;
constexpr double kForEver = 1e9;

std::string steps_text(double steps) {
  if (steps < kNoTime) return "0";
  return steps < kForEver ? fmt::format("{:.4g}", steps) : "never";
}

std::string mean_text(const Forecast& forecast) {
  if (forecast.mean_steps < kForEver || forecast.ever <= kNoTime) {
    return steps_text(forecast.mean_steps);
  }
  return forecast.ever < 1.0 ? fmt::format("never in {:.2g} %", 100.0 * (1.0 - forecast.ever))
                             : "never";
}

std::string with_limits(const std::string& middle, const std::string& lower,
                        const std::string& upper, bool limits) {
  return limits ? fmt::format("{} [{}, {}]", middle, lower, upper) : middle;
}

nlohmann::ordered_json unit_json(const ForecastArguments& options, const UnitForecast& unit,
                                 int states, bool limits) {
  const auto belief = unit.belief(states);
  nlohmann::ordered_json json = {{"unit", unit.unit},
                                 {"rows", unit.rows},
                                 {"belief", std::vector(belief.begin(), belief.end())}};
  if (options.reach.empty()) return json;
  const auto both = [&](double middle, double lower, double upper) {
    nlohmann::ordered_json value = {{"value", number_or_null(middle)}};
    if (limits) value["limits"] = {number_or_null(lower), number_or_null(upper)};
    return value;
  };
  json["reached_within_steps"] =
      both(1.0 - unit.middle.survival.back(), limits ? 1.0 - unit.upper.survival.back() : 0.0,
           limits ? 1.0 - unit.lower.survival.back() : 0.0);
  json["reached_ever"] = both(unit.middle.ever, unit.lower.ever, unit.upper.ever);
  json["mean_steps"] = both(unit.middle.mean_steps, unit.lower.mean_steps, unit.upper.mean_steps);
  for (const auto& [name, level] : {std::pair{"half_by_step", 0.5}, {"nine_tenths_by_step", 0.9}}) {
    const auto quantile = unit.middle.quantile(level);
    json[name] = quantile ? nlohmann::ordered_json(*quantile) : nlohmann::ordered_json(nullptr);
  }
  return json;
}

std::string likeliest(const Pomdp& model, std::span<const double> probabilities) {
  const auto best = std::max_element(probabilities.begin(), probabilities.end());
  return fmt::format("{} {:.2f}", model.states()[static_cast<int>(best - probabilities.begin())],
                     *best);
}

std::string unit_table(const ForecastArguments& options, const Pomdp& model,
                       const std::vector<const UnitForecast*>& units, bool limits) {
  const int steps = options.forecast.question.steps;
  std::vector<std::string> header = {"unit", "rows", "likeliest now"};
  if (options.reach.empty() && steps > 0) header.push_back(fmt::format("likeliest in {}", steps));
  if (!options.reach.empty()) {
    header.push_back(fmt::format("reached in {}", steps));
    header.insert(header.end(), {"half by", "mean steps"});
  }
  Table table(header);
  for (const UnitForecast* unit : units) {
    const std::span<const double> states = unit->middle.states;
    const auto width = static_cast<std::size_t>(model.num_states());
    std::vector<std::string> row = {unit->unit, big_number(static_cast<double>(unit->rows)),
                                    likeliest(model, states.first(width))};
    if (options.reach.empty() && steps > 0) row.push_back(likeliest(model, states.last(width)));
    if (!options.reach.empty()) {
      const auto share = [](double survival) { return fmt::format("{:.3f}", 1.0 - survival); };
      const auto half = unit->middle.quantile(0.5);
      row.push_back(with_limits(share(unit->middle.survival.back()),
                                limits ? share(unit->upper.survival.back()) : "",
                                limits ? share(unit->lower.survival.back()) : "", limits));
      row.push_back(half ? fmt::format("{}", *half) : fmt::format("> {}", steps));
      row.push_back(with_limits(mean_text(unit->middle), steps_text(unit->lower.mean_steps),
                                steps_text(unit->upper.mean_steps), limits));
    }
    table.add(std::move(row));
  }
  return table.text();
}

// With which the policy of the units was followed, at worst.
double tolerance_of(const std::vector<UnitForecast>& units) {
  double worst = 0.0;
  for (const UnitForecast& unit : units) worst = std::max(worst, unit.tolerance);
  return worst;
}

std::string report(const ForecastArguments& options, const Pomdp& model,
                   const std::vector<UnitForecast>& units, std::size_t draws) {
  const ForecastQuestion& question = options.forecast.question;
  std::vector<std::string> actions;
  for (const Action action : question.schedule) actions.push_back(model.actions()[action]);
  const std::string under = options.policy.empty()
                                ? fmt::format("{}{}", fmt::join(actions, ", "),
                                              actions.size() > 1 ? ", again and again" : "")
                                : options.policy;
  std::string text = fmt::format("{}, {} ahead under {}\n\n", counted(units.size(), "unit"),
                                 counted(question.steps, "step"), under);
  std::vector<const UnitForecast*> shown;
  for (const UnitForecast& unit : units) shown.push_back(&unit);
  if (!options.reach.empty()) {
    std::stable_sort(shown.begin(), shown.end(),
                     [](const auto* a, const auto* b) { return more_urgent(*a, *b); });
  }
  shown.resize(std::min(shown.size(), kShownUnits));
  text += unit_table(options, model, shown, draws > 0);
  if (shown.size() < units.size()) {
    text += fmt::format("  and {} more; -o writes all\n", units.size() - shown.size());
  }
  if (!options.reach.empty()) {
    const auto there = std::count_if(units.begin(), units.end(),
                                     [](const UnitForecast& unit) { return unit.is_there(); });
    text += fmt::format(
        "\nreached: {} was entered{}\n", fmt::join(options.reach, " or "),
        there == 0 ? "" : fmt::format("; {} of the units probably there now, shown last", there));
  }
  if (const double rounded = tolerance_of(units); rounded > kExactBeliefs) {
    text += fmt::format("beliefs of the policy were rounded to within {:g}\n", rounded);
  }
  if (draws > 0) {
    text += fmt::format("[ ]: {:g} % of {} transition models drawn from the posterior\n",
                        100.0 * options.forecast.confidence, draws);
  } else {
    text += fmt::format(
        "{} carries no draws of the dynamics, which are taken as exact; oas estimate writes some "
        "with oas-ml, em and gibbs, and forecasts then have error bars\n",
        options.model);
  }
  return text;
}

void run_forecast(const ForecastArguments& given) {
  ForecastArguments options = given;
  const AnyModel any = load_row_model(options.model, options.rows, options.common);
  const Pomdp& model = chain_of(any);
  OAS_REQUIRE(model.has_transition(), "{}: has no transition model to forecast with",
              options.model);
  OAS_REQUIRE(options.forecast.confidence > 0.0 && options.forecast.confidence < 1.0,
              "--confidence {}: it must lie strictly between 0 and 1", options.forecast.confidence);
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
  std::int64_t impossible = 0;
  for (const UnitForecast& unit : units) impossible += unit.impossible;
  if (impossible > 0) {
    warn(options.common,
         fmt::format("{} of probability 0 under this model skipped: the model or "
                     "the log is wrong",
                     impossible == 1 ? "1 row was" : fmt::format("{} rows were", impossible)));
  }
  if (out) {
    write_forecasts(model, units, *out);
    out->commit();
  }
  if (options.common.json) {
    nlohmann::ordered_json json = {{"steps", question.steps},
                                   {"actions", given.schedule},
                                   {"policy", given.policy},
                                   {"reach", given.reach},
                                   {"impossible_rows", impossible},
                                   {"draws", draws.size()},
                                   {"confidence", options.forecast.confidence},
                                   {"units", nlohmann::ordered_json::array()}};
    if (!warning.empty()) json["warning"] = warning;
    if (!options.policy.empty()) json["beliefs_rounded_to"] = tolerance_of(units);
    for (const UnitForecast& unit : units) {
      json["units"].push_back(unit_json(options, unit, model.num_states(), !draws.empty()));
    }
    print_json(options.common, json);
  }
  std::string text = report(options, model, units, draws.size());
  if (out) text += fmt::format("{}: written\n", options.output);
  print(options.common, text);
}

}  // namespace

void add_forecast(CLI::App& app) {
  const auto options = std::make_shared<ForecastArguments>();
  CLI::App* verb =
      add_verb(app, "forecast", "For each unit of a log: its state now, ahead, and time to failure",
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
                   "Actions to come, in this order and then again: run or run,run,service")
      ->delimiter(',');
  verb->add_option("--policy", options->policy,
                   "Instead of --actions, who will choose them by what is seen: a plan, or any "
                   "policy of oas evaluate --policy");
  verb->add_option("--reach", options->reach, "States whose first time is asked for: failed")
      ->delimiter(',');
  add_whole_number(*verb, "--steps", options->forecast.question.steps, {0, 100'000},
                   "How many steps to look ahead")
      ->capture_default_str();
  verb->add_option("--confidence", options->forecast.confidence,
                   "Level of the limits, strictly between 0 and 1")
      ->capture_default_str();
  add_log_options(*verb, true, options->rows, options->common);
  add_output(*verb, "-o,--output", options->output,
             "CSV to write: for each unit and step the probability of every state, and of having "
             "reached those of --reach",
             options->common);
  verb->footer(
      "Now is the state after a unit's last row. `reached` counts units that are there now. `half "
      "by` is the step by which half of such units have been there; `mean steps` is the mean time "
      "to get there, never where that may not happen. With draws, probabilities are means over "
      "them and `mean steps` is the median. Limits hold what is not known of the dynamics; "
      "where the state now is uncertain, all its possibilities are weighed.\n\n" +
      verb->get_footer());
}

}  // namespace oas::cli
