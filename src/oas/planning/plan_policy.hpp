#pragma once

#include <span>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/rng.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/plan.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

/// A plan that acts: an Agent. The belief is filtered exactly, with the plan's own model or with
/// `filter`; the action comes from the look-ahead on v, mixed with the floor ι of the plan.
class PlanPolicy {
 public:
  explicit PlanPolicy(const Plan& plan) : PlanPolicy(plan, plan.model) {}

  /// Throws InvalidArgument when the sizes of the two models differ.
  PlanPolicy(const Plan& plan, const Pomdp& filter)
      : look_ahead_(plan), filter_(filter), iota_(plan.iota) {
    OAS_REQUIRE(filter.num_states() == plan.model.num_states() &&
                    filter.num_actions() == plan.model.num_actions() &&
                    filter.num_observations() == plan.model.num_observations(),
                "beliefs kept with a model of {} for a plan made for {}", filter.brief(),
                plan.model.brief());
  }

  /// The plan without its floor: the look-ahead's action, always.
  [[nodiscard]] static PlanPolicy greedy(const Plan& plan) {
    PlanPolicy policy(plan);
    policy.iota_ = 0.0;
    return policy;
  }

  /// Back to the start of a run.
  void restart() { filter_.reset(); }

  /// The first reading of a run, where rows are reading-first. Throws InvalidArgument when the
  /// model that keeps the belief has no first_observation.
  void begin(Observation first) { filter_.begin(first); }

  Choice act(Rng& rng) {
    const Choice choice =
        explore(look_ahead_.greedy(filter_.belief()), iota_, look_ahead_.num_actions(), rng);
    last_ = choice.action;
    return choice;
  }

  /// kMissing moves the belief without evidence. Throws InvalidArgument on an observation that does
  /// not exist, and has changed nothing then.
  void observe(Observation observation) { filter_.update(last_, observation); }

  [[nodiscard]] std::span<const double> belief() const { return filter_.belief(); }

 private:
  LookAhead look_ahead_;
  BeliefFilter filter_;
  double iota_;
  Action last_;
};

}  // namespace oas
