#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/estimation/particles/detail/particle_filter.hpp"

namespace oas::detail {

/// Weighted first and second moments of every entry of a population's transition models.
class RowMoments {
 public:
  explicit RowMoments(const ParticleFilter& shape);

  /// Adds particle i with weight weights[i]; `weights` has one number a particle.
  void add(const Population& population, std::span<const double> weights);

  [[nodiscard]] std::size_t size() const { return first_.size(); }
  [[nodiscard]] double mean(std::size_t entry) const { return first_[entry] / weight_; }
  [[nodiscard]] double variance(std::size_t entry) const;

 private:
  std::size_t stride_;
  double weight_ = 0.0;
  std::vector<double> first_;  // [a][s][s']
  std::vector<double> second_;
};

/// Independent Dirichlet rows: a distribution over transition models.
class DirichletRows {
 public:
  /// All concentrations equal.
  DirichletRows(const ParticleFilter& shape, double concentration);

  /// The rows with these means whose total concentrations κ fit the variances, summed over the row:
  ///   Σ_j variance_j = Σ_j mean_j (1 - mean_j) / (κ + 1),   κ divided by `widening` >= 1.
  /// κ is at most that of the row in `past` plus `rows`, which it would be if each of so many rows
  /// of a log had shown a transition of this row of T: particles that happen to agree know no more.
  static DirichletRows matched(const RowMoments& moments, double widening,
                               const DirichletRows& past, double rows);

  [[nodiscard]] std::span<const double> concentration() const { return concentration_; }
  [[nodiscard]] std::vector<double>& concentration() { return concentration_; }

  /// Draws T_a of one particle.
  void sample(Population& population, int action, std::size_t particle, Rng& rng) const;

  /// The logarithm of the density at T_a of one particle, up to a constant.
  [[nodiscard]] double log_density(const Population& population, int action,
                                   std::size_t particle) const;

 private:
  std::size_t states_;
  std::size_t stride_;
  std::vector<double> concentration_;  // [a][s][s']
};

/// Draws a Dirichlet row and writes it to entries[0], entries[stride], …; `values` of S numbers is
/// work space. Entries are at least 1e-100, so that logarithms exist.
void sample_row(std::span<const double> concentration, std::span<double> values, double* entries,
                std::size_t stride, Rng& rng);

}  // namespace oas::detail
