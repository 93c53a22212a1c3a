#include "oas/sensors/calibration.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/core/sampling.hpp"

namespace oas {

namespace {

constexpr int kMostNamed = 8;  // rows named in one message
constexpr double kFewestInCell = 5.0;
constexpr double kDependent = 1e-4;  // p-value below which observations are said to differ

void require_sizes(int states, int actions, int observations) {
  OAS_REQUIRE(
      states >= 1 && actions >= 1 && observations >= 1 &&
          table_size({states, actions, observations}) <= std::vector<std::int64_t>().max_size(),
      "counts of {} states, {} actions and {} observations", states, actions, observations);
}

std::size_t counts_row(const SensorCounts& counts, Action action, State state) {
  return (static_cast<std::size_t>(action) * static_cast<std::size_t>(counts.num_states) +
          static_cast<std::size_t>(state)) *
         static_cast<std::size_t>(counts.num_observations);
}

std::vector<std::pair<Action, State>> unseen_rows(const SensorCounts& counts) {
  std::vector<std::pair<Action, State>> unseen;
  for (Action a{0}; a < counts.num_actions; ++a) {
    for (State s{0}; s < counts.num_states; ++s) {
      if (counts.total(a, s) == 0) unseen.emplace_back(a, s);
    }
  }
  return unseen;
}

std::string named(const std::vector<std::pair<Action, State>>& rows, const Pomdp& model) {
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const auto& [a, s] : rows) {
    names.push_back(fmt::format("({}, {})", model.actions()[a], model.states()[s]));
  }
  const auto shown = std::min<std::size_t>(names.size(), kMostNamed);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// Every action gets the observations of all of them, and first readings.
SensorCounts pooled(const SensorCounts& counts) {
  SensorCounts sums = counts;
  const std::size_t size = sums.values.size() / static_cast<std::size_t>(counts.num_actions);
  for (std::size_t i = 0; i < size; ++i) {
    std::int64_t sum = counts.first.empty() ? 0 : counts.first[i];
    for (std::size_t j = i; j < sums.values.size(); j += size) sum += counts.values[j];
    for (std::size_t j = i; j < sums.values.size(); j += size) sums.values[j] = sum;
  }
  return sums;
}

// The sensor of first readings where actions have different ones.
ObservationModel first_sensor(const SensorCounts& counts, const Pomdp& model, double prior) {
  const auto width = static_cast<std::size_t>(counts.num_observations);
  std::vector<double> values(counts.first.begin(), counts.first.end());
  for (State s{0}; s < counts.num_states; ++s) {
    const auto row = std::span(values).subspan(static_cast<std::size_t>(s) * width, width);
    const double total =
        std::accumulate(row.begin(), row.end(), prior * static_cast<double>(width));
    OAS_REQUIRE(total > 0.0,
                "rows are reading-first, and where sensors differ by action the first reading of a "
                "run has one of its own; but no first reading is labelled with state '{}'. Label "
                "more rows, give a prior, state \"first_observation\" in the model, or use one "
                "sensor for all actions",
                model.states()[s]);
    for (double& value : row) value = (value + prior) / total;
  }
  return {counts.num_states, 1, counts.num_observations, std::move(values), "first_observation"};
}

// Leaves out the rarest row or column until five are expected in every cell.
Matrix without_rare_lines(Matrix table) {
  while (table.rows() > 1 && table.cols() > 1) {
    const Vector rows = table.rowwise().sum();
    const Vector columns = table.colwise().sum();
    Eigen::Index row = 0;
    Eigen::Index column = 0;
    const double fewest_row = rows.minCoeff(&row);
    const double fewest_column = columns.minCoeff(&column);
    const double sum = table.sum();
    if (sum > 0.0 && fewest_row * fewest_column >= kFewestInCell * sum) break;
    const bool drop_row = fewest_row <= fewest_column;
    const Eigen::Index gone = drop_row ? row : column;
    Matrix kept(table.rows() - (drop_row ? 1 : 0), table.cols() - (drop_row ? 0 : 1));
    for (Eigen::Index i = 0; i < kept.rows(); ++i) {
      for (Eigen::Index j = 0; j < kept.cols(); ++j) {
        kept(i, j) = table(i + (drop_row && i >= gone), j + (!drop_row && j >= gone));
      }
    }
    table = std::move(kept);
  }
  return table;
}

void warn_of_dependence(const CalibrationOptions& options, Timing timing,
                        Calibration& calibration) {
  const double p = calibration.dependence.p_value;
  if (timing != Timing::before || !(p < kDependent) || options.differ_by_action) return;
  if (options.same_for_all_actions) {
    calibration.warnings.push_back(fmt::format(
        "in the same state observations differ by action (p = {:.2g}): if the sensors are the same "
        "for all actions, as you say, actions were chosen from the observations of their own rows. "
        "Then these sensors are right, but moment estimators would be biased: use oas-ml or em",
        p));
    return;
  }
  calibration.warnings.push_back(fmt::format(
      "in the same state observations differ by action (p = {:.2g}): either the sensors depend on "
      "the action (then use --differ-by-action), or actions were chosen from the observation of "
      "their own row, and these sensors are wrong (then use --same-for-all-actions)",
      p));
}

// Wilson's interval for `count` of `total`.
std::pair<double, double> wilson(double count, double total, double quantile) {
  const double square = quantile * quantile;
  const double centre = (count + 0.5 * square) / (total + square);
  const double half = total > 0.0 ? quantile / (total + square) *
                                        std::sqrt(count * (total - count) / total + 0.25 * square)
                                  : 0.5;
  return {count == 0.0 ? 0.0 : std::max(0.0, centre - half),
          count == total ? 1.0 : std::min(1.0, centre + half)};
}

// What the counts leave open about Z_a, with D the diagonal matrix of the rows seen per state.
struct SensorNoise {
  double norm = 0.0;  // quantile of ‖(Ẑ_a - Z_a) √D‖ over random sensors that the counts allow
  Vector roots;       // √D
};

SensorNoise sensor_noise(const SensorCounts& counts, Action action,
                         const CalibrationOptions& options) {
  const auto o = static_cast<std::size_t>(counts.num_observations);
  Rng rng({options.seed, static_cast<std::uint32_t>(action), Role::bootstrap});
  SensorNoise result{0.0, Vector(counts.num_states)};
  std::vector<double> norms;
  std::vector<double> shape(o);
  std::vector<double> drawn(o);
  Matrix noise(counts.num_observations, counts.num_states);
  for (int draw = 0; draw < options.draws; ++draw) {
    for (int s = 0; s < counts.num_states; ++s) {
      const std::size_t row = counts_row(counts, action, State{s});
      for (std::size_t i = 0; i < o; ++i) {
        shape[i] = static_cast<double>(counts.values[row + i]) + options.prior + 0.5;
      }
      sample_dirichlet(shape, drawn, rng);
      const double sum = std::accumulate(shape.begin(), shape.end(), 0.0);
      result.roots(s) = std::sqrt(sum);
      for (std::size_t i = 0; i < o; ++i) {
        noise(static_cast<Eigen::Index>(i), s) = (drawn[i] - shape[i] / sum) * result.roots(s);
      }
    }
    const Matrix square = noise.transpose() * noise;
    norms.push_back(std::sqrt(std::max(0.0, symmetric_eigenvalues(square).maxCoeff())));
  }
  const auto place = static_cast<std::ptrdiff_t>(
      std::ceil(options.confidence * static_cast<double>(norms.size())) - 1.0);
  std::nth_element(norms.begin(), norms.begin() + place, norms.end());
  result.norm = norms[static_cast<std::size_t>(place)];
  return result;
}

AlphaInterval alpha_of(const Matrix& sensor, const SensorNoise& noise, double scaled) {
  const Matrix square = sensor.transpose() * sensor;
  const SymmetricEigen eigen = symmetric_eigen(square);
  const double value = pseudo_inverse(sensor).smallest;
  const double spread = eigen.vectors.col(0).cwiseQuotient(noise.roots).norm();
  AlphaInterval alpha = {value, 0.0, value + noise.norm * spread};
  if (scaled > noise.norm) alpha.lower = value * (1.0 - noise.norm / scaled);
  return alpha;
}

// Why a sensor is not shown to tell the states apart; empty where that is said elsewhere.
std::string why_blind(const SensorCounts& counts, Action action, double alpha, double noise,
                      double scaled) {
  if (counts.num_observations < counts.num_states) {
    return fmt::format("{} observations cannot tell {} states apart, whatever the data",
                       counts.num_observations, counts.num_states);
  }
  std::int64_t rows = 0;
  for (State s{0}; s < counts.num_states; ++s) rows += counts.total(action, s);
  if (rows == 0) return {};  // unseen
  if (!(scaled > 1e-9 * noise)) {
    return fmt::format("in {} labelled rows the sensor does not tell the states apart", rows);
  }
  // The noise falls as one over the square root of the rows; half of alpha is aimed at.
  const double factor = std::pow(2.0 * noise / scaled, 2);
  return fmt::format(
      "{} labelled rows do not show that the sensor tells the states apart (alpha {:.3g}, but it "
      "may be 0); if alpha is as estimated, {:.3g} rows would",
      rows, alpha, factor * static_cast<double>(rows));
}

void add_alpha(const Pomdp& model, const CalibrationOptions& options, Calibration& calibration) {
  for (Action a{0}; a < model.num_actions(); ++a) {
    if (calibration.same_for_all_actions && a > 0) {
      calibration.alpha.push_back(calibration.alpha.front());
      continue;
    }
    const SensorNoise noise = sensor_noise(calibration.counts, a, options);
    const Matrix sensor = calibration.sensors.matrix(a);
    const double scaled = pseudo_inverse(Matrix(sensor * noise.roots.asDiagonal())).smallest;
    const AlphaInterval alpha = alpha_of(sensor, noise, scaled);
    calibration.alpha.push_back(alpha);
    if (alpha.lower > 0.0) continue;
    const std::string why = why_blind(calibration.counts, a, alpha.value, noise.norm, scaled);
    const std::string who = calibration.same_for_all_actions
                                ? "all actions"
                                : fmt::format("action '{}'", model.actions()[a]);
    if (!why.empty()) calibration.warnings.push_back(who + ": " + why);
  }
}

// Probabilities and their limits.
void add_sensors(const CalibrationOptions& options, Calibration& calibration) {
  const SensorCounts& counts = calibration.counts;
  const int o = counts.num_observations;
  // One distribution over one observation is certain; else all limits of a row hold at once.
  const double quantile = boost::math::quantile(
      boost::math::normal(), 1.0 - 0.5 * (1.0 - options.confidence) / std::max(1, o));
  std::vector<double> values;
  for (Action a{0}; a < counts.num_actions; ++a) {
    for (State s{0}; s < counts.num_states; ++s) {
      const auto total = static_cast<double>(counts.total(a, s));
      for (int i = 0; i < o; ++i) {
        const auto count = static_cast<double>(
            counts.values[counts_row(counts, a, s) + static_cast<std::size_t>(i)]);
        const auto [lower, upper] = wilson(count, total, quantile);
        const double value = (count + options.prior) / (total + o * options.prior);
        values.push_back(value);
        calibration.lower.push_back(std::min(lower, value));
        calibration.upper.push_back(std::max(upper, value));
      }
    }
  }
  calibration.sensors = ObservationModel(counts.num_states, counts.num_actions, o, values);
}

}  // namespace

SensorCounts::SensorCounts(int states, int actions, int observations)
    : num_states(states),
      num_actions(actions),
      num_observations(observations),
      values((require_sizes(states, actions, observations),
              table_size({states, actions, observations})),
             0) {}

void SensorCounts::add(const SensorCounts& other) {
  OAS_REQUIRE(values.size() == other.values.size() && num_states == other.num_states &&
                  num_actions == other.num_actions && num_observations == other.num_observations &&
                  first.size() == other.first.size(),
              "counts of {} states, {} actions cannot take in counts of {} and {}", num_states,
              num_actions, other.num_states, other.num_actions);
  std::transform(values.begin(), values.end(), other.values.begin(), values.begin(), std::plus<>{});
  std::transform(first.begin(), first.end(), other.first.begin(), first.begin(), std::plus<>{});
  tally.add(other.tally);
}

std::int64_t& SensorCounts::at(Action action, State state, Observation observation) {
  check_action(action, num_actions);
  check_state(state, num_states);
  OAS_REQUIRE(observation >= 0 && observation < num_observations,
              "observation is {}; there are {} observations", observation.value(),
              num_observations);
  return values[counts_row(*this, action, state) + static_cast<std::size_t>(observation)];
}

void SensorCounts::validate() const {
  const std::size_t expected = table_size({num_states, num_actions, num_observations});
  OAS_REQUIRE(values.size() == expected &&
                  (first.empty() || first.size() == table_size({num_states, num_observations})),
              "{} counts, and {} of first readings, for {} states, {} actions and {} observations",
              values.size(), first.size(), num_states, num_actions, num_observations);
  const auto negative = [](std::int64_t count) { return count < 0; };
  OAS_REQUIRE(std::ranges::none_of(values, negative) && std::ranges::none_of(first, negative),
              "some observation was counted less than 0 times");
}

std::int64_t SensorCounts::total(Action action, State state) const {
  check_action(action, num_actions);
  check_state(state, num_states);
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(counts_row(*this, action, state));
  return std::accumulate(begin, begin + num_observations, std::int64_t{0});
}

ActionDependence test_action_dependence(const SensorCounts& counts) {
  counts.validate();
  ActionDependence result;
  for (State s{0}; s < counts.num_states; ++s) {
    Matrix table(counts.num_actions, counts.num_observations);
    for (Action a{0}; a < counts.num_actions; ++a) {
      for (int o = 0; o < counts.num_observations; ++o) {
        table(a.value(), o) = static_cast<double>(
            counts.values[counts_row(counts, a, s) + static_cast<std::size_t>(o)]);
      }
    }
    table = without_rare_lines(std::move(table));
    if (table.rows() < 2 || table.cols() < 2) continue;
    const Matrix expected = table.rowwise().sum() * table.colwise().sum() / table.sum();
    result.statistic += ((table - expected).array().square() / expected.array()).sum();
    result.degrees += static_cast<double>((table.rows() - 1) * (table.cols() - 1));
  }
  if (result.degrees > 0.0) {
    const boost::math::chi_squared law(result.degrees);
    result.p_value = boost::math::cdf(boost::math::complement(law, result.statistic));
  }
  return result;
}

SensorCounter::SensorCounter(const Pomdp& model)
    : rows_(model.timing(), model.rows()),
      counts_(model.num_states(), model.num_actions(), model.num_observations()) {
  if (!model.reading_first() || !model.first_is_common()) return;
  counts_.first.resize(counts_.values.size() / static_cast<std::size_t>(counts_.num_actions));
}

void SensorCounter::add(const Trajectory& rows, std::size_t first, std::size_t count) {
  check_rows(rows, first, count);
  for (std::size_t t = first; t < first + count; ++t) {
    std::optional<Observation> seen;
    if (rows.observations[t] != kMissing) seen = rows.observations[t];
    rows_.add(rows.actions[t], rows.states[t], seen,
              [&](Action action, State state, Observation observation) {
                count_one(action, state, observation);
              });
  }
}

void SensorCounter::check_rows(const Trajectory& rows, std::size_t first, std::size_t count) const {
  OAS_REQUIRE(rows.states.size() == rows.size() && rows.observations.size() == rows.size(),
              "{} rows with {} states and {} observations", rows.size(), rows.states.size(),
              rows.observations.size());
  OAS_REQUIRE(first <= rows.size() && count <= rows.size() - first, "{} rows from row {} on, of {}",
              count, first, rows.size());
  for (std::size_t t = first; t < first + count; ++t) {
    if (rows.actions[t] != kNoAction) check_action(rows.actions[t], counts_.num_actions);
    check_observation(rows.observations[t], counts_.num_observations);
    OAS_REQUIRE(rows.states[t] >= -1 && rows.states[t] < counts_.num_states,
                "state is {}; there are {} states", rows.states[t].value(), counts_.num_states);
  }
}

void SensorCounter::count_one(Action action, State state, Observation observation) {
  if (action >= 0) {
    ++counts_.at(action, state, observation);
  } else if (counts_.first.empty()) {
    ++known_first_;
  } else {
    ++counts_.first[counts_row(counts_, Action{0}, state) + static_cast<std::size_t>(observation)];
  }
}

SensorCounts SensorCounter::finish() {
  counts_.tally = rows_.finish();
  counts_.tally.unused += known_first_;
  counts_.tally.known_first = known_first_;
  return counts_;
}

void CalibrationOptions::validate() const {
  check_ranges(*this);
  OAS_REQUIRE(!same_for_all_actions || !differ_by_action,
              "sensors cannot be the same for all actions and differ by action");
}

bool Calibration::suffices() const {
  return std::all_of(alpha.begin(), alpha.end(),
                     [](const AlphaInterval& one) { return one.lower > 0.0; });
}

std::string Calibration::brief() const {
  if (alpha.empty()) return "not run";
  const AlphaInterval& least =
      *std::min_element(alpha.begin(), alpha.end(),
                        [](const auto& one, const auto& other) { return one.value < other.value; });
  return fmt::format("{} labelled rows, alpha {:.3g} between {:.3g} and {:.3g}: {}",
                     counts.tally.rows - counts.tally.unused, least.value, least.lower, least.upper,
                     suffices() ? "every sensor is shown to tell the states apart"
                                : "not every sensor is shown to tell the states apart");
}

Calibration calibrate(const SensorCounts& counted, const Pomdp& model,
                      const CalibrationOptions& options) {
  options.validate();
  counted.validate();
  OAS_REQUIRE(counted.num_states == model.num_states() &&
                  counted.num_actions == model.num_actions() &&
                  counted.num_observations == model.num_observations(),
              "counts of {} states, {} actions and {} observations for a model of {}",
              counted.num_states, counted.num_actions, counted.num_observations, model.brief());
  const auto seen = [](std::int64_t count) { return count > 0; };
  OAS_REQUIRE(std::any_of(counted.values.begin(), counted.values.end(), seen) ||
                  std::any_of(counted.first.begin(), counted.first.end(), seen),
              "none of {} labelled rows can be used", counted.tally.rows);
  const bool one_sensor = options.same_for_all_actions || counted.num_actions == 1;
  Calibration calibration;
  calibration.counts = one_sensor ? pooled(counted) : counted;
  if (!one_sensor && !counted.first.empty()) {
    calibration.first_observation = first_sensor(counted, model, options.prior);
  }
  calibration.same_for_all_actions = options.same_for_all_actions;
  calibration.dependence = test_action_dependence(counted);
  calibration.unseen = unseen_rows(calibration.counts);
  OAS_REQUIRE(calibration.unseen.empty() || options.prior > 0.0,
              "(action, state) without any observation: {}; label more rows, give a prior, or say "
              "that actions do not matter (--same-for-all-actions)",
              named(calibration.unseen, model));
  calibration.confidence = options.confidence;
  add_sensors(options, calibration);
  if (!calibration.unseen.empty()) {
    calibration.warnings.push_back(
        fmt::format("(action, state) without any observation, known from the prior alone: {}",
                    named(calibration.unseen, model)));
  }
  add_alpha(model, options, calibration);
  warn_of_dependence(options, model.timing(), calibration);
  return calibration;
}

}  // namespace oas
