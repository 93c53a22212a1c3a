#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/index.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/model/density_sensors.hpp"
#include "oas/model/observation_model.hpp"

/// Soft features of an observation o under action a: φ_i(o) = p(o | s_i, a) / Σ_j p(o | s_j, a),
/// one per state. Their mean matrix M_a(i,s) = E[φ_i | s, a] = ∫ p_i p_s / Σ_j p_j is symmetric and
/// doubly stochastic: an ordinary sensor with S observations, of which φ is the conditional
/// expectation. So everything made for finite sensors can be asked of it: σ_S(M_a), its left
/// inverse, whether a sensor is blind.
namespace oas {

/// M_a of every action as sensors with S observations. In one dimension by Gauss-Legendre rules
/// between the quantiles of all densities (counts: by summation), error about 1e-10; for vectors by
/// 2^14 evenly spread points per state, error about 1e-4 / number of points seen apart.
[[nodiscard]] ObservationModel soft_sensors(const DensitySensors& sensors);

/// The mean matrices from rows alone, where nothing but φ is known (a log that brings
/// likelihoods): under an action the rows are a mixture Σ_s d(s) p(· | s, a), whose weights d are
/// estimated by maximum likelihood; then M_a(i,s) = mean over rows of φ_i φ_s / Σ_j d(j) φ_j. Valid
/// under any policy.
class SoftSample {
 public:
  /// Rows are kept up to `max_bytes`; later ones are only counted.
  SoftSample(int num_states, int num_actions, std::size_t max_bytes);

  /// One row: its features, S numbers that sum to 1.
  void add(Action action, std::span<const double> features);
  /// The rows of another one of the same limit follow.
  void append(const SoftSample& other);
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t kept() const;

  /// M_a of every action; the identity where an action has no rows. O(kept S²) per iteration, about
  /// ten of them.
  [[nodiscard]] ObservationModel sensors() const;

 private:
  int num_states_;
  std::size_t max_bytes_;
  std::size_t rows_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::vector<double>> features_;  // [a]: rows one after the other
  std::vector<Action> actions_;                // of the rows that are kept, in their order
};

/// The weights d of largest mean log Σ_s d(s) φ_s over the rows of `features`, each of d.size()
/// numbers. Newton steps inside the simplex; stops when no weight can gain 1e-9. At least one row.
[[nodiscard]] Vector mixture_weights(const std::vector<double>& features, int num_states);

}  // namespace oas
