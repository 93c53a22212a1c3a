#pragma once

#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/policies/belief_rule.hpp"

namespace oas {

/// What a policy on beliefs does to a model in the long run: simulated.
struct RuleValue {
  GainInterval gain;
  std::vector<double> frequencies;  ///< [S]: share of the steps whose action is taken in s
};

/// Lets the rule, which keeps its belief with its own model, act in `truth`. Steps are worth their
/// expected reward in the hidden state. Replications run in parallel on copies of the rule and are
/// combined in order. Throws InvalidArgument when actions or observations differ.
[[nodiscard]] RuleValue simulate_rule(const Pomdp& truth, const BeliefRule& rule,
                                      const SimulationOptions& options = {},
                                      Parallelism parallelism = {});

/// The same for the discounted sum from the start: each of at least eight runs goes on until γ^t is
/// below 1e-9, or for an eighth of the steps; what is left then is worth between the least and the
/// largest reward for ever, and the limits allow for both. frequencies are discounted shares.
/// Throws also unless 0 < discount < 1.
[[nodiscard]] RuleValue simulate_discounted(const Pomdp& truth, const BeliefRule& rule,
                                            double discount, const SimulationOptions& options = {},
                                            Parallelism parallelism = {});

}  // namespace oas
