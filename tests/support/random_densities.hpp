#pragma once

#include "oas/core/rng.hpp"
#include "oas/core/sampling.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "support/random_models.hpp"

/// Densities and models with real-valued observations for tests, each a function of a stream.
namespace oas::test {

/// A density of the given kind with parameters of ordinary size.
inline Density random_density(Density::Kind kind, Rng& rng) {
  const auto between = [&](double low, double high) { return low + (high - low) * rng.uniform(); };
  switch (kind) {
    case Density::Kind::gaussian:
      return Density::gaussian(between(-3.0, 3.0), between(0.2, 2.0));
    case Density::Kind::lognormal:
      return Density::lognormal(between(-1.0, 1.0), between(0.2, 1.0));
    case Density::Kind::beta:
      return Density::beta(between(0.4, 5.0), between(0.4, 5.0));
    case Density::Kind::gamma:
      return Density::gamma(between(0.4, 5.0), between(0.2, 2.0));
    case Density::Kind::poisson:
      return Density::poisson(between(0.2, 20.0));
    case Density::Kind::table: {
      std::vector<double> edges = {between(-3.0, 0.0)};
      for (int i = 0; i < 4; ++i) edges.push_back(edges.back() + between(0.1, 2.0));
      return Density::table(std::move(edges), random_rows(1, 4, 1.0, 0.2, rng));
    }
    case Density::Kind::kernel: {
      std::vector<double> points;
      for (int i = 0; i < 6; ++i) points.push_back(between(-3.0, 3.0));
      return Density::kernel(std::move(points), between(0.1, 1.0),
                             random_rows(1, 6, 1.0, 0.2, rng));
    }
    case Density::Kind::mixture:
      break;
  }
  return Density::mixture(
      random_rows(1, 3, 1.0, 0.0, rng),
      {random_density(Density::Kind::gaussian, rng), random_density(Density::Kind::gamma, rng),
       random_density(Density::Kind::table, rng)});
}

/// A multivariate Gaussian whose components depend on each other.
inline VectorDensity random_gaussian(int dimension, Rng& rng) {
  const auto d = static_cast<std::size_t>(dimension);
  std::vector<double> root(d * d);
  std::vector<double> mean(d);
  for (double& value : root) value = sample_normal(rng);
  for (double& value : mean) value = 2.0 * sample_normal(rng);
  std::vector<double> covariance(d * d, 0.0);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t k = 0; k < d; ++k)
        covariance[i * d + j] += root[i * d + k] * root[j * d + k];
      if (i == j) covariance[i * d + j] += 0.3;
    }
  }
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < i; ++j) covariance[i * d + j] = covariance[j * d + i];
  }
  return VectorDensity::gaussian(std::move(mean), std::move(covariance));
}

/// The chain of a random finite model with these densities for sensors. Which action is best
/// depends on the state, so that greedy policies react to what they see.
inline ContinuousPomdp with_densities(const RandomModelOptions& options, std::uint64_t seed,
                                      std::vector<VectorDensity> densities) {
  PomdpParts parts = random_model(options, seed).parts();
  std::vector<double> rewards;
  for (int a = 0; a < options.num_actions; ++a) {
    for (int s = 0; s < options.num_states; ++s) rewards.push_back((a + s) % 2);
  }
  parts.reward = Reward::by_action_state(std::move(rewards));
  return ContinuousPomdp(
      Pomdp(std::move(parts)),
      DensitySensors(options.num_states, options.num_actions, std::move(densities)));
}

/// Three states that are told apart by Gaussians about `spread` standard deviations apart, in
/// another order under each of two actions.
inline ContinuousPomdp gaussian_model(Timing timing, double spread = 2.0, std::uint64_t seed = 7) {
  RandomModelOptions options;
  options.timing = timing;
  options.concentration = 1.0;
  const auto gaussian = [&](double place) {
    return VectorDensity({Density::gaussian(spread * place, 1.0)});
  };
  return with_densities(
      options, seed,
      {gaussian(0), gaussian(1), gaussian(2), gaussian(1.1), gaussian(2.2), gaussian(0)});
}

}  // namespace oas::test
