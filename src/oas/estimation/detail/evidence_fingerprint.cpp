#include "oas/estimation/detail/evidence_fingerprint.hpp"

#include <nlohmann/json.hpp>

#include "oas/core/fingerprint.hpp"
#include "oas/model/continuous_json.hpp"

/// Structs are taken apart by structured bindings: a field that is added to one of them does not
/// compile here before somebody has decided whether it belongs to the fingerprint.
namespace oas::detail {

namespace {

// Lengths go in as well, so that neighbours cannot pass values to each other.
template <class Range>
void add_list(Fingerprint& print, const Range& values) {
  print.add(values.size());
  print.add_all(values);
}

void add_labels(Fingerprint& print, const Labels& labels) {
  print.add(labels.size());
  for (const std::string& name : labels.names()) add_list(print, name);
}

template <class Value>
void add_optional(Fingerprint& print, const std::optional<Value>& value) {
  print.add(value.has_value());
  if (value) add_list(print, value->values());
}

void add_model(Fingerprint& print, const Pomdp& model) {
  const auto& [timing, rows, states, actions, observations, start, transition, sensors,
               first_observation, reward, discount, observation_counts] = model.parts();
  print.add(timing);
  print.add(rows);
  add_labels(print, states);
  add_labels(print, actions);
  add_labels(print, observations);
  add_list(print, start);
  add_list(print, sensors.values());
  add_optional(print, first_observation);
  add_optional(print, observation_counts);
}

void add_model(Fingerprint& print, const ContinuousPomdp& model) {
  PomdpParts parts = model.chain().parts();
  parts.transition.reset();
  parts.reward = Reward();
  parts.discount.reset();
  const auto sensors =
      model.has_sensors() ? std::optional(model.sensors()) : std::optional<DensitySensors>();
  const ContinuousPomdp bare(Pomdp(std::move(parts)), sensors, model.first_density(),
                             model.density_draws());
  add_list(print, model_to_json(bare).dump());
}

void add_options(Fingerprint& print, const Forgetting& options) {
  const auto& [half_life, window, age] = options;
  print.add(half_life);
  print.add(window);
  print.add(age);
}

void add_options(Fingerprint& print, const CellSearchOptions& options) {
  const auto& [cells, method, trials, seed] = options;
  print.add(cells);
  add_list(print, method);
  print.add(trials);
  print.add(seed);
}

void add_options(Fingerprint& print, const ParticleOptions& options) {
  const auto& [particles, ess_threshold, move, kappa0, rate, window, sweeps, prior] = options;
  print.add(particles);
  print.add(options.threshold());
  print.add(move);
  print.add(kappa0);
  print.add(rate);
  print.add(window);
  print.add(sweeps);
  print.add(prior);
}

void add_options(Fingerprint& print, const EvidenceOptions& options) {
  const auto& [actions_ignore_observations, forgetting, memory_limit, uncertain_sensors, cells,
               particles, draws, patience, concentration, stream] = options;
  print.add(actions_ignore_observations);
  add_options(print, forgetting);
  print.add(uncertain_sensors);
  add_options(print, cells);
  add_options(print, particles);
  print.add(draws);
  print.add(patience);
  print.add(concentration.value_or(0.0));
  print.add(stream.seed);
  print.add(stream.replication);
  print.add(stream.role);
}

}  // namespace

std::uint64_t evidence_fingerprint(const AnyModel& model, const EvidenceOptions& options) {
  Fingerprint print;
  print.add(model.index());
  std::visit([&](const auto& any) { add_model(print, any); }, model);
  add_options(print, options);
  return print.value();
}

}  // namespace oas::detail
