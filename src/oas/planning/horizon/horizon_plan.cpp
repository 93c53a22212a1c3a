#include "oas/planning/horizon/horizon_plan.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/planning/horizon/detail/horizon_solver.hpp"

namespace oas {

namespace {

constexpr double kDefaultGap = 1e-4;  // of what rewards can differ over the horizon
constexpr double kMostNumbers = 5e7;  // of bounds for each number of steps to go

// Below that the difference of two sums is rounding.
double smallest_gap(const Matrix& rewards, double weight) {
  return 1e-12 * weight * rewards.cwiseAbs().maxCoeff();
}

}  // namespace

void HorizonOptions::validate() const {
  OAS_REQUIRE(steps >= 1 && steps <= kMostHorizon,
              "the horizon is {} steps; it must be from 1 to {}", steps, kMostHorizon);
  OAS_REQUIRE(discount > 0.0 && discount <= 1.0, "discount is {}; it must lie in (0, 1]", discount);
  OAS_REQUIRE(!gap || (std::isfinite(*gap) && *gap > 0.0), "gap is {}; it must be positive", *gap);
  OAS_REQUIRE(work > 0.0, "work is {}; it must be positive", work);
}

double horizon_weight(int steps, double discount) {
  double sum = 0.0;
  for (int t = 0; t < steps; ++t) sum = 1.0 + discount * sum;
  return sum;
}

Plan horizon_plan(const Pomdp& model, const HorizonOptions& options) {
  options.validate();
  const double numbers =
      static_cast<double>(options.steps) * model.num_states() * (2.0 * model.num_actions() + 1.0);
  OAS_REQUIRE(numbers <= kMostNumbers,
              "{} steps with {} states and {} actions need {:.2g} numbers, more than {:.2g}; plan "
              "for fewer steps, or for the average reward",
              options.steps, model.num_states(), model.num_actions(), numbers, kMostNumbers);
  const Matrix rewards = model.expected_reward();
  const double weight = horizon_weight(options.steps, options.discount);
  const double asked =
      options.gap.value_or(kDefaultGap * weight * (rewards.maxCoeff() - rewards.minCoeff()));
  const double gap = std::max(asked, smallest_gap(rewards, weight));
  detail::HorizonSolver solver(model, options);
  Plan plan(model);
  plan.iterations = solver.solve(gap, options.work);
  plan.horizon = HorizonValue{options.steps, options.discount, solver.lower(), solver.upper()};
  plan.residual = plan.horizon->upper - plan.horizon->lower;
  plan.gain_lower = plan.horizon->lower / weight;
  plan.gain_upper = plan.horizon->upper / weight;
  const bool reached = plan.residual <= gap;
  plan.status = reached ? SolveStatus::converged : SolveStatus::sweep_limit;
  plan.message = fmt::format("the bounds are {:.3g} apart, {} {:.3g}{}", plan.residual,
                             reached ? "within" : "not", gap,
                             reached                          ? ""
                             : solver.has_spent(options.work) ? ": the limit of work is reached"
                                                              : ": rounding keeps them apart");
  plan.bias = solver.policy();
  return plan;
}

}  // namespace oas
