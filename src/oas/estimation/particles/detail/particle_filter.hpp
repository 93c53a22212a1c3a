#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// Many transition models side by side, each with a belief of its own. Structure of arrays: number
/// i of every table belongs to particle i, so that one row of a log is taken in by loops over
/// particles. Tables are padded to `stride` particles; the padding holds uniform rows.
struct Population {
  std::vector<double> transition;  ///< [a][s][s'][stride]
  std::vector<double> belief;      ///< [s][stride]
};

/// The belief filter of belief/filter_kernel.hpp for a whole population at once, both timings.
/// O(P S²) a row for P particles; no allocation.
class ParticleFilter {
 public:
  ParticleFilter(const Pomdp& sensors, int num_particles);

  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] int num_observations() const { return num_observations_; }
  [[nodiscard]] int num_particles() const { return num_particles_; }
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] Timing timing() const { return timing_; }
  /// Z_a(o|·), S numbers.
  [[nodiscard]] const double* likelihood(Action action, Observation observation) const;

  /// Uniform dynamics and beliefs for everybody.
  [[nodiscard]] Population make_population() const;
  /// Number i of this table is T_a(s,s') of particle i.
  [[nodiscard]] std::size_t entry(int action, int state, int next) const {
    return ((static_cast<std::size_t>(action) * states() + static_cast<std::size_t>(state)) *
                states() +
            static_cast<std::size_t>(next)) *
           stride_;
  }
  /// The same belief for everybody.
  void set_beliefs(std::span<const double> belief, Population& population) const;

  /// Takes in one row: beliefs move on, probabilities[i] = P(observation | belief i, action), 1 for
  /// kMissing. Under a particle that says 0 the observation is skipped, b' = T_aᵀ b.
  void update(Population& population, Action action, Observation observation,
              std::span<double> probabilities);

 private:
  [[nodiscard]] std::size_t states() const { return static_cast<std::size_t>(num_states_); }
  void predict(const Population& population, Action action, std::size_t particle);

  int num_states_;
  int num_actions_;
  int num_observations_;
  int num_particles_;
  std::size_t stride_;
  Timing timing_;
  std::vector<double> likelihood_;  // [a][o][s]
  std::vector<double> next_;        // beliefs to come
  std::vector<double> work_;  // [s][stride], for numbers of states without a loop of their own
};

/// Adds up logarithms of probabilities for a whole population with few calls of log: products run
/// until one gets small.
class LogProducts {
 public:
  /// The logarithm of zero: finite, so that it can be added, compared and stored.
  static constexpr double kLogZero = -1e300;

  explicit LogProducts(std::size_t size) : sums_(size, 0.0), products_(size, 1.0) {}

  void reset();
  void multiply(std::span<const double> factors);
  /// Brings the sums up to date.
  void fold();

  /// Up to date after fold().
  [[nodiscard]] std::vector<double>& sums() { return sums_; }
  [[nodiscard]] const std::vector<double>& sums() const { return sums_; }

 private:
  std::vector<double> sums_;
  std::vector<double> products_;
};

}  // namespace oas::detail
