#pragma once

#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/planning/planner.hpp"

namespace oas {

/// A limit on how often some states may occur.
struct StateLimit {
  std::vector<int> states;
  double most = 0.0;  ///< share of the steps whose action is taken in one of them, in [0, 1]
};

/// Reads "failed=0.01" or "worn+failed=0.05". Throws InvalidArgument that says what is expected.
[[nodiscard]] StateLimit parse_limit(const std::string& text, const Pomdp& model);

/// A plan with a large gain among the policies whose long-run frequency of the states of
/// options.limit is at most what it says. A penalty λ per step in them is searched: the larger λ,
/// the rarer the states under the best policy for the penalised rewards.
///
/// What is proved: for every λ >= 0 a policy that keeps the limit c has gain <= U(λ) + λ c, U(λ) an
/// upper bound of the penalised gain (weak duality). Plan::limited->gain_upper is the least of
/// these over all λ tried. The plan itself is greedy for one λ; where the best policy under a limit
/// must mix two (it often must: the limit is then met with equality), some of the gain is left, and
/// gain_upper - gain_lower shows how much at most. Frequency and gain are simulated (level of the
/// options). Where several limits would be needed, plan for one and look at the others with
/// evaluate_controller.
///
/// Throws InvalidArgument as make_plan does, and where no policy is found that keeps the limit,
/// saying whether none exists.
[[nodiscard]] Plan limited_plan(const Pomdp& model, const PlanOptions& options,
                                Parallelism parallelism = {});

}  // namespace oas
