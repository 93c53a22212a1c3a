#pragma once

#include <concepts>

#include "oas/core/index.hpp"
#include "oas/core/rng.hpp"
#include "oas/model/trajectory.hpp"

namespace oas {

/// Whoever plays: chooses an action (and says how likely that choice was), then is told the
/// observation that came with it. It is told nothing else. Observations are finite unless another
/// type is named: those of an environment are its Reading.
template <class T, class Reading = Observation>
concept Agent = requires(T agent, Rng& rng, const Reading& reading) {
  { agent.act(rng) } -> std::same_as<Choice>;
  agent.observe(reading);
};

/// Whoever can be told what was read before the first action, as happens where rows are
/// reading-first: once, before act().
template <class T, class Reading = Observation>
concept Begins = requires(T agent, const Reading& reading) {
  agent.begin(reading);
};

}  // namespace oas
