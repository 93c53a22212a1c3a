#pragma once

#include "oas/model/trajectory.hpp"
#include "oas/simulation/agent.hpp"
#include "oas/simulation/environment.hpp"

namespace oas {

/// Lets the agent play `steps` further steps and appends them to `out` with all columns. The closed
/// loop of the whole project; allocates only where `out` must grow (reserve it to avoid that).
template <Agent T>
void advance(Environment& environment, T& agent, Rng& agent_rng, std::size_t steps,
             Trajectory& out) {
  const std::size_t first = out.size();
  const std::size_t total = first + steps;
  out.actions.resize(total);
  out.observations.resize(total);
  out.propensities.resize(total);
  out.rewards.resize(total);
  out.states.resize(total);
  for (std::size_t t = first; t < total; ++t) {
    const Choice choice = agent.act(agent_rng);
    const Environment::Outcome outcome = environment.step(choice.action);
    agent.observe(outcome.observation);
    out.actions[t] = choice.action;
    out.observations[t] = outcome.observation;
    out.propensities[t] = choice.propensity;
    out.rewards[t] = outcome.reward;
    out.states[t] = outcome.state;
  }
}

/// One run of `steps` steps from the model's start; the environment and the agent draw from the
/// streams (seed, replication, environment) and (seed, replication, agent).
template <Agent T>
[[nodiscard]] Trajectory run(const Pomdp& model, T& agent, std::size_t steps, std::uint64_t seed,
                             std::uint32_t replication = 0) {
  Environment environment(model, Rng({seed, replication, Role::environment}));
  Rng agent_rng({seed, replication, Role::agent});
  Trajectory out;
  advance(environment, agent, agent_rng, steps, out);
  return out;
}

}  // namespace oas
