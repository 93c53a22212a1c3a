#include "oas/jobs/log_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "oas/belief/filter.hpp"
#include "oas/belief/likelihood_filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/error_bars/posterior_intervals.hpp"
#include "oas/jobs/logged_runs.hpp"
#include "oas/logs/csv_cell.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas {

namespace {

// The belief after a run; `impossible` is set to the rows that the model rules out.
std::vector<double> belief_after(const Pomdp& model, const LoggedRun& run, bool finite,
                                 std::int64_t& impossible) {
  if (finite && run.likelihoods.empty()) {
    BeliefFilter filter(model);
    impossible += !(filter.reset(run.start) > 0.0);
    for (std::size_t t = 0; t < run.actions.size(); ++t) {
      impossible += !(filter.update(run.actions[t], run.observations[t]) > 0.0);
    }
    return {filter.belief().begin(), filter.belief().end()};
  }
  LikelihoodFilter filter(model);
  impossible += !(filter.reset(run.start) > 0.0);
  const std::span<const double> likelihoods = run.likelihoods;
  const auto states = static_cast<std::size_t>(model.num_states());
  for (std::size_t t = 0; t < run.actions.size(); ++t) {
    impossible += !(filter.update(run.actions[t], likelihoods.subspan(t * states, states)) > 0.0);
  }
  return {filter.belief().begin(), filter.belief().end()};
}

// The quantile of sorted values, by linear interpolation; they may be ∞.
double quantile_of(const std::vector<double>& sorted, double level) {
  const double position = level * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  if (share == 0.0 || sorted[below] == sorted[above]) return sorted[below];
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

// Puts the forecasts of many draws together.
class Spread {
 public:
  Spread(std::span<const Forecast> draws, double confidence)
      : draws_(draws), confidence_(confidence) {}

  void into(UnitForecast& unit) {
    unit.middle = unit.lower = unit.upper = draws_.front();
    each(&Forecast::states, unit);
    each(&Forecast::survival, unit);
    take([](const Forecast& draw) { return draw.ever; });
    unit.middle.ever = mean();
    set(1.0, unit.lower.ever, unit.upper.ever);
    take([](const Forecast& draw) { return draw.mean_steps; });
    unit.middle.mean_steps = quantile_of(sorted_, 0.5);
    if (!unit.middle.survival.empty()) set_mean_steps(unit);
  }

  // Moves the limits so that they hold this forecast.
  static void hold(const Forecast& forecast, UnitForecast& unit) {
    const auto widen = [](double value, double& lower, double& upper) {
      lower = std::min(lower, value);
      upper = std::max(upper, value);
    };
    for (const auto member : {&Forecast::states, &Forecast::survival}) {
      for (std::size_t i = 0; i < (forecast.*member).size(); ++i) {
        widen((forecast.*member)[i], (unit.lower.*member)[i], (unit.upper.*member)[i]);
      }
    }
    widen(forecast.ever, unit.lower.ever, unit.upper.ever);
    widen(forecast.mean_steps, unit.lower.mean_steps, unit.upper.mean_steps);
  }

 private:
  // Times have no shortest interval: their tail is long. A bound is inside where it is for the
  // probabilities: 0 where the unit may be there now, ∞ where it may not get there in time.
  void set_mean_steps(UnitForecast& unit) const {
    const double out = 1.0 - confidence_;
    const bool now = unit.lower.survival.front() <= 0.0;
    const bool never = unit.upper.survival.back() >= 1.0;
    unit.lower.mean_steps = now ? 0.0 : quantile_of(sorted_, never ? out : 0.5 * out);
    unit.upper.mean_steps = never ? std::numeric_limits<double>::infinity()
                                  : quantile_of(sorted_, 1.0 - (now ? out : 0.5 * out));
  }
  template <class Value>
  void take(const Value& value) {
    sorted_.clear();
    for (const Forecast& draw : draws_) sorted_.push_back(value(draw));
    std::sort(sorted_.begin(), sorted_.end());
  }
  void each(std::vector<double> Forecast::*member, UnitForecast& unit) {
    for (std::size_t i = 0; i < (draws_.front().*member).size(); ++i) {
      take([&](const Forecast& draw) { return (draw.*member)[i]; });
      (unit.middle.*member)[i] = mean();
      set(1.0, (unit.lower.*member)[i], (unit.upper.*member)[i]);
    }
  }
  [[nodiscard]] double mean() const {
    return std::accumulate(sorted_.begin(), sorted_.end(), 0.0) /
           static_cast<double>(sorted_.size());
  }
  void set(double most, double& lower, double& upper) const {
    const Interval interval = shortest_interval(
        [&](double level) { return quantile_of(sorted_, level); }, confidence_, 0.0, most);
    lower = interval.lower;
    upper = interval.upper;
  }

  std::span<const Forecast> draws_;
  double confidence_;
  std::vector<double> sorted_;
};

}  // namespace

std::vector<UnitForecast> forecast_log(const AnyModel& model,
                                       std::span<const TransitionModel> draws,
                                       const std::string& log, const ForecastOptions& options,
                                       const LogOptions& rows, const RowsRead& progress) {
  const Pomdp& chain = chain_of(model);
  OAS_REQUIRE(options.confidence > 0.0 && options.confidence < 1.0,
              "confidence is {}; it must lie strictly between 0 and 1", options.confidence);
  std::vector<Pomdp> models;
  std::vector<Forecaster> forecasters;
  const auto add = [&](const TransitionModel& transition) {
    models.push_back(chain.with_transition(transition));
    forecasters.emplace_back(transition, options.question);
  };
  if (draws.empty()) add(chain.transition());
  for (const TransitionModel& draw : draws) add(draw);
  const std::size_t middle = models.size();  // those that count in middle values
  if (!draws.empty() && options.within) add(*options.within);
  LogReader reader = std::visit([&](const auto& any) { return LogReader(log, any, rows); }, model);
  std::vector<UnitForecast> units;
  std::int64_t runs = 0;
  const bool finite = std::holds_alternative<Pomdp>(model);
  for_each_run(reader, [&](const LoggedRun& run) {
    std::vector<Forecast> found(models.size());
    std::vector<std::int64_t> impossible(models.size(), 0);
    parallel_for(models.size(), options.parallelism, [&](std::size_t i) {
      found[i] = forecasters[i](belief_after(models[i], run, finite, impossible[i]));
    });
    UnitForecast unit;
    const auto counted = std::span(impossible).first(middle);
    unit.impossible = *std::max_element(counted.begin(), counted.end());
    unit.unit = run.name.empty() ? fmt::format("{}", runs) : run.name;
    unit.rows = run.first_step + run.rows();
    if (draws.empty()) {
      unit.middle = std::move(found.front());
      unit.lower = unit.upper = Forecast{{}, {}, unit.middle.ever, unit.middle.mean_steps};
    } else {
      Spread(std::span(found).first(middle), options.confidence).into(unit);
      if (models.size() > middle && impossible[middle] == 0) Spread::hold(found[middle], unit);
    }
    // Parts of a unit follow each other.
    if (run.first_step > 0 && !units.empty() && units.back().unit == unit.unit) units.pop_back();
    units.push_back(std::move(unit));
    ++runs;
    if (progress) progress(run.rows());
  });
  return units;
}

void write_forecasts(const Pomdp& model, std::span<const UnitForecast> units, ByteSink& out) {
  const bool limits = !units.empty() && !units.front().lower.states.empty();
  const bool reach = !units.empty() && !units.front().middle.survival.empty();
  std::string text = "unit,step";
  const auto name = [&](const std::string& column) {
    text += "," + csv_cell(column);
    if (limits) text += "," + csv_cell(column + "_lower") + "," + csv_cell(column + "_upper");
  };
  for (int s = 0; s < model.num_states(); ++s) name("state_" + model.states()[s]);
  if (reach) name("reached");
  out.write(text + "\n");
  const auto states = static_cast<std::size_t>(model.num_states());
  for (const UnitForecast& unit : units) {
    for (std::size_t k = 0; k * states < unit.middle.states.size(); ++k) {
      text = fmt::format("{},{}", csv_cell(unit.unit), k);
      const auto number = [&](double middle, double lower, double upper) {
        fmt::format_to(std::back_inserter(text), ",{:.6g}", middle);
        if (limits) fmt::format_to(std::back_inserter(text), ",{:.6g},{:.6g}", lower, upper);
      };
      for (std::size_t i = k * states; i < (k + 1) * states; ++i) {
        number(unit.middle.states[i], limits ? unit.lower.states[i] : 0.0,
               limits ? unit.upper.states[i] : 0.0);
      }
      if (reach) {
        number(1.0 - unit.middle.survival[k], limits ? 1.0 - unit.upper.survival[k] : 0.0,
               limits ? 1.0 - unit.lower.survival[k] : 0.0);
      }
      out.write(text + "\n");
    }
  }
}

}  // namespace oas
