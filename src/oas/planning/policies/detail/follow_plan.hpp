#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "oas/core/linear_algebra.hpp"
#include "oas/planning/plan.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/simulation/run.hpp"

namespace oas::detail {

/// Calls visit(belief, greedy action) along runs of the plan in its model, each of 2000 steps from
/// the start.
template <class Visit>
void follow_plan(const Plan& plan, std::uint64_t steps, std::uint64_t seed, Visit visit) {
  constexpr std::uint64_t kRunLength = 2000;
  PlanPolicy policy = PlanPolicy::greedy(plan);
  for (std::uint64_t done = 0; done < steps; done += kRunLength) {
    const auto replication = static_cast<std::uint32_t>(done / kRunLength);
    Environment environment(plan.model, Rng({seed, replication, Role::environment}));
    Rng rng({seed, replication, Role::agent});
    policy.restart();
    play(environment, policy, rng, std::min(kRunLength, steps - done),
         [&](const Choice& choice, const Environment::Outcome& /*outcome*/) {
           visit(policy.belief(), choice.action);
         });
  }
}

/// The beliefs of such runs, one a column; the first is the start.
[[nodiscard]] inline Eigen::MatrixXd reached_beliefs(const Plan& plan, std::uint64_t steps,
                                                     std::uint64_t seed) {
  Eigen::MatrixXd beliefs(plan.model.num_states(), static_cast<Eigen::Index>(steps));
  Eigen::Index column = 0;
  follow_plan(plan, steps, seed, [&](std::span<const double> belief, int /*action*/) {
    beliefs.col(column++) = VectorView(belief.data(), plan.model.num_states());
  });
  return beliefs;
}

/// Whether a gain is below the plan's lower bound by more than a hundredth.
[[nodiscard]] inline bool is_worse(double gain, const Plan& plan) {
  constexpr double kShare = 0.01;
  const double scale = std::max(std::abs(plan.gain_lower), std::abs(plan.gain_upper));
  return gain < plan.gain_lower - kShare * scale - 1e-12;
}

}  // namespace oas::detail
