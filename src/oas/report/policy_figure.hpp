#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oas/planning/plan.hpp"

namespace oas {

/// A belief that a plan meets again and again, and what it does there.
struct VisitedBelief {
  std::vector<double> belief;  ///< mean of those that were taken together
  Action action;               ///< without the floor
  double share = 0.0;          ///< of all steps
};

/// What a plan does, for any number of states: it plays in its own model, and beliefs that agree to
/// a tenth and lead to the same action are taken together. For every action that it takes, those
/// visited most, at most `most` of them; the commonest action first.
[[nodiscard]] std::vector<VisitedBelief> visited_beliefs(const Plan& plan, std::uint64_t seed,
                                                         std::size_t most);

/// A bar of its states for each of them, with its action and its share of time.
[[nodiscard]] std::string policy_svg(const Pomdp& model, std::span<const VisitedBelief> beliefs);

}  // namespace oas
