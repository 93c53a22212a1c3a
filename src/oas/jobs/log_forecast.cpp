#include "oas/jobs/log_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/quantile.hpp"
#include "oas/estimation/error_bars/posterior_intervals.hpp"
#include "oas/jobs/logged_runs.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/planning/evaluation/controller_forecast.hpp"

namespace oas {

namespace {

// An estimate at 0 is a tiny number.
constexpr double kNoTime = 1e-6;
constexpr double kForEver = 1e9;

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
    unit.middle.mean_steps = sorted_quantile(sorted_, 0.5);
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
    unit.lower.mean_steps = now ? 0.0 : limit_of_draws(sorted_, never ? out : 0.5 * out);
    unit.upper.mean_steps = never ? std::numeric_limits<double>::infinity()
                                  : limit_of_draws(sorted_, 1.0 - (now ? out : 0.5 * out));
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
        [&](double level) { return limit_of_draws(sorted_, level); }, confidence_, 0.0, most);
    lower = interval.lower;
    upper = interval.upper;
  }

  std::span<const Forecast> draws_;
  double confidence_;
  std::vector<double> sorted_;
};

// Units that are forecast at once under a policy.
constexpr std::size_t kUnitsAtOnce = 64;

// A unit at the end of its log.
struct UnitNow {
  UnitForecast unit;
  std::vector<double> beliefs;        // [model][S]
  std::optional<Action> to_be_read;   // the last action, where its reading is still to come
  std::optional<Action> last_action;  // else, where there is one
  Observation last_seen = kMissing;   // and what was read last
  std::vector<double> own;            // the policy's belief, of before such an action; or empty
  bool within_is_possible = false;    // no row of it is ruled out by ForecastOptions::within
};

// Forecasts for the models that the dynamics may be.
class UnitForecasts {
 public:
  UnitForecasts(const Pomdp& chain, bool finite, std::span<const TransitionModel> draws,
                const ForecastOptions& options)
      : options_(options),
        finite_(finite),
        states_(static_cast<std::size_t>(chain.num_states())),
        limits_(!draws.empty()) {
    if (draws.empty()) models_.push_back(chain);
    for (const TransitionModel& draw : draws) models_.push_back(chain.with_transition(draw));
    num_draws_ = models_.size();
    if (limits_ && options.within) models_.push_back(chain.with_transition(*options.within));
    if (options.policy) return;
    for (const Pomdp& model : models_) {
      forecasters_.emplace_back(model.transition(), options.question);
    }
  }

  [[nodiscard]] UnitNow at_end_of(const LoggedRun& run) const {
    UnitNow now;
    now.beliefs.resize(models_.size() * states_);
    std::vector<std::int64_t> impossible(models_.size(), 0);
    parallel_for(models_.size(), options_.parallelism, [&](std::size_t i) {
      const FilteredRun filtered = filter_run(models_[i], finite_, run);
      impossible[i] = filtered.impossible;
      std::copy(filtered.belief.begin(), filtered.belief.end(),
                now.beliefs.begin() + static_cast<std::ptrdiff_t>(i * states_));
    });
    const auto drawn = std::span(impossible).first(num_draws_);
    now.unit.impossible = *std::max_element(drawn.begin(), drawn.end());
    now.within_is_possible = num_draws_ < models_.size() && impossible.back() == 0;
    now.unit.rows = run.first_step + run.rows();
    if (!options_.policy) return now;
    const std::size_t rows = run.actions.size();
    if (rows > 0) {
      (run.last_action ? now.to_be_read : now.last_action) = run.actions.back();
      now.last_seen = run.observations.back();
    } else if (run.start.first() != nullptr) {
      now.last_seen = run.start.first()->observation;
    }
    if (const auto* const rule = std::get_if<BeliefRule>(&options_.policy->acts)) {
      std::vector<double> before;  // the last row
      now.own = filter_run(rule->model, finite_, run, [&](std::size_t t, auto belief) {
                  if (t + 1 == rows) before.assign(belief.begin(), belief.end());
                }).belief;
      if (now.to_be_read) now.own = std::move(before);
    }
    return now;
  }

  // The k-th of `parts` equal parts of the draws: what they believe of the unit after this run,
  // whose likelihoods are others.
  void believe_again(const LoggedRun& run, std::size_t k, std::size_t parts, UnitNow& now) const {
    const std::size_t count = num_draws_ / parts;
    for (std::size_t i = k * count; i < (k + 1) * count; ++i) {
      const FilteredRun filtered = filter_run(models_[i], finite_, run);
      std::copy(filtered.belief.begin(), filtered.belief.end(),
                now.beliefs.begin() + static_cast<std::ptrdiff_t>(i * states_));
    }
  }

  [[nodiscard]] UnitForecast under_schedule(UnitNow now) const {
    std::vector<Forecast> found(models_.size());
    parallel_for(models_.size(), options_.parallelism,
                 [&](std::size_t i) { found[i] = forecasters_[i](belief(now, i)); });
    return put_together(std::move(now), found);
  }

  [[nodiscard]] std::vector<UnitForecast> under_policy(std::span<UnitNow> units) const {
    const Controlled controlled = controller_for(units);
    std::vector<int> nodes;
    for (const std::vector<int>& of_unit : controlled.nodes) {
      nodes.insert(nodes.end(), of_unit.begin(), of_unit.end());
    }
    std::vector<std::vector<Forecast>> found(units.size(), std::vector<Forecast>(models_.size()));
    parallel_for(models_.size(), options_.parallelism, [&](std::size_t i) {
      const ControllerForecaster forecaster(models_[i], controlled.controller, options_.question,
                                            nodes);
      for (std::size_t u = 0; u < units.size(); ++u) {
        const std::vector<int>& of_unit = controlled.nodes[u];
        found[u][i] = units[u].to_be_read
                          ? forecaster(belief(units[u], i), *units[u].to_be_read, of_unit)
                          : forecaster(belief(units[u], i), of_unit.front());
      }
    });
    std::vector<UnitForecast> results;
    for (std::size_t u = 0; u < units.size(); ++u) {
      results.push_back(put_together(std::move(units[u]), found[u]));
      results.back().tolerance = controlled.tolerance;
    }
    return results;
  }

 private:
  [[nodiscard]] std::span<const double> belief(const UnitNow& now, std::size_t model) const {
    return std::span(now.beliefs).subspan(model * states_, states_);
  }

  // The policy as a controller, and the node in which each unit is; where a reading is still to
  // come, the nodes after each.
  struct Controlled {
    Controller controller;
    std::vector<std::vector<int>> nodes;
    double tolerance = 0.0;  // beliefs nearer than this share a node
  };

  [[nodiscard]] Controlled controller_for(std::span<const UnitNow> units) const {
    const AskedPolicy& policy = *options_.policy;
    if (const auto* const rule = std::get_if<BeliefRule>(&policy.acts)) {
      return nodes_of_beliefs(*rule, units);
    }
    Controlled result{std::get<Controller>(policy.acts), {}, 0.0};
    for (const UnitNow& now : units) {
      std::vector<int>& nodes = result.nodes.emplace_back();
      if (!now.to_be_read) {
        nodes.push_back(node_after(policy, result.controller, now.last_action, now.last_seen));
        continue;
      }
      for (Observation o{0}; o < result.controller.num_observations; ++o) {
        nodes.push_back(node_after(policy, result.controller, now.to_be_read, o));
      }
    }
    return result;
  }

  // Policies on the last row know it; others begin, after a reading if they ask for one.
  static int node_after(const AskedPolicy& policy, const Controller& controller,
                        std::optional<Action> action, Observation seen) {
    if (seen == kMissing) return controller.start;
    if (policy.by_last_row && action) return *action * controller.num_observations + seen;
    if (controller.first.empty()) return controller.start;
    const int node = controller.first[static_cast<std::size_t>(seen)];
    return node == Controller::kNone ? controller.start : node;
  }

  [[nodiscard]] Controlled nodes_of_beliefs(const BeliefRule& rule,
                                            std::span<const UnitNow> units) const {
    BeliefFilter filter(rule.model);
    std::vector<std::vector<double>> roots;
    for (const UnitNow& now : units) {
      if (!now.to_be_read) {
        roots.push_back(now.own);
        continue;
      }
      for (Observation o{0}; o < rule.model.num_observations(); ++o) {
        filter.reset(Belief(now.own));
        filter.update(*now.to_be_read, o);  // an impossible one is skipped
        roots.emplace_back(filter.belief().begin(), filter.belief().end());
      }
    }
    const int fitting = std::max(1, static_cast<int>(kMaxGraphPairs) / static_cast<int>(states_));
    BeliefNodes found = nodes_of(rule, roots, std::min(kMostBeliefNodes, fitting));
    Controlled result{std::move(found.controller), {}, found.tolerance};
    auto next = found.roots.begin();
    for (const UnitNow& now : units) {
      const auto count = now.to_be_read ? rule.model.num_observations() : 1;
      result.nodes.emplace_back(next, next + count);
      next += count;
    }
    return result;
  }

  [[nodiscard]] UnitForecast put_together(UnitNow now, std::vector<Forecast>& found) const {
    UnitForecast unit = std::move(now.unit);
    if (limits_) {
      Spread(std::span(found).first(num_draws_), options_.confidence).into(unit);
      if (now.within_is_possible) Spread::hold(found.back(), unit);
    } else {
      unit.middle = std::move(found.front());
      unit.lower = unit.upper = Forecast{{}, {}, unit.middle.ever, unit.middle.mean_steps};
    }
    return unit;
  }

  const ForecastOptions& options_;
  bool finite_;
  std::size_t states_;
  bool limits_;
  std::vector<Pomdp> models_;  // draws, then the one that limits are to hold
  std::size_t num_draws_ = 0;
  std::vector<Forecaster> forecasters_;
};

std::vector<UnitForecast> under_policy(const UnitForecasts& forecasts,
                                       std::vector<UnitNow>& units) {
  std::vector<UnitForecast> results;
  for (std::size_t first = 0; first < units.size(); first += kUnitsAtOnce) {
    const std::size_t count = std::min(kUnitsAtOnce, units.size() - first);
    for (UnitForecast& unit : forecasts.under_policy(std::span(units).subspan(first, count))) {
      results.push_back(std::move(unit));
    }
  }
  return results;
}

// Reads the log once more for each of the densities, all of them side by side.
void believe_under_draws(const UnitForecasts& forecasts, const ContinuousPomdp& model,
                         const OneLog& log, LogOptions rows, std::vector<UnitNow>& units,
                         Parallelism parallelism) {
  // Readings that the densities allow are not to fail under a draw of them.
  if (Outliers(rows.outliers).kind == Outliers::Kind::error) rows.outliers = "missing";
  const std::size_t parts = model.density_draws().draws.size();
  parallel_for(parts, parallelism, [&](std::size_t k) {
    LogReader reader(log, model.with_draw(k), rows);
    std::size_t next = 0;
    for_each_run(reader, [&](const LoggedRun& run) {
      if (run.goes_on()) --next;
      forecasts.believe_again(run, k, parts, units[next++]);
    });
  });
}

// The densities that draws of T belong to; null: none.
const ContinuousPomdp* with_drawn_densities(const AnyModel& model, std::size_t draws,
                                            const ForecastOptions& options) {
  const auto* const continuous = std::get_if<ContinuousPomdp>(&model);
  if (!options.drawn_densities || continuous == nullptr || draws == 0) return nullptr;
  const std::size_t parts = continuous->density_draws().draws.size();
  return parts > 0 && draws % parts == 0 ? continuous : nullptr;
}

}  // namespace

std::vector<UnitForecast> forecast_log(const AnyModel& model,
                                       std::span<const TransitionModel> draws, const OneLog& log,
                                       const ForecastOptions& options, const LogOptions& rows,
                                       const RowsRead& progress) {
  check_ranges(options);
  OAS_REQUIRE(!options.policy || options.seen_by_policy || std::holds_alternative<Pomdp>(model),
              "a policy answers finite observations, and it is unknown what it sees of "
              "real-valued ones");
  if (options.policy) {
    const auto* const rule = std::get_if<BeliefRule>(&options.policy->acts);
    OAS_REQUIRE(rule == nullptr || rule->model.num_states() == chain_of(model).num_states(),
                "the policy keeps beliefs over {} states, and the model has {}",
                rule->model.num_states(), chain_of(model).num_states());
  }
  const Pomdp& ahead =
      options.policy && options.seen_by_policy ? *options.seen_by_policy : chain_of(model);
  const UnitForecasts forecasts(ahead, std::holds_alternative<Pomdp>(model), draws, options);
  LogReader reader = std::visit([&](const auto& any) { return LogReader(log, any, rows); }, model);
  std::vector<UnitForecast> units;
  std::vector<UnitNow> waiting;  // for the policy, or for what other densities say of them
  const ContinuousPomdp* const drawn = with_drawn_densities(model, draws.size(), options);
  for_each_run(reader, [&](const LoggedRun& run) {
    UnitNow now = forecasts.at_end_of(run);
    now.unit.unit = run.unit;
    if (options.policy || drawn != nullptr) {
      if (run.goes_on()) waiting.pop_back();
      waiting.push_back(std::move(now));
    } else {
      if (run.goes_on()) units.pop_back();
      units.push_back(forecasts.under_schedule(std::move(now)));
    }
    if (progress) progress(run.rows());
  });
  if (drawn != nullptr) {
    believe_under_draws(forecasts, *drawn, log, rows, waiting, options.parallelism);
  }
  if (options.policy) return under_policy(forecasts, waiting);
  for (UnitNow& now : waiting) units.push_back(forecasts.under_schedule(std::move(now)));
  return units;
}

std::string steps_words(double steps, const char* format) {
  if (steps < kNoTime) return "0";
  return steps < kForEver ? fmt::format(fmt::runtime(format), steps) : "never";
}

std::string mean_steps_words(const Forecast& forecast, const char* format) {
  if (forecast.mean_steps < kForEver || forecast.ever <= kNoTime || !(forecast.ever < 1.0)) {
    return steps_words(forecast.mean_steps, format);
  }
  return fmt::format("never in {:.2g} %", 100.0 * (1.0 - forecast.ever));
}

}  // namespace oas
