#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "forecast_report.hpp"

namespace oas::cli {

namespace {

nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
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

}  // namespace

nlohmann::ordered_json forecast_json(const ForecastArguments& options, const Pomdp& model,
                                     const Forecasts& forecasts) {
  const auto& [units, draws, warning] = forecasts;
  const ForecastQuestion& question = options.forecast.question;
  nlohmann::ordered_json json = {{"steps", question.steps},
                                 {"actions", options.schedule},
                                 {"policy", options.policy},
                                 {"reach", options.reach},
                                 {"impossible_rows", forecasts.impossible_rows()},
                                 {"draws", draws},
                                 {"confidence", options.forecast.confidence},
                                 {"units", nlohmann::ordered_json::array()}};
  if (!warning.empty()) json["warning"] = warning;
  if (!options.policy.empty()) json["beliefs_rounded_to"] = forecasts.tolerance();
  for (const UnitForecast& unit : units) {
    json["units"].push_back(unit_json(options, unit, model.num_states(), draws > 0));
  }
  return json;
}

}  // namespace oas::cli
