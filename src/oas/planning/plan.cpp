#include "oas/planning/plan.hpp"

#include <cmath>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

void GridBias::validate(int num_states) const {
  const BeliefGrid grid(num_states, resolution);
  OAS_REQUIRE(values.size() == grid.size(), "bias has {} values where the grid has {} points",
              values.size(), grid.size());
  check_finite(values, "bias");
}

std::string GridBias::brief(int /*num_states*/) const {
  return fmt::format("grid of resolution {} ({} points)", resolution, values.size());
}

int VectorBias::num_vectors(int num_states) const {
  OAS_REQUIRE(num_states >= 1, "vectors over {} states", num_states);
  return static_cast<int>(alpha.size()) / num_states;
}

void VectorBias::validate(int num_states) const {
  OAS_REQUIRE(
      num_states >= 1 && !alpha.empty() && alpha.size() % static_cast<std::size_t>(num_states) == 0,
      "alpha has {} numbers, no positive multiple of {} states", alpha.size(), num_states);
  check_finite(alpha, "alpha");
}

std::string VectorBias::brief(int num_states) const {
  return fmt::format("{} alpha-vectors", num_vectors(num_states));
}

int Plan::grid_resolution() const {
  const auto* const grid = std::get_if<GridBias>(&bias);
  return grid != nullptr ? grid->resolution : 0;
}

void Plan::require_endless(std::string_view what) const {
  OAS_REQUIRE(!horizon_policy(),
              "the plan is for {} steps (--horizon), and {}; oas evaluate MODEL PLAN tells what it "
              "is worth, and oas simulate lets it act",
              horizon_policy()->num_steps(), what);
}

namespace {

void check_bias(const GridBias& bias, const Pomdp& model) { bias.validate(model.num_states()); }
void check_bias(const VectorBias& bias, const Pomdp& model) { bias.validate(model.num_states()); }
void check_bias(const HorizonPolicy& policy, const Pomdp& model) { policy.validate(model); }

std::string bias_brief(const GridBias& bias, int num_states) { return bias.brief(num_states); }
std::string bias_brief(const VectorBias& bias, int num_states) { return bias.brief(num_states); }
std::string bias_brief(const HorizonPolicy& policy, int /*num_states*/) { return policy.brief(); }

void check_horizon(const HorizonValue& value, const HorizonPolicy& policy) {
  OAS_REQUIRE(value.steps == policy.num_steps(), "a horizon of {} steps with {} stages",
              value.steps, policy.num_steps());
  OAS_REQUIRE(value.discount > 0.0 && value.discount <= 1.0,
              "the discount of the horizon is {}; it must lie in (0, 1]", value.discount);
  OAS_REQUIRE(
      std::isfinite(value.lower) && std::isfinite(value.upper) && value.lower <= value.upper,
      "the horizon's lower is {} and its upper {}", value.lower, value.upper);
}

}  // namespace

void Plan::validate() const {
  OAS_REQUIRE(model.has_transition(), "the plan's model has no transition model");
  check_floor(iota, model.num_actions());
  OAS_REQUIRE(std::isfinite(gain_lower) && std::isfinite(gain_upper) && gain_lower <= gain_upper,
              "gain_lower is {} and gain_upper {}", gain_lower, gain_upper);
  std::visit([&](const auto& v) { check_bias(v, model); }, bias);
  OAS_REQUIRE(horizon.has_value() == (horizon_policy() != nullptr),
              "stages and the value of a horizon go together");
  if (!horizon) return;
  OAS_REQUIRE(iota == 0.0, "iota is {}; a plan for a horizon has no floor", iota);
  check_horizon(*horizon, *horizon_policy());
}

std::string Plan::brief() const {
  const std::string how =
      std::visit([&](const auto& v) { return bias_brief(v, model.num_states()); }, bias);
  if (horizon) {
    return fmt::format("sum in [{:.6g}, {:.6g}] over {} steps, {}, {} after {} trials",
                       horizon->lower, horizon->upper, horizon->steps, how, to_string(status),
                       iterations);
  }
  return fmt::format("gain in [{:.6g}, {:.6g}], iota {:.4g}, {}, {} after {} sweeps", gain_lower,
                     gain_upper, iota, how, to_string(status), iterations);
}

}  // namespace oas
