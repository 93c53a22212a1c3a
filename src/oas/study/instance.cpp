#include "oas/study/instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/model/model_json.hpp"
#include "oas/problems/named.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

PeakRule read_generator(const std::string& name) {
  OAS_REQUIRE(name == "default" || name == "authors",
              "generator is '{}'; it must be default or authors", name);
  return name == "default" ? PeakRule::distinct_per_action : PeakRule::spread_over_pairs;
}

// A number, or `rule` for what `value` is.
double number_or_rule(const TaskSettings& settings, const std::string& name,
                      const std::string& rule, double value) {
  const auto found = settings.values().find(name);
  if (found == settings.values().end()) return value;
  if (const auto* text = std::get_if<std::string>(&found->second)) {
    OAS_REQUIRE(*text == rule, "{} is '{}'; it must be a number or \"{}\"", name, *text, rule);
    return value;
  }
  return settings.number(name, value);
}

std::optional<double> optional_number(const TaskSettings& settings, const std::string& name) {
  if (!settings.has(name)) return std::nullopt;
  return settings.number(name, 0.0);
}

// Rank of each value, from 0 for the least to 1 for the greatest; ties by position.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  std::vector<double> rank(values.size(), 0.5);
  for (std::size_t i = 0; i < order.size() && order.size() > 1; ++i) {
    rank[order[i]] = static_cast<double>(i) / static_cast<double>(order.size() - 1);
  }
  return rank;
}

ObservationModel mixed_with_noise(const ObservationModel& sensors, double share) {
  std::vector<double> values(sensors.values().begin(), sensors.values().end());
  for (double& value : values) {
    value = (1.0 - share) * value + share / sensors.num_observations();
  }
  return {sensors.num_states(), sensors.num_actions(), sensors.num_observations(),
          std::move(values)};
}

// Bisection: α falls continuously to 0 as the share of noise grows to 1.
Pomdp with_alpha(const Pomdp& model, double alpha) {
  const double there = analyse_sensors(model.sensors()).alpha;
  OAS_REQUIRE(there >= alpha, "alpha is {}; the sensors drawn have only {:.4g}", alpha, there);
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    const bool enough = analyse_sensors(mixed_with_noise(model.sensors(), middle)).alpha >= alpha;
    (enough ? low : high) = middle;
  }
  PomdpParts parts = model.parts();
  parts.sensors = mixed_with_noise(model.sensors(), low);
  parts.observation_counts.reset();
  return Pomdp(std::move(parts));
}

RandomPomdpOptions generator_options(const InstanceRule& rule) {
  RandomPomdpOptions options;
  options.num_states = rule.num_states;
  options.num_actions = rule.num_actions;
  options.num_observations = rule.num_observations;
  options.min_transition = rule.epsilon;
  options.peaks = rule.peaks;
  return options;
}

RandomPomdp candidate(const InstanceRule& rule, std::uint32_t stream) {
  Rng rng({rule.seed, stream, Role::problem});
  return random_pomdp(generator_options(rule), rng);
}

std::uint32_t choose_candidate(const InstanceRule& rule, std::uint32_t first) {
  std::vector<double> alpha;
  std::vector<double> sigma;
  for (int i = 0; i < rule.candidates; ++i) {
    const RandomPomdp drawn = candidate(rule, first + static_cast<std::uint32_t>(i));
    alpha.push_back(drawn.alpha);
    if (rule.sigma_quantile) sigma.push_back(least_transition_value(drawn.model.transition()));
  }
  std::vector<double> distance = ranks(alpha);
  for (double& rank : distance) rank = std::abs(rank - rule.alpha_quantile);
  if (rule.sigma_quantile) {
    const std::vector<double> rank = ranks(sigma);
    for (std::size_t i = 0; i < rank.size(); ++i) {
      distance[i] += std::abs(rank[i] - *rule.sigma_quantile);
    }
  }
  const auto nearest = std::min_element(distance.begin(), distance.end());
  return first + static_cast<std::uint32_t>(nearest - distance.begin());
}

}  // namespace

void InstanceRule::validate() const {
  OAS_REQUIRE(candidates >= 1 && candidates <= 10'000, "candidates is {}; 1 to 10000", candidates);
  const auto check_quantile = [](const char* name, double value) {
    OAS_REQUIRE(value >= 0.0 && value <= 1.0, "{} is {}; it must lie in [0, 1]", name, value);
  };
  check_quantile("alpha_quantile", alpha_quantile);
  check_quantile("sigma_quantile", sigma_quantile.value_or(0.0));
  OAS_REQUIRE(!alpha || (*alpha > 0.0 && *alpha <= 1.0), "alpha is {}; it must lie in (0, 1]",
              alpha.value_or(0.0));
  OAS_REQUIRE(num_observations >= num_states,
              "{} observations cannot tell {} states apart: OAS needs at least as many",
              num_observations, num_states);
  generator_options(*this).validate();
}

InstanceRule InstanceRule::from(const TaskSettings& settings, std::uint64_t seed) {
  InstanceRule rule;
  const auto [num_states, num_actions, num_observations] = size_setting(settings);
  rule.num_states = num_states;
  rule.num_actions = num_actions;
  rule.num_observations = num_observations;
  rule.peaks = read_generator(settings.text("generator", "default"));
  rule.epsilon = number_or_rule(settings, "epsilon", "1/(5S)", 0.2 / rule.num_states);
  const std::int64_t candidates = settings.integer("candidates", rule.candidates);
  rule.candidates = static_cast<int>(std::clamp<std::int64_t>(candidates, -1, 1'000'000));
  rule.alpha_quantile = settings.number("alpha_quantile", rule.alpha_quantile);
  rule.sigma_quantile = optional_number(settings, "sigma_quantile");
  rule.alpha = optional_number(settings, "alpha");
  const std::string instances = settings.text("instances", "fixed");
  OAS_REQUIRE(instances == "fixed" || instances == "per-replication",
              "instances is '{}'; it must be fixed or per-replication", instances);
  rule.per_replication = instances == "per-replication";
  rule.seed = seed;
  rule.validate();
  return rule;
}

Instance make_instance(const InstanceRule& rule, std::uint32_t replication) {
  rule.validate();
  const std::uint32_t first =
      rule.per_replication ? replication * static_cast<std::uint32_t>(rule.candidates) : 0;
  const std::uint32_t chosen = choose_candidate(rule, first);
  Pomdp model = candidate(rule, chosen).model;
  if (rule.alpha) model = with_alpha(model, *rule.alpha);
  Rng rng({rule.seed, chosen, Role::policy});
  TransitionModel believed =
      random_transition(rule.num_states, rule.num_actions, rule.epsilon, rng);
  const double alpha = analyse_sensors(model.sensors()).alpha;
  const double sigma = least_transition_value(model.transition());
  return {std::move(model), std::move(believed), alpha, sigma, chosen};
}

double least_transition_value(const TransitionModel& transition) {
  double least = std::numeric_limits<double>::infinity();
  for (int a = 0; a < transition.num_actions(); ++a) {
    least = std::min(least, pseudo_inverse(transition.matrix(Action{a})).smallest);
  }
  return least;
}

std::array<int, 3> size_setting(const TaskSettings& settings) {
  const std::string text = settings.text("size", "3x3x3");
  std::array<int, 3> size{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  bool good = true;
  for (std::size_t i = 0; i < 3 && good; ++i) {
    if (i > 0) good = at != end && *at++ == 'x';
    const auto [next, error] = std::from_chars(at, end, size[i]);
    good = good && error == std::errc() && size[i] >= 1 && size[i] <= 1000;
    at = next;
  }
  OAS_REQUIRE(good && at == end, "size is '{}'; it must read SxAxO, as in 3x4x5", text);
  return size;
}

Pomdp model_setting(const TaskSettings& settings, const std::string& name) {
  if (!settings.has(kModelText)) return make_problem(name);
  Pomdp model = parse_model(settings.text(kModelText, ""), "model " + name);
  OAS_REQUIRE(model.has_transition(), "model {} has no transition", name);
  return model;
}

Timing timing_setting(const TaskSettings& settings) {
  const std::string timing = settings.text("timing", "before");
  OAS_REQUIRE(timing == "before" || timing == "after", "timing is '{}'; it must be before or after",
              timing);
  return timing == "before" ? Timing::before : Timing::after;
}

double floor_setting(const TaskSettings& settings, int num_actions) {
  const double floor = number_or_rule(settings, "iota", "1/(10A)", default_floor(num_actions));
  check_floor(floor, num_actions);
  return floor;
}

}  // namespace oas
