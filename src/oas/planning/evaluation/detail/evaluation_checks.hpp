#pragma once

#include "oas/core/contracts.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/plan.hpp"

namespace oas::detail {

/// Throws InvalidArgument unless the truth, the plan's model and the filter have the same sizes and
/// known dynamics.
inline void check_same_sizes(const Pomdp& truth, const Plan& plan, const Pomdp& filter) {
  for (const Pomdp* other : {&truth, &filter}) {
    OAS_REQUIRE(other->num_states() == plan.model.num_states() &&
                    other->num_actions() == plan.model.num_actions() &&
                    other->num_observations() == plan.model.num_observations(),
                "the {} is {}, but the plan was made for {}",
                other == &truth ? "model" : "filter's model", other->brief(), plan.model.brief());
    static_cast<void>(other->transition());  // throws when unknown
  }
}

}  // namespace oas::detail
