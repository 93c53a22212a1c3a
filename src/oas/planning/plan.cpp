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

void VectorBias::validate(int num_states) const {
  OAS_REQUIRE(!alpha.empty() && alpha.size() % static_cast<std::size_t>(num_states) == 0,
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

void Plan::validate() const {
  OAS_REQUIRE(model.has_transition(), "the plan's model has no transition model");
  check_floor(iota, model.num_actions());
  OAS_REQUIRE(std::isfinite(gain_lower) && std::isfinite(gain_upper) && gain_lower <= gain_upper,
              "gain_lower is {} and gain_upper {}", gain_lower, gain_upper);
  std::visit([&](const auto& v) { v.validate(model.num_states()); }, bias);
}

std::string Plan::brief() const {
  const std::string how =
      std::visit([&](const auto& v) { return v.brief(model.num_states()); }, bias);
  return fmt::format("gain in [{:.6g}, {:.6g}], iota {:.4g}, {}, {} after {} sweeps", gain_lower,
                     gain_upper, iota, how, to_string(status), iterations);
}

}  // namespace oas
