#include "oas/problems/detail/corner_tables.hpp"

/// Corner models whose difficulty lies in how the state moves. Sensors are middling: right in 7 to
/// 9 of 10 rows.
namespace oas::detail {

Pomdp corner_flip() { return corner_model(1, {0.0, 1.0, 1.0, 0.0}, {0.9, 0.1, 0.2, 0.8}); }

Pomdp corner_flip_noisy() { return corner_model(1, {0.1, 0.9, 0.8, 0.2}, {0.9, 0.1, 0.2, 0.8}); }

Pomdp corner_cycle() { return corner_model(1, ring(3, 1, 1.0), pointing(3, 0.8)); }

Pomdp corner_ring() {
  return corner_model(2, joined({ring(4, 1, 1.0), ring(4, 3, 1.0)}),
                      joined({pointing(4, 0.8), pointing(4, 0.7)}));
}

Pomdp corner_ring_noisy() {
  return corner_model(2, joined({ring(4, 1, 0.9), ring(4, 3, 0.9)}),
                      joined({pointing(4, 0.8), pointing(4, 0.7)}));
}

// From {0, 1} to {2, 3} and back, under both actions.
Pomdp corner_bipartite() {
  const Table one = {0.0, 0.0, 0.7, 0.3, 0.0, 0.0, 0.2, 0.8,  //
                     0.6, 0.4, 0.0, 0.0, 0.1, 0.9, 0.0, 0.0};
  const Table other = {0.0, 0.0, 0.3, 0.7, 0.0, 0.0, 0.5, 0.5,  //
                       0.9, 0.1, 0.0, 0.0, 0.4, 0.6, 0.0, 0.0};
  return corner_model(2, joined({one, other}), joined({pointing(4, 0.8), pointing(4, 0.7)}));
}

namespace {

// One up with probability `up`, one down with probability `down`, as far as there is room.
Table birth_death(int num_states, double up, double down) {
  Table table;
  for (int s = 0; s < num_states; ++s) {
    for (int next = 0; next < num_states; ++next) {
      const double rise = s + 1 < num_states ? up : 0.0;
      const double fall = s > 0 ? down : 0.0;
      double entry = 0.0;
      if (next == s + 1) entry = rise;
      if (next == s - 1) entry = fall;
      if (next == s) entry = 1.0 - rise - fall;
      table.push_back(entry);
    }
  }
  return table;
}

}  // namespace

Pomdp corner_birth_death() {
  return corner_model(2, joined({birth_death(6, 0.4, 0.2), birth_death(6, 0.2, 0.4)}),
                      joined({pointing(6, 0.8), pointing(6, 0.7)}));
}

// Failure lasts until it is repaired.
Pomdp corner_wear_repair() {
  const Table run = {0.90, 0.08, 0.02, 0.00, 0.85, 0.15, 0.00, 0.00, 1.00};
  const Table repair = {1.00, 0.00, 0.00, 0.95, 0.05, 0.00, 0.80, 0.00, 0.20};
  return corner_model(2, joined({run, repair}), joined({pointing(3, 0.75), pointing(3, 0.9)}));
}

// Failure lasts for ever: logs are of many runs, each from new on.
Pomdp corner_wear_out() {
  const Table gently = {0.95, 0.04, 0.01, 0.00, 0.92, 0.08, 0.00, 0.00, 1.00};
  const Table hard = {0.80, 0.15, 0.05, 0.00, 0.70, 0.30, 0.00, 0.00, 1.00};
  return corner_model(2, joined({gently, hard}), joined({pointing(3, 0.8), pointing(3, 0.8)}),
                      {1.0, 0.0, 0.0});
}

Pomdp corner_near_deterministic() {
  const Table on = {0.01, 0.98, 0.01, 0.005, 0.005, 0.99, 0.98, 0.015, 0.005};
  const Table stay = {0.98, 0.01, 0.01, 0.01, 0.98, 0.01, 0.002, 0.008, 0.99};
  return corner_model(2, joined({on, stay}), joined({pointing(3, 0.8), pointing(3, 0.7)}));
}

Pomdp corner_slow() {
  const Table one = {0.995, 0.003, 0.002, 0.002, 0.995, 0.003, 0.003, 0.002, 0.995};
  const Table other = {0.995, 0.001, 0.004, 0.004, 0.995, 0.001, 0.001, 0.004, 0.995};
  return corner_model(2, joined({one, other}), joined({pointing(3, 0.8), pointing(3, 0.7)}));
}

// Nothing ever moves: a run tells about one state only.
Pomdp corner_still() {
  return corner_model(2, joined({ring(3, 0, 1.0), ring(3, 0, 1.0)}),
                      joined({pointing(3, 0.8), pointing(3, 0.7)}));
}

// The third state is there in one row of two hundred or so.
Pomdp corner_rare_state() {
  const Table one = {0.697, 0.300, 0.003, 0.250, 0.747, 0.003, 0.400, 0.200, 0.400};
  const Table other = {0.397, 0.600, 0.003, 0.550, 0.447, 0.003, 0.300, 0.500, 0.200};
  return corner_model(2, joined({one, other}), joined({pointing(3, 0.9), pointing(3, 0.8)}));
}

// The third action earns nothing: a greedy policy takes it only to explore.
Pomdp corner_rare_action() {
  const Table one = {0.6, 0.3, 0.1, 0.2, 0.5, 0.3, 0.1, 0.3, 0.6};
  const Table two = {0.3, 0.5, 0.2, 0.3, 0.3, 0.4, 0.5, 0.2, 0.3};
  const Table rare = {0.2, 0.2, 0.6, 0.7, 0.1, 0.2, 0.3, 0.6, 0.1};
  PomdpParts parts = corner_model(3, joined({one, two, rare}),
                                  joined({pointing(3, 0.8), pointing(3, 0.7), pointing(3, 0.8)}))
                         .parts();
  parts.reward = Reward::by_action_state({1.0, 0.3, 0.4, 0.4, 1.0, 0.6, 0.0, 0.0, 0.0});
  return Pomdp(std::move(parts));
}

// {0, 1} and {2, 3} never meet; the start decides.
Pomdp corner_reducible() {
  const Table one = {0.7, 0.3, 0.0, 0.0, 0.4, 0.6, 0.0, 0.0,  //
                     0.0, 0.0, 0.2, 0.8, 0.0, 0.0, 0.5, 0.5};
  const Table other = {0.2, 0.8, 0.0, 0.0, 0.9, 0.1, 0.0, 0.0,  //
                       0.0, 0.0, 0.6, 0.4, 0.0, 0.0, 0.3, 0.7};
  return corner_model(2, joined({one, other}), joined({pointing(4, 0.8), pointing(4, 0.7)}));
}

Pomdp corner_one_action() {
  return corner_model(1, {0.5, 0.3, 0.2, 0.1, 0.7, 0.2, 0.3, 0.3, 0.4}, pointing(3, 0.8));
}

Pomdp corner_minimal() { return corner_model(1, {0.7, 0.3, 0.4, 0.6}, {0.8, 0.2, 0.3, 0.7}); }

// Forward or not at all; the last state is the end. Logs are of many runs.
Pomdp corner_left_to_right() {
  const Table slow = {0.8, 0.2, 0.0, 0.0, 0.0, 0.8, 0.15, 0.05,  //
                      0.0, 0.0, 0.7, 0.3, 0.0, 0.0, 0.0,  1.0};
  const Table fast = {0.4, 0.4, 0.2, 0.0, 0.0, 0.5, 0.3, 0.2,  //
                      0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 1.0};
  return corner_model(2, joined({slow, fast}), joined({pointing(4, 0.8), pointing(4, 0.7)}),
                      {1.0, 0.0, 0.0, 0.0});
}

// Five cells between two walls; moves fail now and then, against a wall always.
Pomdp corner_corridor() {
  const Table left = birth_death(5, 0.0, 0.9);
  const Table right = birth_death(5, 0.85, 0.0);
  return corner_model(2, joined({left, right}), joined({pointing(5, 0.8), pointing(5, 0.8)}));
}

// The tiger: listening changes nothing, opening a door puts it behind either and tells nothing.
Pomdp corner_listen_or_act() {
  const Table stays = {1.0, 0.0, 0.0, 1.0};
  const Table anew = {0.5, 0.5, 0.5, 0.5};
  PomdpParts parts = corner_model(3, joined({stays, anew, anew}),
                                  joined({pointing(2, 0.85), blind(2, 2), blind(2, 2)}))
                         .parts();
  parts.states = Labels({"tiger-left", "tiger-right"}, "state");
  parts.actions = Labels({"listen", "open-left", "open-right"}, "action");
  parts.observations = Labels({"hear-left", "hear-right"}, "observation");
  parts.reward = Reward::by_action_state({0.6, 0.6, 0.0, 0.9, 0.9, 0.0});
  return Pomdp(std::move(parts));
}

Pomdp corner_replacement() {
  const Table keep = {0.85, 0.10, 0.05, 0.00, 0.80, 0.20, 0.00, 0.00, 1.00};
  return corner_model(2, joined({keep, sent_to(3, 0, 1.0)}),
                      joined({{0.9, 0.1, 0.5, 0.5, 0.1, 0.9}, {0.8, 0.2, 0.4, 0.6, 0.2, 0.8}}));
}

// Two channels, busy or free by themselves; each action looks at one of them.
Pomdp corner_two_channels() {
  const double first[2][2] = {{0.8, 0.2}, {0.1, 0.9}};
  const double second[2][2] = {{0.7, 0.3}, {0.4, 0.6}};
  Table moves;
  for (int s = 0; s < 4; ++s) {
    for (int next = 0; next < 4; ++next) {
      moves.push_back(first[s / 2][next / 2] * second[s % 2][next % 2]);
    }
  }
  const Table look_first = {0.9, 0.1, 0.9, 0.1, 0.2, 0.8, 0.2, 0.8};
  const Table look_second = {0.9, 0.1, 0.2, 0.8, 0.9, 0.1, 0.2, 0.8};
  return corner_model(2, joined({moves, moves}), joined({look_first, look_second}));
}

// The next state does not depend on this one: T_a is of rank 1.
Pomdp corner_independent() {
  const Table one = {0.5, 0.3, 0.2, 0.5, 0.3, 0.2, 0.5, 0.3, 0.2};
  const Table other = {0.1, 0.2, 0.7, 0.1, 0.2, 0.7, 0.1, 0.2, 0.7};
  return corner_model(2, joined({one, other}), joined({pointing(3, 0.8), pointing(3, 0.7)}));
}

}  // namespace oas::detail
