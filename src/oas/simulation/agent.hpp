#pragma once

#include <concepts>

#include "oas/core/index.hpp"
#include "oas/core/rng.hpp"
#include "oas/model/trajectory.hpp"

namespace oas {

/// Whoever plays: chooses an action (and says how likely that choice was), then is told the
/// observation that came with it. It is told nothing else.
template <class T>
concept Agent = requires(T agent, Rng& rng, Observation observation) {
  { agent.act(rng) } -> std::same_as<Choice>;
  agent.observe(observation);
};

}  // namespace oas
