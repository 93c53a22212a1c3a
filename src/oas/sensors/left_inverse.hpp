#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// For every action a left inverse L_a (S×O) of the sensor matrix Z_a, Moore-Penrose's unless
/// weights are given, column by column: column(a, o) is what one observation says about the state,
/// E[column | s] = e_s. Where rows are reading-first there is one more, of the sensor of first
/// readings, behind those of the actions; it is 0 where that sensor is blind.
class LeftInverses {
 public:
  /// Throws InvalidArgument naming the action and its smallest singular values when some Z_a has
  /// linearly dependent columns: then no left inverse exists. O(A O S²).
  explicit LeftInverses(const Pomdp& model);

  /// Weighted left inverses L_a = (Z_aᵀ W_a Z_a)⁻¹ Z_aᵀ W_a, W_a = diag(weights[a][·]), all
  /// positive, and the same of the sensor of first readings where rows are reading-first. With one
  /// over the probability of each observation they have the least variance among
  /// all left inverses (Gauss-Markov). A sensor with dependent columns, which has none, gets 0 and
  /// sees() says so.
  LeftInverses(const Pomdp& model, std::span<const double> weights);

  /// Whether the columns of Z_a are independent; always true without weights.
  [[nodiscard]] bool sees(Action action) const { return alpha(action) > 0.0; }

  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] int num_actions() const { return static_cast<int>(alpha_.size()); }
  [[nodiscard]] int num_observations() const { return num_observations_; }
  /// Sensors that there are columns of: those of the actions, and that of first readings.
  [[nodiscard]] int num_sensors() const { return num_actions() + (has_first_ ? 1 : 0); }
  /// Whether a first reading tells the states apart.
  [[nodiscard]] bool sees_first() const { return sees_first_; }
  /// What stands for an action where first readings are meant.
  [[nodiscard]] Action first_sensor() const { return Action{num_actions()}; }

  /// L_a(:, o), S contiguous doubles.
  [[nodiscard]] const double* column(int action, int observation) const {
    return columns_.data() + (static_cast<std::size_t>(action) * num_observations_ +
                              static_cast<std::size_t>(observation)) *
                                 num_states_;
  }
  /// L_aᵀ as an O×S matrix.
  [[nodiscard]] MatrixView transposed(int action) const {
    return {column(action, 0), num_observations_, num_states_};
  }
  /// σ_S(Z_a): how revealing the sensor is under this action; 0 when its columns are dependent.
  [[nodiscard]] double alpha(Action action) const {
    return alpha_[static_cast<std::size_t>(action)];
  }
  /// α, the least of them.
  [[nodiscard]] double smallest_alpha() const {
    return *std::min_element(alpha_.begin(), alpha_.end());
  }

 private:
  bool add_weighted(const Matrix& sensor, const double* weights);

  int num_states_;
  int num_observations_;
  bool has_first_ = false;
  bool sees_first_ = false;
  std::vector<double> alpha_;
  std::vector<double> columns_;  // [a][o][s], then those of first readings
};

}  // namespace oas
