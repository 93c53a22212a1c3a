#pragma once

#include <span>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/policies/controller.hpp"

namespace oas {

/// What was tried, and how it fares in the draws that chose and in those that did not.
struct CautiousCandidate {
  std::string made_for;
  double chosen_by = 0.0;  ///< mean gain over the worst share of the draws that chose
  double judged = 0.0;     ///< the same over the others: what to expect
  double mean = 0.0;       ///< mean gain over the others
};

/// A plan that does well where the drawn dynamics are bad for it.
struct CautiousPlan {
  Plan plan;
  Controller controller;  ///< of the plan, with which it was judged
  double share = 0.0;
  CautiousCandidate chosen;
  CautiousCandidate plain;  ///< the plan for the estimate itself
  int candidates = 0;
};

/// Of several plans the one whose mean gain over the worst `share` of the draws is the largest (the
/// conditional value at risk). Tried are plans for the model itself, for the mean of the worst
/// draws of that plan, for single draws from bad to good ones, and the myopic plan. Every second
/// draw chooses; the others judge, so that the figures are not those of the luckiest choice. Plans
/// act as the controllers of their graphs (export_graph). `draws` are models like `model`, with
/// other dynamics and perhaps other rewards. Throws InvalidArgument with fewer than 20
/// draws, unless 0 < share < 1, and as make_plan does.
[[nodiscard]] CautiousPlan cautious_plan(const Pomdp& model, std::span<const Pomdp> draws,
                                         double share, const PlanOptions& options = {},
                                         Parallelism parallelism = {});

}  // namespace oas
