#pragma once

#include <Eigen/Core>
#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/planning/points/detail/sparse_model.hpp"

namespace oas::detail {

/// One step of a model in both directions, by what is not 0: from a belief to those that may
/// follow, and from what follows is worth to what the step is worth. Here the timings differ.
class Branches {
 public:
  explicit Branches(const Pomdp& model);

  /// P(o) b'_o = K_a^oᵀ b of one action: S×O, one observation a column. O(O S + entries).
  void follow(const double* belief, int action, Eigen::MatrixXd& next) const;

  /// Σ_o K_a^o α_o, α_o the columns of `future`: S×O. What a conditional plan expects after its
  /// first step, in each state. O(entries).
  [[nodiscard]] Eigen::VectorXd expect(int action, const Eigen::MatrixXd& future) const;

  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] int num_actions() const { return static_cast<int>(model_.transition.size()); }
  [[nodiscard]] int num_observations() const { return model_.num_observations; }
  /// Products of one call of either, about.
  [[nodiscard]] double cost() const { return cost_; }

 private:
  int num_states_;
  Timing timing_;
  SparseModel model_;
  double cost_;
};

}  // namespace oas::detail
