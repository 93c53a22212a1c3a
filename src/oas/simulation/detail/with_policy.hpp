#pragma once

#include "oas/simulation/closed_loop.hpp"
#include "oas/simulation/policies.hpp"

namespace oas::detail {

/// start(policy) with the logging policy that `options` name. Those that look at observations
/// depend on what an observation is: reactive(own transition, floor, whether memoryless, start)
/// makes them. Throws InvalidArgument as PolicyOptions::validate does.
template <class Start, class Reactive>
auto with_policy(const Pomdp& chain, const PolicyOptions& options, const Start& start,
                 const Reactive& reactive) {
  options.validate(chain);
  const int num_actions = chain.num_actions();
  if (options.name == "uniform") return start(UniformPolicy(num_actions));
  if (options.name == "round-robin") return start(RoundRobinPolicy(num_actions));
  const double floor = options.min_action_probability.value_or(default_floor(num_actions));
  const auto& own = options.own_transition ? *options.own_transition : chain.transition();
  return reactive(own, floor, options.name == "memoryless", start);
}

}  // namespace oas::detail
