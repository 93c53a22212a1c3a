#pragma once

#include <array>
#include <string>
#include <vector>

#include "oas/counts/triple_counts.hpp"
#include "oas/estimation/spectral/spectral.hpp"
#include "oas/model/pomdp.hpp"
#include "support/random_models.hpp"

/// Exact laws of three consecutive rows, for the tests of the spectral estimators.
namespace oas::test {

/// P(x1, a2, o2, a3, o3) in the stationary closed loop of a policy π(a | last row).
struct Triples {
  int num_actions = 0;
  std::array<int, 3> sizes;                 ///< A·O, O, O
  std::vector<std::vector<double>> blocks;  ///< [(a2,a3)][x1][o2][o3]
  std::vector<Vector> middle;               ///< [(a2,a3)]: P(X | block)

  [[nodiscard]] const std::vector<double>& block(int second, int third) const {
    return blocks[static_cast<std::size_t>(second * num_actions + third)];
  }
  [[nodiscard]] const Vector& middle_state(int second, int third) const {
    return middle[static_cast<std::size_t>(second * num_actions + third)];
  }
};

/// `policy` has one row per (action, observation) and one column per action.
[[nodiscard]] Triples population_triples(const Pomdp& model, const Matrix& policy);

/// "uniform", or "memoryless": random, strongly tilted, floor 0.02.
[[nodiscard]] Matrix policy_of(const std::string& name, int num_actions, int num_observations,
                               std::uint64_t seed);

/// Probabilities as counts in units of 2^-bits, in a folder.
[[nodiscard]] TripleFolder as_folder(const Triples& triples, int num_actions, int num_observations,
                                     int bits);

/// The stationary triples of each action held constant, as counts in units of 2^-bits.
[[nodiscard]] TripleCounts constant_triples(const Pomdp& model, ConstantViews views, int bits);

/// Triples of a simulated log.
[[nodiscard]] TripleFolder played(const Pomdp& model, const std::string& policy, std::size_t steps);

/// A random orthogonal matrix.
[[nodiscard]] Matrix random_rotation(int size, std::uint64_t seed);

/// Every state renamed to the next one.
[[nodiscard]] TransitionModel rotated_states(const TransitionModel& transition);

/// Two states, two actions, `after`: sensors that a strong policy tilts beyond recognition.
[[nodiscard]] Pomdp tilted_labels_model();

}  // namespace oas::test
