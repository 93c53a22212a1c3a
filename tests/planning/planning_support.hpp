#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/core/rng.hpp"
#include "oas/model/pomdp.hpp"

/// Models with known answers, and dense references for them.
namespace oas::test {

/// A model from plain tables, unnamed.
inline Pomdp make_model(Timing timing, int states, int actions, int observations,
                        std::vector<double> transition, std::vector<double> sensors, Reward reward,
                        std::vector<double> start = {}) {
  PomdpParts parts;
  parts.timing = timing;
  parts.states = Labels(states, "state");
  parts.actions = Labels(actions, "action");
  parts.observations = Labels(observations, "observation");
  parts.start = std::move(start);
  parts.transition = TransitionModel(states, actions, std::move(transition));
  parts.sensors = ObservationModel(states, actions, observations, std::move(sensors));
  parts.reward = std::move(reward);
  return Pomdp(std::move(parts));
}

/// Optimal gain with floor of a finite MDP given as rewards[x][a] and next[x][a] = distribution,
/// by dense damped value iteration to 1e-10.
inline double dense_mdp_gain(const Matrix& rewards, const std::vector<Matrix>& next,
                             double floor = 0.0) {
  const auto actions = static_cast<int>(next.size());
  Vector v = Vector::Zero(rewards.rows());
  for (int sweep = 0; sweep < 1'000'000; ++sweep) {
    Matrix q(rewards.rows(), actions);
    for (int a = 0; a < actions; ++a) q.col(a) = rewards.col(a) + next[a] * v;
    const Vector tv = (1.0 - actions * floor) * q.rowwise().maxCoeff() + floor * q.rowwise().sum();
    const Vector increment = tv - v;
    if (increment.maxCoeff() - increment.minCoeff() < 1e-10) return increment.mean();
    v += 0.5 * increment;
    v.array() -= v(0);
  }
  return std::nan("");
}

/// Rows that are multiples of 1/parts.
inline std::vector<double> lattice_rows(int rows, int width, int parts, Rng& rng) {
  std::vector<double> values(static_cast<std::size_t>(rows) * width, 0.0);
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < parts; ++k) {
      values[static_cast<std::size_t>(r) * width + rng.below(static_cast<std::uint32_t>(width))] +=
          1.0 / parts;
    }
  }
  return values;
}

/// States that are seen as they are.
inline std::vector<double> identity_sensors(int states, int actions) {
  std::vector<double> values(static_cast<std::size_t>(actions) * states * states, 0.0);
  for (int a = 0; a < actions; ++a) {
    for (int s = 0; s < states; ++s)
      values[static_cast<std::size_t>((a * states + s) * states + s)] = 1.0;
  }
  return values;
}

/// A machine that breaks with probability `wear` a step, unseen (one observation): action 0 runs it
/// (reward 1 while it is whole), action 1 replaces it (reward -cost, whole afterwards).
inline Pomdp replacement_problem(double wear, double cost) {
  return make_model(Timing::before, 2, 2, 1, {1.0 - wear, wear, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0},
                    {1.0, 1.0, 1.0, 1.0}, Reward::by_action_state({1.0, 0.0, -cost, -cost}),
                    {1.0, 0.0});
}

/// Its best gain: replace after n steps, best n.
inline double replacement_gain(double wear, double cost) {
  double best = -1e9;
  double earned = 0.0;
  for (int n = 1; n < 10'000; ++n) {
    earned += std::pow(1.0 - wear, n - 1);
    best = std::max(best, (earned - cost) / (n + 1));
  }
  return best;
}

}  // namespace oas::test
