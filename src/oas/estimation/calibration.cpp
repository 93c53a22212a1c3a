#include "oas/estimation/calibration.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/core/sampling.hpp"

namespace oas {

namespace {

constexpr int kMostNamed = 8;  // rows named in one message

std::size_t counts_row(const SensorCounts& counts, Action action, State state) {
  return (static_cast<std::size_t>(action) * static_cast<std::size_t>(counts.num_states) +
          static_cast<std::size_t>(state)) *
         static_cast<std::size_t>(counts.num_observations);
}

// Names of the (action, state) that were never seen.
std::vector<std::string> unseen_rows(const SensorCounts& counts, const Pomdp& model) {
  std::vector<std::string> names;
  for (Action a{0}; a < counts.num_actions; ++a) {
    for (State s{0}; s < counts.num_states; ++s) {
      if (counts.total(a, s) == 0) {
        names.push_back(fmt::format("({}, {})", model.actions()[a], model.states()[s]));
      }
    }
  }
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  const auto shown = std::min<std::size_t>(names.size(), kMostNamed);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
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
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(square, Eigen::EigenvaluesOnly);
    norms.push_back(std::sqrt(std::max(0.0, eigen.eigenvalues().maxCoeff())));
  }
  const auto place = static_cast<std::ptrdiff_t>(
      std::ceil(options.confidence * static_cast<double>(norms.size())) - 1.0);
  std::nth_element(norms.begin(), norms.begin() + place, norms.end());
  result.norm = norms[static_cast<std::size_t>(place)];
  return result;
}

void add_alpha(const Pomdp& model, const CalibrationOptions& options, Calibration& calibration) {
  for (Action a{0}; a < model.num_actions(); ++a) {
    const SensorNoise noise = sensor_noise(calibration.counts, a, options);
    const Matrix sensor = calibration.sensors.matrix(a);
    const Matrix square = sensor.transpose() * sensor;
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(square);
    const double value = pseudo_inverse(sensor).smallest;
    const double scaled = pseudo_inverse(Matrix(sensor * noise.roots.asDiagonal())).smallest;
    const double spread = eigen.eigenvectors().col(0).cwiseQuotient(noise.roots).norm();
    AlphaInterval alpha = {value, 0.0, value + noise.norm * spread};
    if (scaled > noise.norm) alpha.lower = value * (1.0 - noise.norm / scaled);
    calibration.alpha.push_back(alpha);
    if (alpha.lower > 0.0) continue;
    if (model.num_observations() < model.num_states()) {
      calibration.warnings.push_back(
          fmt::format("action '{}': {} observations cannot tell {} states apart, whatever the data",
                      model.actions()[a], model.num_observations(), model.num_states()));
      continue;
    }
    std::int64_t rows = 0;
    for (State s{0}; s < model.num_states(); ++s) rows += calibration.counts.total(a, s);
    // The noise falls as one over the square root of the rows; half of alpha is aimed at.
    const double factor = std::pow(2.0 * noise.norm / scaled, 2);
    calibration.warnings.push_back(fmt::format(
        "action '{}': {} labelled rows do not show that the sensor tells the states apart (alpha "
        "{:.3g}, but it may be 0); if alpha is what it seems, {:.3g} rows would",
        model.actions()[a], rows, value, factor * static_cast<double>(rows)));
  }
}

}  // namespace

SensorCounts::SensorCounts(int states, int actions, int observations)
    : num_states(states),
      num_actions(actions),
      num_observations(observations),
      values(static_cast<std::size_t>(states) * static_cast<std::size_t>(actions) *
                 static_cast<std::size_t>(observations),
             0) {}

void SensorCounts::add(const SensorCounts& other) {
  OAS_REQUIRE(values.size() == other.values.size() && num_states == other.num_states &&
                  num_actions == other.num_actions,
              "counts of {} states, {} actions cannot take in counts of {} and {}", num_states,
              num_actions, other.num_states, other.num_actions);
  std::transform(values.begin(), values.end(), other.values.begin(), values.begin(), std::plus<>{});
  rows += other.rows;
  runs += other.runs;
  unused += other.unused;
}

std::int64_t& SensorCounts::at(Action action, State state, Observation observation) {
  return values[counts_row(*this, action, state) + static_cast<std::size_t>(observation)];
}

std::int64_t SensorCounts::total(Action action, State state) const {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(counts_row(*this, action, state));
  return std::accumulate(first, first + num_observations, std::int64_t{0});
}

SensorCounter::SensorCounter(const Pomdp& model)
    : timing_(model.timing()),
      counts_(model.num_states(), model.num_actions(), model.num_observations()) {}

void SensorCounter::end_run() {
  counts_.unused += waiting_;
  waiting_ = false;
}

void SensorCounter::start_run() {
  end_run();
  ++counts_.runs;
}

void SensorCounter::add(const Trajectory& rows, std::size_t first, std::size_t count) {
  OAS_REQUIRE(rows.states.size() == rows.size(), "{} rows with {} states", rows.size(),
              rows.states.size());
  for (std::size_t t = first; t < first + count; ++t) {
    const State state = rows.states[t];
    if (waiting_) {
      ++counts_.at(action_, state, observation_);
      waiting_ = false;
    }
    if (rows.observations[t] == kMissing) {
      ++counts_.unused;
    } else if (timing_ == Timing::before) {
      ++counts_.at(rows.actions[t], state, rows.observations[t]);
    } else {
      waiting_ = true;
      action_ = rows.actions[t];
      observation_ = rows.observations[t];
    }
  }
  counts_.rows += static_cast<std::int64_t>(count);
}

SensorCounts SensorCounter::finish() {
  end_run();
  return counts_;
}

void CalibrationOptions::validate() const {
  OAS_REQUIRE(confidence > 0.0 && confidence < 1.0,
              "confidence is {}; it must lie strictly between 0 and 1", confidence);
  OAS_REQUIRE(prior >= 0.0 && std::isfinite(prior), "prior is {}; it must not be negative", prior);
  OAS_REQUIRE(draws >= 100, "draws is {}; at least 100 are needed", draws);
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
                     counts.rows - counts.unused, least.value, least.lower, least.upper,
                     suffices() ? "every sensor is shown to tell the states apart"
                                : "not every sensor is shown to tell the states apart");
}

Calibration calibrate(const SensorCounts& counts, const Pomdp& model,
                      const CalibrationOptions& options) {
  options.validate();
  const std::vector<std::string> unseen = unseen_rows(counts, model);
  OAS_REQUIRE(unseen.empty() || options.prior > 0.0,
              "(action, state) without any observation: {}; label more rows, or give a prior",
              listed(unseen));
  Calibration calibration;
  calibration.counts = counts;
  calibration.confidence = options.confidence;
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
  if (!unseen.empty()) {
    calibration.warnings.push_back(fmt::format(
        "(action, state) without any observation, known from the prior alone: {}", listed(unseen)));
  }
  add_alpha(model, options, calibration);
  return calibration;
}

}  // namespace oas
