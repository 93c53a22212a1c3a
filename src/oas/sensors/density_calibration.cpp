#include "oas/sensors/density_calibration.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/sensors/detail/family_choice.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/sensors/soft_features.hpp"

namespace oas {

namespace {

constexpr double kDependentReadings = 1e-4;  // p-value below which readings are said to differ
constexpr std::size_t kFewestRanked = 5;
constexpr std::size_t kFewReadings = 30;

// Ranks of all values of several samples; equal ones share the mean of theirs. Returns Σ (t³ - t)
// over ties.
double rank(const std::vector<std::vector<double>>& samples, std::vector<double>& rank_sums) {
  std::vector<std::pair<double, std::size_t>> all;
  for (std::size_t g = 0; g < samples.size(); ++g) {
    for (const double x : samples[g]) all.emplace_back(x, g);
  }
  std::sort(all.begin(), all.end());
  rank_sums.assign(samples.size(), 0.0);
  double ties = 0.0;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    while (end < all.size() && all[end].first == all[first].first) ++end;
    const auto size = static_cast<double>(end - first);
    const double shared = 0.5 * static_cast<double>(first + 1 + end);
    for (std::size_t i = first; i < end; ++i) rank_sums[all[i].second] += shared;
    ties += size * size * size - size;
    first = end;
  }
  return ties;
}

// Adds the statistic of Kruskal and Wallis.
void add_kruskal_wallis(const std::vector<std::vector<double>>& samples, ActionDependence& test) {
  if (samples.size() < 2) return;
  std::vector<double> sums;
  const double ties = rank(samples, sums);
  double n = 0.0;
  double statistic = 0.0;
  for (std::size_t g = 0; g < samples.size(); ++g) {
    const auto size = static_cast<double>(samples[g].size());
    n += size;
    statistic += sums[g] * sums[g] / size;
  }
  statistic = 12.0 * statistic / (n * (n + 1.0)) - 3.0 * (n + 1.0);
  const double correction = 1.0 - ties / (n * n * n - n);
  if (!(correction > 0.0)) return;
  test.statistic += statistic / correction;
  test.degrees += static_cast<double>(samples.size() - 1);
}

ReadingGroup rows_with(const ReadingGroup& group, int dimension, int component) {
  ReadingGroup result;
  const auto d = static_cast<std::size_t>(dimension);
  for (std::size_t t = 0; t < group.size(); ++t) {
    const auto row = std::span(group.values).subspan(t * d, d);
    const auto missing = [](double value) { return std::isnan(value); };
    if (component >= 0 ? missing(row[static_cast<std::size_t>(component)])
                       : std::any_of(row.begin(), row.end(), missing)) {
      continue;
    }
    const auto taken = component >= 0 ? row.subspan(static_cast<std::size_t>(component), 1) : row;
    result.values.insert(result.values.end(), taken.begin(), taken.end());
    result.places.push_back(group.places[t]);
  }
  return result;
}

void append(const ReadingGroup& from, std::size_t files_before, ReadingGroup& to) {
  to.values.insert(to.values.end(), from.values.begin(), from.values.end());
  for (const ReadingPlace& place : from.places) {
    to.places.push_back({place.file + files_before, place.line});
  }
}

// One row of densities for every action of the model; what follows them is left out.
DensitySensors for_all_actions(std::vector<VectorDensity> densities, int num_states,
                               int num_actions) {
  const auto most = static_cast<std::size_t>(num_states * num_actions);
  if (densities.size() > most) densities.erase(densities.begin() + most, densities.end());
  const std::size_t size = densities.size();
  for (std::size_t i = size; i < most; ++i) {
    densities.push_back(densities[i - size]);
  }
  return {num_states, num_actions, std::move(densities)};
}

// σ_S of the soft sensors of each action.
std::vector<double> alphas_of(const DensitySensors& sensors, int actions) {
  std::vector<VectorDensity> densities;
  for (Action a{0}; a < actions; ++a) {
    for (State s{0}; s < sensors.num_states(); ++s) densities.push_back(sensors(a, s));
  }
  const SensorReport report = analyse_sensors(
      soft_sensors(DensitySensors(sensors.num_states(), actions, std::move(densities))));
  std::vector<double> alphas;
  for (const ActionSensor& sensor : report.actions) alphas.push_back(sensor.alpha);
  return alphas;
}

std::vector<AlphaInterval> alpha_intervals(const DensityCalibration& found, int num_actions,
                                           Parallelism parallelism) {
  const int distinct = found.by_action ? num_actions : 1;
  const std::vector<double> values = alphas_of(found.sensors, distinct);
  std::vector<std::vector<double>> drawn(found.draws.size());
  parallel_for(drawn.size(), parallelism,
               [&](std::size_t k) { drawn[k] = alphas_of(found.draws[k], distinct); });
  std::vector<AlphaInterval> result;
  for (int a = 0; a < num_actions; ++a) {
    const auto which = static_cast<std::size_t>(found.by_action ? a : 0);
    std::vector<double> sorted;
    for (const auto& draw : drawn) sorted.push_back(draw[which]);
    std::sort(sorted.begin(), sorted.end());
    const double tail = 0.5 * (1.0 - found.confidence) * static_cast<double>(sorted.size() - 1);
    const auto beyond = static_cast<std::size_t>(tail);
    result.push_back({values[which], sorted[beyond], sorted[sorted.size() - 1 - beyond]});
  }
  return result;
}

void warn_of_actions(const Pomdp& model, DensityCalibration& found) {
  if (!(found.dependence.p_value < kDependentReadings)) return;
  if (!found.by_action) {
    found.warnings.push_back(fmt::format(
        "readings of the same state differ by action (p = {:.2g}). {}", found.dependence.p_value,
        model.timing() == Timing::before
            ? "If the actions were chosen from these readings, that must be so, and densities "
              "shared by all actions are right; if the sensor itself depends on the action, use "
              "--by-action"
            : "In timing after a reading comes behind its action, so the sensor depends on it: use "
              "--by-action"));
  } else if (model.timing() == Timing::before) {
    found.warnings.push_back(fmt::format(
        "readings of the same state differ by action (p = {:.2g}). If the actions were chosen from "
        "these readings, leave out --by-action: densities by action are wrong then",
        found.dependence.p_value));
  }
}

void warn_of_few(const Pomdp& model, DensityCalibration& found) {
  std::vector<std::string> few;
  const auto look_at = [&](const ReadingGroup& group, const std::string& of, State s) {
    if (group.size() >= kFewReadings) return;
    few.push_back(fmt::format("{}{} ({})", of, model.states()[s], group.size()));
  };
  for (Action a{0}; a < found.readings.num_actions; ++a) {
    for (State s{0}; s < found.readings.num_states; ++s) {
      look_at(found.readings.at(a, s), found.by_action ? model.actions()[a] + ", " : "", s);
    }
  }
  for (State s{0}; found.first_density && s < found.readings.num_states; ++s) {
    look_at(found.readings.first[static_cast<std::size_t>(s)], "first readings, ", s);
  }
  if (few.empty()) return;
  found.warnings.push_back(
      fmt::format("fewer than {} labelled readings of: {}. Error bars that allow for it are rough",
                  kFewReadings, fmt::join(few, "; ")));
}

}  // namespace

LabelledReadings::LabelledReadings(int states, int actions, int components)
    : num_states(states),
      num_actions(actions),
      dimension(components),
      groups(static_cast<std::size_t>(states) * static_cast<std::size_t>(actions)) {}

ReadingGroup& LabelledReadings::at(Action action, State state) {
  return groups[static_cast<std::size_t>(action * num_states + state)];
}

const ReadingGroup& LabelledReadings::at(Action action, State state) const {
  return groups[static_cast<std::size_t>(action * num_states + state)];
}

void LabelledReadings::add(const LabelledReadings& other, std::size_t before) {
  for (std::size_t g = 0; g < groups.size(); ++g) append(other.groups[g], before, groups[g]);
  for (std::size_t s = 0; s < first.size(); ++s) append(other.first[s], before, first[s]);
  tally.add(other.tally);
}

LabelledReadings LabelledReadings::pooled() const {
  LabelledReadings result(num_states, 1, dimension);
  result.tally = tally;
  result.files = files;
  result.columns = columns;
  result.fields = fields;
  for (Action a{0}; a < num_actions; ++a) {
    for (State s{0}; s < num_states; ++s) append(at(a, s), 0, result.at(Action{0}, s));
  }
  for (std::size_t s = 0; s < first.size(); ++s) append(first[s], 0, result.groups[s]);
  return result;
}

void LabelledReadings::borrow_for(std::span<const int> unread, const Labels& states) {
  const auto take = [&](std::span<ReadingGroup> of_states) {  // [s] under one action
    ReadingGroup all;
    for (const ReadingGroup& group : of_states) append(group, 0, all);
    for (const int state : unread) {
      ReadingGroup& group = of_states[static_cast<std::size_t>(state)];
      OAS_REQUIRE(group.size() == 0, "unread: state '{}' has {} labelled reading{}", states[state],
                  group.size(), group.size() == 1 ? "" : "s");
      group = all;
    }
  };
  const auto width = static_cast<std::size_t>(num_states);
  for (std::size_t a = 0; a < static_cast<std::size_t>(num_actions); ++a) {
    take(std::span(groups).subspan(a * width, width));
  }
  if (!first.empty()) take(first);
}

LabelledReadings LabelledReadings::with_first_as_action() const {
  LabelledReadings result = *this;
  ++result.num_actions;
  result.groups.insert(result.groups.end(), first.begin(), first.end());
  result.first.clear();
  return result;
}

ReadingGroup LabelledReadings::component(Action action, State state, int i) const {
  return rows_with(at(action, state), dimension, i);
}

ReadingGroup LabelledReadings::complete(Action action, State state) const {
  return rows_with(at(action, state), dimension, -1);
}

void DensityCalibrationOptions::validate() const { check_ranges(*this); }

std::string DensityCalibration::brief() const {
  const auto least =
      std::min_element(alpha.begin(), alpha.end(),
                       [](const auto& one, const auto& other) { return one.value < other.value; });
  return fmt::format(
      "{} labelled rows, {} densities{}, soft alpha {:.3g} between {:.3g} and {:.3g}",
      readings.tally.rows - readings.tally.unused, fmt::join(families, " + "),
      by_action ? " by action" : "", least->value, least->lower, least->upper);
}

ActionDependence test_action_dependence(const LabelledReadings& readings) {
  ActionDependence worst;
  for (int i = 0; i < readings.dimension; ++i) {
    ActionDependence test;
    for (State s{0}; s < readings.num_states; ++s) {
      std::vector<std::vector<double>> samples;
      for (Action a{0}; a < readings.num_actions; ++a) {
        ReadingGroup group = readings.component(a, s, i);
        if (group.size() >= kFewestRanked) samples.push_back(std::move(group.values));
      }
      add_kruskal_wallis(samples, test);
    }
    if (!(test.degrees > 0.0)) continue;
    const boost::math::chi_squared law(test.degrees);
    const double p = boost::math::cdf(boost::math::complement(law, std::max(test.statistic, 0.0)));
    test.p_value = std::min(1.0, p * readings.dimension);
    if (std::isnan(worst.p_value) || test.p_value < worst.p_value) worst = test;
  }
  return worst;
}

DensityCalibration calibrate_densities(const LabelledReadings& readings, const Pomdp& model,
                                       const DensityCalibrationOptions& options,
                                       Parallelism parallelism) {
  options.validate();
  const bool first_apart = options.by_action && !readings.first.empty();
  const LabelledReadings used = !options.by_action ? readings.pooled()
                                : first_apart      ? readings.with_first_as_action()
                                                   : readings;
  detail::FamilyChoice choice(used, model, options, parallelism);
  const int n = used.num_states;
  std::vector<DensitySensors> draws;
  std::vector<std::optional<DensitySensors>> drawn(static_cast<std::size_t>(options.draws));
  parallel_for(drawn.size(), parallelism, [&](std::size_t k) {
    Rng rng({options.seed, static_cast<std::uint32_t>(k), Role::bootstrap});
    drawn[k] = for_all_actions(choice.draw(rng), n, readings.num_actions);
  });
  for (auto& draw : drawn) draws.push_back(std::move(*draw));
  DensityCalibration found{for_all_actions(choice.fitted(), n, readings.num_actions),
                           std::move(draws),
                           {},
                           options.by_action,
                           choice.families(),
                           choice.scores(),
                           options.by_action ? readings : used,
                           test_action_dependence(readings),
                           options.confidence,
                           {},
                           {}};
  if (first_apart) {
    const auto of_first = choice.fitted().end() - n;
    found.first_density.emplace(n, 1, std::vector(of_first, choice.fitted().end()),
                                "first_density");
  }
  found.alpha = alpha_intervals(found, readings.num_actions, parallelism);
  warn_of_few(model, found);
  warn_of_actions(model, found);
  return found;
}

}  // namespace oas
