#pragma once

#include <initializer_list>
#include <vector>

#include "oas/model/pomdp.hpp"

/// Tables that corner models are put together from, one action each: transitions [s][s'], sensors
/// [s][o].
namespace oas::detail {

using Table = std::vector<double>;

/// One after the other: the tables of several actions.
[[nodiscard]] Table joined(std::initializer_list<Table> tables);

/// From each state `step` further around the ring with probability `move`, else where it was.
[[nodiscard]] Table ring(int num_states, int step, double move);

/// `to` from every state with probability `share`, the rest evenly over the other states.
[[nodiscard]] Table sent_to(int num_states, int to, double share);

/// As many observations as states: the right one with probability `right`, the others evenly.
[[nodiscard]] Table pointing(int num_states, double right);

/// The same with least singular value `alpha`: right = (1 + (S - 1) alpha) / S.
[[nodiscard]] Table pointing_of_alpha(int num_states, double alpha);

/// The right observation is seen, always.
[[nodiscard]] Table perfect(int num_states);

/// All observations alike in all states.
[[nodiscard]] Table blind(int num_states, int num_observations);

/// The model of these tables of `num_actions` actions. Its reward is 1 where state and action are
/// of the same rank (state modulo actions), else 0, so that the greedy action depends on the
/// belief. `start` empty: uniform.
[[nodiscard]] Pomdp corner_model(int num_actions, const Table& transitions, const Table& sensors,
                                 const Table& start = {});

/// One row per model: chains with zeros, and chains for special sensors.
[[nodiscard]] Pomdp corner_flip();
[[nodiscard]] Pomdp corner_flip_noisy();
[[nodiscard]] Pomdp corner_cycle();
[[nodiscard]] Pomdp corner_ring();
[[nodiscard]] Pomdp corner_ring_noisy();
[[nodiscard]] Pomdp corner_bipartite();
[[nodiscard]] Pomdp corner_birth_death();
[[nodiscard]] Pomdp corner_wear_repair();
[[nodiscard]] Pomdp corner_wear_out();
[[nodiscard]] Pomdp corner_near_deterministic();
[[nodiscard]] Pomdp corner_slow();
[[nodiscard]] Pomdp corner_still();
[[nodiscard]] Pomdp corner_rare_state();
[[nodiscard]] Pomdp corner_rare_action();
[[nodiscard]] Pomdp corner_reducible();
[[nodiscard]] Pomdp corner_one_action();
[[nodiscard]] Pomdp corner_minimal();
[[nodiscard]] Pomdp corner_left_to_right();
[[nodiscard]] Pomdp corner_corridor();
[[nodiscard]] Pomdp corner_listen_or_act();
[[nodiscard]] Pomdp corner_replacement();
[[nodiscard]] Pomdp corner_two_channels();
[[nodiscard]] Pomdp corner_independent();

}  // namespace oas::detail
