#pragma once

#include <benchmark/benchmark.h>

#include "oas/problems/random_pomdp.hpp"

namespace oas {

/// The random instance of the sizes (S, A, O) that are a benchmark's arguments.
inline Pomdp random_instance(const benchmark::State& state) {
  RandomPomdpOptions options;
  options.num_states = static_cast<int>(state.range(0));
  options.num_actions = static_cast<int>(state.range(1));
  options.num_observations = static_cast<int>(state.range(2));
  options.min_alpha = 0.01;
  Rng rng({1, 0, Role::problem});
  return random_pomdp(options, rng).model;
}

}  // namespace oas
