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

}  // namespace oas
