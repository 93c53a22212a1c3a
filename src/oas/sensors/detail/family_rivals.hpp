#pragma once

#include <span>
#include <utility>
#include <vector>

#include "oas/sensors/density_family.hpp"

namespace oas::detail {

/// Mean and standard error of a - b.
[[nodiscard]] std::pair<double, double> mean_difference(std::span<const double> a,
                                                        std::span<const double> b);

/// Random weights of so many readings, with mean 1: the Bayesian bootstrap (Rubin 1981).
[[nodiscard]] std::vector<double> bootstrap_weights(std::size_t readings, Rng& rng);

/// What several families made of the same held-out readings, and which of them is taken.
class FamilyRivals {
 public:
  /// `scores` are log-densities, one for each reading. O(families · readings).
  void add(DensityFamily family, std::vector<double> scores);

  [[nodiscard]] bool empty() const { return rivals_.empty(); }
  [[nodiscard]] bool has_simple() const { return highest({}, true) != nullptr; }
  /// The best simple family; a flexible one in place of it where that is better by more than a
  /// standard error of the difference. There must be a simple one.
  [[nodiscard]] DensityFamily choice() const { return chosen({}); }
  /// The same with random weights of the readings: what might as well have been taken. Families
  /// that are behind the best by more than four standard errors have no part in it.
  [[nodiscard]] DensityFamily draw(Rng& rng) const;
  /// Those that have a part in it, the choice among them.
  [[nodiscard]] std::vector<DensityFamily> in_doubt() const;
  /// The highest score, of whatever family.
  [[nodiscard]] DensityFamily best() const { return highest({}, false)->family; }
  [[nodiscard]] const std::vector<double>& scores(DensityFamily family) const;

 private:
  struct Rival {
    DensityFamily family;
    std::vector<double> scores;
    bool far_behind = false;
  };
  // Null: there is none.
  [[nodiscard]] const Rival* highest(std::span<const double> weights, bool simple) const;
  [[nodiscard]] DensityFamily chosen(std::span<const double> weights) const;

  std::vector<Rival> rivals_;
};

}  // namespace oas::detail
