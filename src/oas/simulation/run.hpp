#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/simulation/agent.hpp"
#include "oas/simulation/environment.hpp"

namespace oas {

/// Where rows are reading-first, lets the agent see the first reading before it acts; once in the
/// life of an environment. play() does it too. Throws InvalidArgument when the agent has no
/// begin(reading).
template <class System, Agent<typename System::Reading> T>
void open_run(System& environment, T& agent) {
  if (!environment.opens()) return;
  if constexpr (Begins<T, typename System::Reading>) {
    agent.begin(environment.open());
  } else {
    throw InvalidArgument(
        "a run begins with a reading where rows are reading-first, and this policy cannot take one "
        "before its first action");
  }
}

/// The closed loop of the whole project: the agent acts, the environment answers, the agent is told
/// the observation. `watch(choice, outcome)` is called in between, when the environment has
/// answered and the agent does not know yet: whoever counts, logs or judges the steps does it
/// there. Agent and environment keep their state: the same steps result however they are cut.
/// Throws InvalidArgument when the agent chooses an action that does not exist.
template <class System, Agent<typename System::Reading> T, class Watch>
void play(System& environment, T& agent, Rng& agent_rng, std::size_t steps, Watch watch) {
  open_run(environment, agent);
  for (std::size_t t = 0; t < steps; ++t) {
    const Choice choice = agent.act(agent_rng);
    if (!environment.has(choice.action)) [[unlikely]]
      check_action(choice.action, environment.num_actions());
    const typename System::Outcome outcome = environment.step(choice.action);
    watch(choice, outcome);
    agent.observe(outcome.observation);
  }
}

namespace detail {

template <class Outcome>
void set_row(Trajectory& out, std::size_t t, const Choice& choice, const Outcome& outcome,
             Observation observation) {
  out.actions[t] = choice.action;
  out.observations[t] = observation;
  out.propensities[t] = choice.propensity;
  out.rewards[t] = outcome.reward;
  out.states[t] = outcome.state;
}

// Gives `out` so many more rows; returns how many there were.
inline std::size_t grow(Trajectory& out, std::size_t steps) {
  const std::size_t rows = out.size();
  OAS_REQUIRE(steps <= out.propensities.max_size() - rows, "{} steps after {} rows", steps, rows);
  out.resize(rows + steps);
  return rows;
}

}  // namespace detail

/// Plays `steps` further steps and appends them to `out` with all columns; allocates only where
/// `out` must grow (reserve it to avoid that).
template <Agent T>
void advance(Environment& environment, T& agent, Rng& agent_rng, std::size_t steps,
             Trajectory& out) {
  std::size_t t = detail::grow(out, steps);
  play(environment, agent, agent_rng, steps,
       [&](const Choice& choice, const Environment::Outcome& outcome) {
         detail::set_row(out, t++, choice, outcome, outcome.observation);
       });
}

/// Where rows with real-valued observations go: their finite observation is 0.
struct ReadingRows {
  Trajectory& rows;
  std::vector<double>& readings;     ///< [row][component]
  std::vector<double>* likelihoods;  ///< p(reading | s, a) [row][state]; null: not wanted
};

/// The same with real-valued observations.
template <Agent<SensorReading> T>
void advance(ContinuousEnvironment& environment, T& agent, Rng& agent_rng, std::size_t steps,
             const ReadingRows& out) {
  const auto append = [](std::vector<double>& to, std::span<const double> values) {
    to.insert(to.end(), values.begin(), values.end());
  };
  std::size_t t = detail::grow(out.rows, steps);
  play(environment, agent, agent_rng, steps,
       [&](const Choice& choice, const ContinuousEnvironment::Outcome& outcome) {
         detail::set_row(out.rows, t++, choice, outcome, Observation{0});
         append(out.readings, outcome.observation.values);
         if (out.likelihoods != nullptr) append(*out.likelihoods, outcome.observation.likelihoods);
       });
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
