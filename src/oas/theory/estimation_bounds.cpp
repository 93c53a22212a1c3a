#include "oas/theory/estimation_bounds.hpp"

#include <cmath>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// √n times the bound on ‖d̂ - d‖₂, without the factor of the chain's mixing.
double deviation(double start_ratio, double delta, DeviationForm form) {
  const double log_term = std::log(start_ratio / delta);
  return form == DeviationForm::paper ? std::sqrt(2.0 * start_ratio + 5.0 * log_term)
                                      : std::sqrt(2.0 * start_ratio) + std::sqrt(2.0 * log_term);
}

void check_common(double alpha, double delta, double steps) {
  OAS_REQUIRE(alpha > 0.0 && std::isfinite(alpha), "alpha is {}; it must be positive", alpha);
  OAS_REQUIRE(delta > 0.0 && delta < 1.0, "delta is {}; it must lie in (0, 1)", delta);
  OAS_REQUIRE(steps > 0.0, "steps is {}; it must be positive", steps);
}

void check_probability(double value, const char* what) {
  OAS_REQUIRE(value > 0.0 && value <= 1.0, "{} is {}; it must lie in (0, 1]", what, value);
}

// Both radii are factor/√n, so factor is the radius after one step. Rounding must not leave the
// radius of the result above the target.
template <class Inputs>
double invert(Inputs inputs, double target, double (*radius)(const Inputs&)) {
  OAS_REQUIRE(target > 0.0, "the target error is {}; it must be positive", target);
  inputs.steps = 1.0;
  const double factor = radius(inputs) / target;
  inputs.steps = std::fmax(1.0, std::ceil(factor * factor));
  while (radius(inputs) > target) {
    inputs.steps = std::fmax(inputs.steps + 1.0, std::nextafter(inputs.steps, HUGE_VAL));
  }
  return inputs.steps;
}

}  // namespace

void StationaryRadiusInputs::validate() const {
  OAS_REQUIRE(num_states >= 1, "num_states is {}; it must be at least 1", num_states);
  OAS_REQUIRE(num_actions >= 1, "num_actions is {}; it must be at least 1", num_actions);
  check_common(alpha, delta, steps);
  check_probability(min_state_probability, "min_state_probability");
  check_probability(min_action_probability, "min_action_probability");
  OAS_REQUIRE(contraction >= 0.0 && contraction < 1.0, "contraction is {}; it must lie in [0, 1)",
              contraction);
}

double stationary_radius(const StationaryRadiusInputs& inputs) {
  inputs.validate();
  const double mixing = (1.0 + inputs.contraction) / (1.0 - inputs.contraction);
  const double pairs = static_cast<double>(inputs.num_states) * inputs.num_actions;
  return 2.0 /
         (inputs.alpha * inputs.alpha * inputs.min_state_probability *
          inputs.min_action_probability) *
         std::sqrt(mixing * pairs / inputs.steps) * deviation(1.0, inputs.delta, inputs.form);
}

double steps_for_stationary_radius(const StationaryRadiusInputs& inputs, double target) {
  return invert(inputs, target, stationary_radius);
}

std::optional<double> steps_by_bound(const SensorReport& sensors,
                                     const ErgodicityReport& ergodicity, double target) {
  if (!sensors.revealing() || ergodicity.min_stationary <= 0.0 ||
      ergodicity.state_action_coefficient >= 1.0) {
    return std::nullopt;
  }
  if (std::isnan(ergodicity.state_action_coefficient) || std::isnan(ergodicity.min_stationary)) {
    return std::nan("");
  }
  StationaryRadiusInputs inputs;
  inputs.num_states = sensors.num_states;
  inputs.num_actions = static_cast<int>(sensors.actions.size());
  inputs.alpha = sensors.alpha;
  inputs.min_state_probability = ergodicity.min_stationary;
  inputs.min_action_probability = 1.0 / inputs.num_actions;
  inputs.contraction = ergodicity.state_action_coefficient;
  return steps_for_stationary_radius(inputs, target);
}

void OasRadiusInputs::validate() const {
  check_common(alpha, delta, steps);
  check_probability(min_transition, "min_transition");
  check_probability(min_action_probability, "min_action_probability");
  OAS_REQUIRE(!start_ratio || (*start_ratio >= 1.0 && std::isfinite(*start_ratio)),
              "start_ratio is {}; it must be at least 1", start_ratio.value_or(1.0));
}

double oas_radius(const OasRadiusInputs& inputs) {
  inputs.validate();
  const double floor = inputs.min_transition * inputs.min_action_probability;
  const double start_ratio = inputs.start_ratio.value_or(1.0 / floor);
  return 2.0 / (inputs.alpha * inputs.alpha * std::pow(floor, 1.5)) *
         deviation(start_ratio, inputs.delta, inputs.form) / std::sqrt(inputs.steps);
}

double steps_for_oas_radius(const OasRadiusInputs& inputs, double target) {
  return invert(inputs, target, oas_radius);
}

double row_radius(double frobenius_radius, int num_states) {
  OAS_REQUIRE(frobenius_radius >= 0.0, "the radius is {}; it must not be negative",
              frobenius_radius);
  OAS_REQUIRE(num_states >= 1, "num_states is {}; it must be at least 1", num_states);
  return 0.5 * std::sqrt(static_cast<double>(num_states)) * frobenius_radius;
}

}  // namespace oas
