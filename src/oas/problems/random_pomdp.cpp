#include "oas/problems/random_pomdp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// Uniform on (0, 1]: a row of such weights can always be normalised.
double positive_uniform(Rng& rng) { return 1.0 - rng.uniform(); }

// 0, …, size-1 in random order (Fisher and Yates).
std::vector<int> random_permutation(int size, Rng& rng) {
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[rng.below(static_cast<std::uint32_t>(left))]);
  }
  return order;
}

// Weights [action][state][observation] that are added to the uniform ones.
class Peaks {
 public:
  Peaks(const RandomPomdpOptions& options, Rng& rng)
      : options_(options),
        weights_(static_cast<std::size_t>(options.num_actions) *
                 static_cast<std::size_t>(options.num_states) *
                 static_cast<std::size_t>(options.num_observations)) {
    if (options.peaks == PeakRule::distinct_per_action) {
      set_distinct_per_action(rng);
    } else {
      set_spread_over_pairs(rng);
    }
  }

  [[nodiscard]] std::vector<double> take() && { return std::move(weights_); }

 private:
  void set_peak(int action, int state, int observation) {
    const auto num_states = static_cast<std::size_t>(options_.num_states);
    const auto num_observations = static_cast<std::size_t>(options_.num_observations);
    const std::size_t row =
        static_cast<std::size_t>(action) * num_states + static_cast<std::size_t>(state);
    weights_[row * num_observations + static_cast<std::size_t>(observation)] = options_.peak;
  }

  void set_distinct_per_action(Rng& rng) {
    for (int a = 0; a < options_.num_actions; ++a) {
      const std::vector<int> likely = random_permutation(options_.num_observations, rng);
      for (int s = 0; s < options_.num_states; ++s) {
        set_peak(a, s, likely[static_cast<std::size_t>(s)]);
      }
    }
  }

  // The authors' identity matrix, tiled down the pairs or, where there are more observations than
  // pairs, along the observations; incomplete tiles are left out.
  void set_spread_over_pairs(Rng& rng) {
    const int pairs = options_.num_states * options_.num_actions;
    const int tile = std::min(pairs, options_.num_observations);
    const int peaked_pairs = pairs / tile * tile;
    const int peaked_observations = options_.num_observations / tile * tile;
    const std::vector<int> order = random_permutation(pairs, rng);
    for (int i = 0; i < peaked_pairs; ++i) {
      const int pair = order[static_cast<std::size_t>(i)];
      for (int o = i % tile; o < peaked_observations; o += tile) {
        set_peak(pair % options_.num_actions, pair / options_.num_actions, o);
      }
    }
  }

  const RandomPomdpOptions& options_;
  std::vector<double> weights_;
};

ObservationModel random_sensors(const RandomPomdpOptions& options, Rng& rng) {
  std::vector<double> values = Peaks(options, rng).take();
  const auto width = static_cast<std::ptrdiff_t>(options.num_observations);
  for (auto row = values.begin(); row != values.end(); row += width) {
    double sum = 0.0;
    for (auto cell = row; cell != row + width; ++cell) sum += * cell += positive_uniform(rng);
    for (auto cell = row; cell != row + width; ++cell) *cell /= sum;
  }
  return {options.num_states, options.num_actions, options.num_observations, std::move(values)};
}

double smallest_alpha(const ObservationModel& sensors) {
  double alpha = std::numeric_limits<double>::infinity();
  for (int a = 0; a < sensors.num_actions(); ++a) {
    alpha = std::min(alpha, pseudo_inverse(sensors.matrix(Action{a})).smallest);
  }
  return alpha;
}

std::vector<double> random_rewards(int num_observations, Rng& rng) {
  std::vector<double> rewards;
  for (const int rank : random_permutation(num_observations, rng)) {
    rewards.push_back(rank == 0 ? 0.0 : static_cast<double>(rank) / (num_observations - 1));
  }
  return rewards;
}

struct DrawnSensors {
  ObservationModel sensors;
  int draws = 0;
  double alpha = 0.0;
};

DrawnSensors draw_sensors(const RandomPomdpOptions& options, Rng& rng) {
  double best = 0.0;
  for (int draw = 1; draw <= options.max_draws; ++draw) {
    ObservationModel sensors = random_sensors(options, rng);
    const double alpha = smallest_alpha(sensors);
    if (alpha >= options.min_alpha) return {std::move(sensors), draw, alpha};
    best = std::max(best, alpha);
  }
  detail::throw_invalid_argument(
      fmt::format("{} draws (max_draws) gave no sensors with alpha >= {:.6g} (min_alpha); the best "
                  "had {:.6g}",
                  options.max_draws, options.min_alpha, best));
}

}  // namespace

void RandomPomdpOptions::validate() const {
  check_ranges(*this);
  if (min_transition) {
    OAS_REQUIRE(*min_transition * num_states <= 1.0,
                "min_transition is {}; it must lie in [0, 1/{}]", *min_transition, num_states);
  }
  OAS_REQUIRE(min_alpha == 0.0 || num_observations >= num_states,
              "num_observations is {}, fewer than the {} states: alpha is 0, below min_alpha {}",
              num_observations, num_states, min_alpha);
  OAS_REQUIRE(peaks != PeakRule::distinct_per_action || num_observations >= num_states,
              "num_observations is {}, fewer than the {} states: peaks cannot be distinct",
              num_observations, num_states);
}

std::string RandomPomdp::brief() const {
  const std::string again =
      draws == 1 ? "" : fmt::format(", sensors drawn {} times to reach it", draws);
  return fmt::format("{}, alpha {:.4g}{}", model.brief(), alpha, again);
}

RandomPomdp random_pomdp(const RandomPomdpOptions& options, Rng& rng) {
  options.validate();
  PomdpParts parts;
  parts.timing = options.timing;
  parts.states = Labels(options.num_states, "state");
  parts.actions = Labels(options.num_actions, "action");
  parts.observations = Labels(options.num_observations, "observation");
  parts.transition =
      random_transition(options.num_states, options.num_actions,
                        options.min_transition.value_or(0.2 / options.num_states), rng);
  DrawnSensors drawn = draw_sensors(options, rng);
  parts.sensors = std::move(drawn.sensors);
  parts.reward = Reward::by_observation(random_rewards(options.num_observations, rng));
  return {Pomdp(std::move(parts)), drawn.draws, drawn.alpha};
}

TransitionModel random_transition(int num_states, int num_actions, double min_entry, Rng& rng) {
  OAS_REQUIRE(num_states >= 1 && num_actions >= 1,
              "a random transition model of {} states and {} actions", num_states, num_actions);
  OAS_REQUIRE(min_entry >= 0.0 && min_entry * num_states <= 1.0,
              "min_entry is {}; it must lie in [0, 1/{}]", min_entry, num_states);
  const double free_mass = 1.0 - num_states * min_entry;
  const std::size_t size = table_size({num_actions, num_states, num_states});
  OAS_REQUIRE(size <= std::vector<double>().max_size(),
              "a random transition model of {} states and {} actions", num_states, num_actions);
  std::vector<double> values(size);
  for (auto row = values.begin(); row != values.end(); row += num_states) {
    double sum = 0.0;
    for (auto cell = row; cell != row + num_states; ++cell) sum += * cell = positive_uniform(rng);
    for (auto cell = row; cell != row + num_states; ++cell) {
      *cell = min_entry + free_mass * *cell / sum;
    }
  }
  return {num_states, num_actions, std::move(values)};
}

}  // namespace oas
