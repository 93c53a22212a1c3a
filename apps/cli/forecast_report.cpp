#include "forecast_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace oas::cli {

namespace {

constexpr double kExactBeliefs = 1e-6;  // rounded so little, a policy is itself
constexpr std::size_t kShownUnits = 40;

std::string with_limits(const std::string& middle, const std::string& lower,
                        const std::string& upper, bool limits) {
  return limits ? fmt::format("{} [{}, {}]", middle, lower, upper) : middle;
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
      row.push_back(with_limits(mean_steps_words(unit->middle), steps_words(unit->lower.mean_steps),
                                steps_words(unit->upper.mean_steps), limits));
    }
    table.add(std::move(row));
  }
  return table.text();
}

}  // namespace

double Forecasts::tolerance() const {
  double worst = 0.0;
  for (const UnitForecast& unit : units) worst = std::max(worst, unit.tolerance);
  return worst;
}

std::int64_t Forecasts::impossible_rows() const {
  std::int64_t rows = 0;
  for (const UnitForecast& unit : units) rows += unit.impossible;
  return rows;
}

std::string forecast_text(const ForecastArguments& options, const Pomdp& model,
                          const Forecasts& forecasts) {
  const auto& [units, draws, warning] = forecasts;
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
  if (const double rounded = forecasts.tolerance(); rounded > kExactBeliefs) {
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

}  // namespace oas::cli
