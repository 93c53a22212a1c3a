#include "oas/planning/plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

constexpr std::array<PlannerInfo, 2> kPlanners = {{
    {"grid", "relative value iteration on a regular belief grid: proved upper bound, few states"},
    {"point", "alpha-vectors at beliefs reached in simulation: many states"},
}};

}  // namespace

std::span<const PlannerInfo> planners() { return kPlanners; }

void Plan::validate() const {
  OAS_REQUIRE(std::any_of(kPlanners.begin(), kPlanners.end(),
                          [&](const PlannerInfo& info) { return info.name == planner; }),
              "planner is '{}'; known are grid, point", planner);
  OAS_REQUIRE(model.has_transition(), "the plan's model has no transition model");
  check_floor(iota, model.num_actions());
  OAS_REQUIRE(std::isfinite(gain_lower) && std::isfinite(gain_upper) && gain_lower <= gain_upper,
              "gain_lower is {} and gain_upper {}", gain_lower, gain_upper);
  if (planner == "grid") {
    const BeliefGrid grid(model.num_states(), resolution);
    OAS_REQUIRE(bias.size() == grid.size(), "bias has {} values where the grid has {} points",
                bias.size(), grid.size());
    check_finite(bias, "bias");
  } else {
    OAS_REQUIRE(!alpha.empty() && alpha.size() % static_cast<std::size_t>(model.num_states()) == 0,
                "alpha has {} numbers, no positive multiple of {} states", alpha.size(),
                model.num_states());
    check_finite(alpha, "alpha");
  }
}

std::string Plan::brief() const {
  const std::string how =
      planner == "grid" ? fmt::format("grid of resolution {} ({} points)", resolution, bias.size())
                        : fmt::format("{} alpha-vectors", num_alpha());
  return fmt::format("gain in [{:.6g}, {:.6g}], iota {:.4g}, {}, {} after {} sweeps", gain_lower,
                     gain_upper, iota, how, to_string(status), iterations);
}

}  // namespace oas
