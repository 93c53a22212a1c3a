#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "oas/core/json_text.hpp"

namespace oas::detail {

/// The weights of particles, kept as logarithms so that a particle that fell far behind may come
/// back; only one whose data were impossible is lost. Between two foldings the factors run as
/// products, so that a step costs no logarithm. O(P) a step, no allocation.
class ParticleWeights {
 public:
  /// All equal; `stride` >= size numbers are padded with weight 0.
  ParticleWeights(std::size_t size, std::size_t stride);

  void set_equal();
  /// Throws InvalidArgument unless the weights are finite, not negative and not all 0.
  void set(std::span<const double> weights);

  /// Multiplies weight i by factors[i] in [0, 1] and returns the weighted mean of the factors. When
  /// that is 0 the weights stay as they are.
  double multiply(std::span<const double> factors);

  /// Not normalised.
  [[nodiscard]] std::span<const double> values() const { return std::span(values_).first(size_); }
  [[nodiscard]] double sum() const { return sum_; }
  /// 1 / Σ w², w normalised: between 1 and the number of particles.
  [[nodiscard]] double effective_size() const { return sum_ * sum_ / sum_of_squares_; }

  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  void fold();
  void refresh();

  std::size_t size_;
  std::vector<double> logs_;      // at the last folding, the largest is 0
  std::vector<double> bases_;     // exp(logs)
  std::vector<double> products_;  // of factors since
  std::vector<double> trial_;
  std::vector<double> values_;  // bases · products
  double sum_ = 0.0;
  double sum_of_squares_ = 0.0;
};

}  // namespace oas::detail
