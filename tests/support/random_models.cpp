#include "support/random_models.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"

namespace oas::test {

namespace {

std::vector<double> random_values(std::size_t count, Rng& rng) {
  std::vector<double> values(count);
  for (double& value : values) value = 4.0 * rng.uniform() - 1.0;
  return values;
}

Reward random_reward(const RandomModelOptions& options, Rng& rng) {
  const auto s = static_cast<std::size_t>(options.num_states);
  const auto a = static_cast<std::size_t>(options.num_actions);
  const auto o = static_cast<std::size_t>(options.num_observations);
  switch (options.reward) {
    case Reward::Kind::none:
      break;
    case Reward::Kind::by_observation:
      return Reward::by_observation(random_values(o, rng));
    case Reward::Kind::by_action_state:
      return Reward::by_action_state(random_values(a * s, rng));
    case Reward::Kind::by_transition:
      return Reward::by_transition(random_values(a * s * s * o, rng));
  }
  return {};
}

double smallest_alpha(const ObservationModel& sensors) {
  double smallest = 1.0;
  for (int a = 0; a < sensors.num_actions(); ++a) {
    const Matrix z = sensors.matrix(Action{a});
    smallest = std::min(smallest, pseudo_inverse(z).smallest);
  }
  return smallest;
}

ObservationModel random_sensors(const RandomModelOptions& options, Rng& rng) {
  for (int attempt = 0; attempt < 10'000; ++attempt) {
    ObservationModel sensors(
        options.num_states, options.num_actions, options.num_observations,
        random_rows(options.num_states * options.num_actions, options.num_observations,
                    options.concentration, options.zero_fraction, rng));
    if (options.min_alpha <= 0.0 || smallest_alpha(sensors) >= options.min_alpha) return sensors;
  }
  throw InvalidArgument("no random sensors with the alpha that is asked for");
}

Labels labels(int size, const char* kind, bool named) {
  if (!named) return {size, kind};
  std::vector<std::string> names;
  for (int i = 0; i < size; ++i) names.push_back(fmt::format("{} \"{}\", é", kind, i));
  return {std::move(names), kind};
}

}  // namespace

std::vector<double> random_rows(int rows, int width, double concentration, double zero_fraction,
                                Rng& rng) {
  const auto n = static_cast<std::size_t>(width);
  const std::vector<double> concentrations(n, concentration);
  std::vector<double> values(static_cast<std::size_t>(rows) * n);
  for (std::size_t start = 0; start < values.size(); start += n) {
    const auto row = std::span(values).subspan(start, n);
    sample_dirichlet(concentrations, row, rng);
    const auto largest = std::max_element(row.begin(), row.end());
    for (auto entry = row.begin(); entry != row.end(); ++entry) {
      if (rng.uniform() < zero_fraction && entry != largest) *entry = 0.0;
    }
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& entry : row) entry /= sum;
  }
  return values;
}

Pomdp random_model(const RandomModelOptions& options, std::uint64_t seed) {
  Rng rng({seed, 0, Role::test});
  const int s = options.num_states;
  const int a = options.num_actions;
  PomdpParts parts;
  parts.timing = options.timing;
  parts.states = labels(s, "state", options.named);
  parts.actions = labels(a, "action", options.named);
  parts.observations = labels(options.num_observations, "observation", options.named);
  parts.start = random_rows(1, s, 1.0, options.zero_fraction, rng);
  parts.transition = TransitionModel(
      s, a, random_rows(s * a, s, options.concentration, options.zero_fraction, rng));
  parts.sensors = random_sensors(options, rng);
  parts.reward = random_reward(options, rng);
  return Pomdp(std::move(parts));
}

Pomdp transposed(const Pomdp& model) {
  std::vector<double> values;
  for (int a = 0; a < model.num_actions(); ++a) {
    Matrix t = model.transition().matrix(Action{a}).transpose();
    for (Eigen::Index s = 0; s < t.rows(); ++s) {
      if (t.row(s).sum() <= 0.0) t.row(s).setOnes();
      t.row(s) /= t.row(s).sum();
    }
    values.insert(values.end(), t.data(), t.data() + t.size());
  }
  return model.with_transition(
      TransitionModel(model.num_states(), model.num_actions(), std::move(values)));
}

Trajectory random_rows_of_log(int num_actions, int num_observations, std::size_t rows,
                              double missing, std::uint64_t seed) {
  Rng rng({seed, 1, Role::test});
  Trajectory log;
  for (std::size_t t = 0; t < rows; ++t) {
    log.actions.emplace_back(rng.below(static_cast<std::uint32_t>(num_actions)));
    const Observation seen{rng.below(static_cast<std::uint32_t>(num_observations))};
    log.observations.push_back(rng.uniform() < missing ? kMissing : seen);
    log.propensities.push_back(1.0 - 0.9 * rng.uniform());
  }
  return log;
}

Trajectory play_uniformly(const Pomdp& model, std::size_t steps, double missing,
                          std::uint64_t seed) {
  Rng rng({seed, 2, Role::test});
  Trajectory log;
  State state{sample_categorical(model.start(), rng)};
  for (std::size_t t = 0; t < steps; ++t) {
    const Action action{rng.below(static_cast<std::uint32_t>(model.num_actions()))};
    const State next{sample_categorical(model.transition().row(action, state), rng)};
    const State emitter = model.timing() == Timing::before ? state : next;
    const Observation seen{sample_categorical(model.sensors().distribution(action, emitter), rng)};
    log.actions.push_back(action);
    log.observations.push_back(rng.uniform() < missing ? kMissing : seen);
    log.propensities.push_back(1.0 / model.num_actions());
    log.states.push_back(state);
    state = next;
  }
  return log;
}

}  // namespace oas::test
