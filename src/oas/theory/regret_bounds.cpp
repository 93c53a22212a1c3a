#include "oas/theory/regret_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"

namespace oas {

double bias_span_bound(double min_transition) {
  OAS_REQUIRE(min_transition > 0.0 && min_transition <= 0.5,
              "min_transition is {}; it must lie in (0, 1/2]", min_transition);
  const double rest = min_transition / (1.0 - min_transition);  // 1 - γ, without cancellation
  const double base = 1.0 - rest;
  const double logarithm = base > 0.0 ? std::log(rest / 8.0) / std::log1p(-rest) : 0.0;
  return 8.0 * (2.0 / (rest * rest) + (1.0 + base) * logarithm) / rest;
}

double belief_error_constant(int num_states, double min_transition) {
  OAS_REQUIRE(num_states >= 1, "num_states is {}; it must be at least 1", num_states);
  OAS_REQUIRE(min_transition > 0.0 && min_transition <= 1.0,
              "min_transition is {}; it must lie in (0, 1]", min_transition);
  const double rest = 1.0 - min_transition;
  return 4.0 * num_states * rest * rest / (min_transition * min_transition * min_transition) +
         std::sqrt(static_cast<double>(num_states));
}

int num_episodes(double steps, double first_episode) {
  OAS_REQUIRE(first_episode >= 1.0 && std::isfinite(first_episode),
              "first_episode is {}; it must be at least 1", first_episode);
  OAS_REQUIRE(steps >= 1.0 && std::isfinite(steps), "steps is {}; it must be at least 1", steps);
  int episodes = 1;
  double length = first_episode;
  for (double begun = length; begun < steps; begun += length) {
    length *= 2.0;
    ++episodes;
  }
  return episodes;
}

void RegretBoundInputs::validate() const {
  OAS_REQUIRE(num_states >= 1, "num_states is {}; it must be at least 1", num_states);
  OAS_REQUIRE(alpha > 0.0 && std::isfinite(alpha), "alpha is {}; it must be positive", alpha);
  OAS_REQUIRE(min_transition > 0.0 && min_transition <= 1.0 / num_states,
              "min_transition is {}; it must lie in (0, 1/{}]", min_transition, num_states);
  OAS_REQUIRE(min_action_probability > 0.0 && min_action_probability <= 1.0,
              "min_action_probability is {}; it must lie in (0, 1]", min_action_probability);
  OAS_REQUIRE(!start_ratio || (*start_ratio >= 1.0 && std::isfinite(*start_ratio)),
              "start_ratio is {}; it must be at least 1", start_ratio.value_or(1.0));
  OAS_REQUIRE(delta > 0.0 && delta < 0.4, "delta is {}; it must lie in (0, 2/5)", delta);
  OAS_REQUIRE(steps >= 3.0 && std::isfinite(steps), "steps is {}; it must be at least 3", steps);
  OAS_REQUIRE(first_episode >= 1.0 && first_episode <= steps,
              "first_episode is {}; it must lie in [1, {}]", first_episode, steps);
}

RegretBound regret_bound(const RegretBoundInputs& inputs) {
  inputs.validate();
  const double floor = inputs.min_transition * inputs.min_action_probability;
  const double start_ratio = inputs.start_ratio.value_or(1.0 / floor);
  RegretBound bound;
  bound.span_bound = bias_span_bound(inputs.min_transition / 2.0);
  bound.belief_constant = belief_error_constant(inputs.num_states, inputs.min_transition);
  bound.episodes = num_episodes(inputs.steps, inputs.first_episode);
  bound.switching = std::log2(inputs.steps) * bound.span_bound;
  bound.martingales =
      4.0 * bound.span_bound * std::sqrt(2.0 * inputs.steps * std::log(4.0 / inputs.delta));
  bound.first_episode = inputs.first_episode;
  const double log_episodes =
      std::log(std::max(std::log(inputs.steps), static_cast<double>(bound.episodes - 1)));
  bound.estimation = 6.0 * bound.belief_constant * (2.0 + bound.span_bound) /
                     (inputs.alpha * inputs.alpha * std::pow(floor, 1.5)) *
                     std::sqrt((2.0 * start_ratio + 5.0 * std::log(start_ratio / inputs.delta) +
                                15.0 * log_episodes) *
                               inputs.steps);
  bound.confidence = 1.0 - 2.5 * inputs.delta;
  return bound;
}

std::string RegretBound::brief() const {
  if (episodes == 0) return "regret bound not computed";
  return fmt::format(
      "regret at most {:.4g} with probability {:.4g}: {:.4g} from estimation, D {:.4g}"
      ", L {:.4g}, {} episodes",
      total(), confidence, estimation, span_bound, belief_constant, episodes);
}

}  // namespace oas
