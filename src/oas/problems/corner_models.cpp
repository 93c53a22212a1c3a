#include "oas/problems/corner_models.hpp"

#include <array>
#include <utility>

#include "oas/problems/detail/corner_tables.hpp"
#include "oas/problems/random_pomdp.hpp"

namespace oas {

namespace detail {

Table joined(std::initializer_list<Table> tables) {
  Table all;
  for (const Table& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

Table ring(int num_states, int step, double move) {
  const auto n = static_cast<std::size_t>(num_states);
  Table table(n * n, 0.0);
  for (std::size_t s = 0; s < n; ++s) {
    table[s * n + s] += 1.0 - move;
    table[s * n + (s + static_cast<std::size_t>(step)) % n] += move;
  }
  return table;
}

Table sent_to(int num_states, int to, double share) {
  Table table;
  for (int s = 0; s < num_states; ++s) {
    for (int next = 0; next < num_states; ++next) {
      table.push_back(next == to ? share : (1.0 - share) / (num_states - 1));
    }
  }
  return table;
}

Table pointing(int num_states, double right) {
  Table table;
  for (int s = 0; s < num_states; ++s) {
    for (int o = 0; o < num_states; ++o) {
      table.push_back(o == s ? right : (1.0 - right) / (num_states - 1));
    }
  }
  return table;
}

Table pointing_of_alpha(int num_states, double alpha) {
  return pointing(num_states, (1.0 + (num_states - 1) * alpha) / num_states);
}

Table perfect(int num_states) { return pointing(num_states, 1.0); }

Table blind(int num_states, int num_observations) {
  return Table(static_cast<std::size_t>(num_states * num_observations), 1.0 / num_observations);
}

Pomdp corner_model(int num_actions, const Table& transitions, const Table& sensors,
                   const Table& start) {
  int n = 1;
  while (static_cast<std::size_t>(num_actions * n * n) < transitions.size()) ++n;
  const int num_observations = static_cast<int>(sensors.size()) / (num_actions * n);
  Table reward;
  for (int a = 0; a < num_actions; ++a) {
    for (int s = 0; s < n; ++s) reward.push_back(s % num_actions == a ? 1.0 : 0.0);
  }
  PomdpParts parts;
  parts.states = Labels(n, "state");
  parts.actions = Labels(num_actions, "action");
  parts.observations = Labels(num_observations, "observation");
  parts.start = start;
  parts.transition = TransitionModel(n, num_actions, transitions);
  parts.sensors = ObservationModel(n, num_actions, num_observations, sensors);
  parts.reward = Reward::by_action_state(std::move(reward));
  return Pomdp(std::move(parts));
}

}  // namespace detail

namespace {

using detail::joined;
using detail::Table;

constexpr std::uint64_t kSeed = 20'250'711;  // of the random ones

Pomdp random_corner(int num_states, int num_actions, int num_observations, std::uint32_t stream,
                    Timing timing = Timing::before) {
  RandomPomdpOptions options;
  options.num_states = num_states;
  options.num_actions = num_actions;
  options.num_observations = num_observations;
  options.peak = 1.0 + 0.5 * num_observations;  // a peak of about half of all
  options.min_alpha = 0.3;
  options.timing = timing;
  Rng rng({kSeed, stream, Role::problem});
  return random_pomdp(options, rng).model;
}

Pomdp dense_2() { return random_corner(2, 2, 2, 0); }
Pomdp dense_3() { return random_corner(3, 2, 4, 1); }
Pomdp dense_3_after() { return random_corner(3, 2, 4, 1, Timing::after); }
Pomdp dense_5() { return random_corner(5, 2, 6, 2); }
Pomdp dense_5_after() { return random_corner(5, 2, 6, 2, Timing::after); }
Pomdp many_observations() { return random_corner(3, 2, 30, 3); }

// Dynamics for the models whose difficulty lies in the sensors.
Table one_way() { return {0.6, 0.3, 0.1, 0.2, 0.5, 0.3, 0.3, 0.1, 0.6}; }
Table other_way() { return {0.2, 0.5, 0.3, 0.4, 0.2, 0.4, 0.1, 0.6, 0.3}; }
Table four_states() {
  return {0.5, 0.3, 0.1, 0.1, 0.1, 0.6, 0.2, 0.1, 0.2, 0.1, 0.4, 0.3, 0.3, 0.1, 0.1, 0.5};
}

Pomdp with_sensors(const Table& one, const Table& other) {
  return detail::corner_model(2, joined({one_way(), other_way()}), joined({one, other}));
}

Pomdp perfect_dense() { return with_sensors(detail::perfect(3), detail::perfect(3)); }
Pomdp perfect_sparse() {
  const Table sparse = {0.7, 0.3, 0.0, 0.0, 0.6, 0.4, 0.5, 0.0, 0.5};
  return detail::corner_model(2, joined({sparse, detail::sent_to(3, 0, 1.0)}),
                              joined({detail::perfect(3), detail::perfect(3)}));
}
Pomdp perfect_cycle() {
  return detail::corner_model(1, detail::ring(3, 1, 1.0), detail::perfect(3));
}
Pomdp almost_perfect() {
  return with_sensors(detail::pointing(3, 0.998), detail::pointing(3, 0.995));
}
Pomdp weak_action() {
  return with_sensors(detail::pointing(3, 0.8), detail::pointing_of_alpha(3, 0.05));
}
Pomdp weak() {
  return with_sensors(detail::pointing_of_alpha(3, 0.2), detail::pointing_of_alpha(3, 0.2));
}
Pomdp blind_action() { return with_sensors(detail::pointing(3, 0.8), detail::blind(3, 3)); }
Pomdp blind() { return with_sensors(detail::blind(3, 2), detail::blind(3, 2)); }

// States 1 and 2 look alike and move alike: how they share their probability is never seen.
Pomdp twins() {
  const Table alike = {0.8, 0.2, 0.2, 0.8, 0.2, 0.8};
  const Table one = {0.5, 0.3, 0.2, 0.4, 0.3, 0.3, 0.4, 0.3, 0.3};
  const Table other = {0.2, 0.5, 0.3, 0.7, 0.1, 0.2, 0.7, 0.1, 0.2};
  return detail::corner_model(2, joined({one, other}), joined({alike, alike}));
}

// Three observations for four states: no moments, but likelihood learns from longer stretches.
Pomdp few_observations() {
  const Table first = {0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.8, 0.4, 0.5, 0.1};
  const Table second = {0.1, 0.8, 0.1, 0.7, 0.1, 0.2, 0.2, 0.6, 0.2, 0.1, 0.1, 0.8};
  const Table back = {0.2, 0.2, 0.2, 0.4, 0.5, 0.1, 0.2, 0.2,
                      0.1, 0.6, 0.2, 0.1, 0.1, 0.2, 0.6, 0.1};
  return detail::corner_model(2, joined({four_states(), back}), joined({first, second}));
}

constexpr ProblemInfo kCorners[] = {
    {"corner/flip", "two states that take turns; sensors 0.9 and 0.8", detail::corner_flip},
    {"corner/flip-noisy", "two states that mostly take turns", detail::corner_flip_noisy},
    {"corner/cycle-3", "three states in a fixed order", detail::corner_cycle},
    {"corner/ring-4", "around a ring of four, either way, never failing", detail::corner_ring},
    {"corner/ring-4-noisy", "the same; a move fails once in ten", detail::corner_ring_noisy},
    {"corner/bipartite", "period 2: between two pairs of states", detail::corner_bipartite},
    {"corner/birth-death-6", "six states, one up or down at a time", detail::corner_birth_death},
    {"corner/wear-repair", "failure lasts until repaired", detail::corner_wear_repair},
    {"corner/wear-out", "failure lasts forever; for many short runs", detail::corner_wear_out},
    {"corner/near-deterministic", "rows of 0.98 and little else",
     detail::corner_near_deterministic},
    {"corner/slow", "a state lasts 200 steps", detail::corner_slow},
    {"corner/still", "no state ever changes", detail::corner_still},
    {"corner/rare-state", "a state that is there once in 200 steps", detail::corner_rare_state},
    {"corner/rare-action", "an action that greedy policies avoid", detail::corner_rare_action},
    {"corner/reducible", "two pairs of states that never meet", detail::corner_reducible},
    {"corner/one-action", "three states, one action", detail::corner_one_action},
    {"corner/minimal", "two states, one action, two observations", detail::corner_minimal},
    {"corner/left-to-right", "forward only, to an end; for many short runs",
     detail::corner_left_to_right},
    {"corner/corridor", "five cells between walls", detail::corner_corridor},
    {"corner/listen-or-act", "the tiger problem: opening a door reveals nothing",
     detail::corner_listen_or_act},
    {"corner/replacement", "keep or replace; two observations for three states",
     detail::corner_replacement},
    {"corner/two-channels", "two channels, one looked at a time", detail::corner_two_channels},
    {"corner/independent", "the next state does not depend on this one",
     detail::corner_independent},
    {"corner/dense-2", "random, 2x2x2", dense_2},
    {"corner/dense-3", "random, 3x2x4", dense_3},
    {"corner/dense-3-after", "random, 3x2x4, timing after", dense_3_after},
    {"corner/dense-5", "random, 5x2x6", dense_5},
    {"corner/dense-5-after", "random, 5x2x6, timing after", dense_5_after},
    {"corner/many-observations", "random, 3x2x30", many_observations},
    {"corner/few-observations", "four states, three observations", few_observations},
    {"corner/perfect-dense", "states are seen, all transitions possible", perfect_dense},
    {"corner/perfect-sparse", "states are seen, some transitions impossible", perfect_sparse},
    {"corner/perfect-cycle", "states are seen and follow a fixed order", perfect_cycle},
    {"corner/almost-perfect", "states are seen but for some rows in a thousand", almost_perfect},
    {"corner/weak-action", "one good sensor, one of alpha 0.05", weak_action},
    {"corner/weak", "alpha 0.2 under both actions", weak},
    {"corner/blind-action", "one good sensor, one blind", blind_action},
    {"corner/blind", "all sensors are blind", blind},
    {"corner/twins", "two states that cannot be told apart", twins},
};

}  // namespace

std::span<const ProblemInfo> corner_models() { return kCorners; }

}  // namespace oas
