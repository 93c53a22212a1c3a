#pragma once

#include <cstdint>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"

/// Models for tests, each a function of its options and a seed.
namespace oas::test {

struct RandomModelOptions {
  int num_states = 3;
  int num_actions = 2;
  int num_observations = 4;
  Timing timing = Timing::before;
  /// Rows are Dirichlet(concentration): small makes T strongly asymmetric, so that a transposed T
  /// cannot pass; large makes it nearly uniform.
  double concentration = 0.5;
  /// About this part of the entries of T, Z and the start is exactly 0; no row becomes empty.
  double zero_fraction = 0.0;
  /// Smallest σ_S(Z_a) over actions; sensors are drawn again until they have it. Needs O >= S.
  double min_alpha = 0.0;
  Reward::Kind reward = Reward::Kind::by_observation;
  bool named = false;
};

[[nodiscard]] Pomdp random_model(const RandomModelOptions& options, std::uint64_t seed);

/// `rows` distributions of `width` entries one after the other.
[[nodiscard]] std::vector<double> random_rows(int rows, int width, double concentration,
                                              double zero_fraction, Rng& rng);

/// The same model with every T_a replaced by its transpose, made row-stochastic again: the classic
/// bug of this field.
[[nodiscard]] Pomdp transposed(const Pomdp& model);

/// Rows of uniformly random actions and observations, about `missing` of them missing. They need
/// not be likely, nor possible, under any model.
[[nodiscard]] Trajectory random_rows_of_log(int num_actions, int num_observations, std::size_t rows,
                                            double missing, std::uint64_t seed);

/// A run played by hand, without the simulation module: uniform actions, states and observations by
/// inversion from the model. All columns but rewards; about `missing` observations are missing.
[[nodiscard]] Trajectory play_uniformly(const Pomdp& model, std::size_t steps, double missing,
                                        std::uint64_t seed);

}  // namespace oas::test
