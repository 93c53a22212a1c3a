#include "sensors_support.hpp"

#include <cmath>
#include <utility>

#include "oas/core/sampling.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/estimation/sensors/uncertain_sensors.hpp"
#include "support/random_models.hpp"

namespace oas::test {

Pomdp truth_of(const SensorCase& one, std::uint64_t seed) {
  RandomModelOptions options;
  options.num_states = one.states;
  options.num_actions = one.actions;
  options.num_observations = one.observations;
  options.timing = one.timing;
  options.min_alpha = one.min_alpha;
  options.concentration = one.concentration;
  const Pomdp model = random_model(options, seed);
  if (!one.shared) return model;
  PomdpParts parts = model.parts();
  std::vector<double> values;
  const auto block = model.sensors().values().subspan(
      0, static_cast<std::size_t>(one.states) * static_cast<std::size_t>(one.observations));
  for (int a = 0; a < one.actions; ++a) values.insert(values.end(), block.begin(), block.end());
  parts.sensors = ObservationModel(one.states, one.actions, one.observations, std::move(values));
  return Pomdp(std::move(parts));
}

Pomdp calibrated(const Pomdp& truth, const SensorCase& one, std::uint64_t seed) {
  Rng rng({seed, 7, Role::bootstrap});
  std::vector<double> counts;
  std::vector<double> sensors;
  for (Action a{0}; a < (one.shared ? 1 : one.actions); ++a) {
    for (State s{0}; s < one.states; ++s) {
      std::vector<double> row(static_cast<std::size_t>(one.observations), 0.0);
      for (int i = 0; i < one.labelled; ++i) {
        double left = rng.uniform();
        std::size_t o = 0;
        for (; o + 1 < row.size(); ++o) {
          left -= truth.sensors()(a, s, Observation{o});
          if (left < 0.0) break;
        }
        row[o] += 1.0;
      }
      counts.insert(counts.end(), row.begin(), row.end());
      for (const double count : row) {
        sensors.push_back((count + 0.5) / (one.labelled + 0.5 * one.observations));
      }
    }
  }
  const std::vector<double> block = sensors;
  for (int a = 1; a < (one.shared ? one.actions : 1); ++a) {
    sensors.insert(sensors.end(), block.begin(), block.end());
  }
  PomdpParts parts = truth.parts();
  parts.transition.reset();
  parts.sensors = ObservationModel(one.states, one.actions, one.observations, std::move(sensors));
  parts.observation_counts =
      ObservationCounts(one.states, one.actions, one.observations, std::move(counts));
  return Pomdp(std::move(parts));
}

TransitionEstimate estimate_calibrated(const SensorCase& one, std::uint64_t seed) {
  const Pomdp truth = truth_of(one, seed);
  const Pomdp given = calibrated(truth, one, seed);
  const Pomdp model = one.exact ? given : UncertainSensors::opened(given);
  const Trajectory rows = play_uniformly(truth, one.steps, 0.0, seed);
  TransitionModel start = TransitionModel::uniform(one.states, one.actions);
  if (!has_blind_sensor(model)) {
    const LeftInverses inverses(model);
    FoldOptions fold;
    fold.pairing = Pairing::overlapping;
    PairFolder folder(inverses, model.timing(), fold);
    folder.add(rows.actions, rows.observations, rows.propensities);
    start = estimate_oas(folder.finish(), inverses, model).transition;
  }
  TransitionLikelihood likelihood(model);
  likelihood.append(rows.actions, rows.observations);
  const std::vector<TransitionModel> starts = likelihood_starts(model, start);
  const LikelihoodRows all = likelihood_rows(likelihood, {1});
  return one.exact ? estimate_likelihood(all, starts, model, {})
                   : estimate_with_sensors(all, starts, model, {});
}

SensorCoverage measure_coverage(const SensorCase& one) {
  SensorCoverage result;
  std::vector<std::pair<double, double>> shares;  // inside, and entries with error bars
  double entries = 0.0;
  double judged = 0.0;
  for (std::size_t m = 0; m < one.models; ++m) {
    const TransitionEstimate estimate = estimate_calibrated(one, m);
    const Pomdp truth = truth_of(one, m);
    double inside = 0.0;
    double known = 0.0;
    for (std::size_t i = 0; i < estimate.standard_error.size(); ++i) {
      const double error = estimate.transition.values()[i] - truth.transition().values()[i];
      result.rms += error * error;
      entries += 1.0;
      if (!std::isfinite(estimate.standard_error[i])) continue;
      known += 1.0;
      const double value = truth.transition().values()[i];
      inside += estimate.lower[i] <= value && value <= estimate.upper[i];
      result.mean_square += std::pow(error / estimate.standard_error[i], 2);
      result.width += estimate.upper[i] - estimate.lower[i];
    }
    result.flagged += static_cast<double>(estimate.flagged.size()) /
                      static_cast<double>(one.states * one.actions * one.models);
    result.passes += estimate.passes / static_cast<double>(one.models);
    judged += known;
    result.inside += inside;
    shares.emplace_back(inside, known);
  }
  result.rms = std::sqrt(result.rms / entries);
  result.inside /= judged;
  result.mean_square /= judged;
  result.width /= judged;
  for (const auto& [inside, known] : shares) {
    result.error += std::pow((inside - result.inside * known) / judged, 2);
  }
  result.error = std::sqrt(result.error);
  return result;
}

}  // namespace oas::test
