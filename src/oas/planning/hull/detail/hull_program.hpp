#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "oas/planning/hull/detail/point_set.hpp"

namespace oas::detail {

/// The cheapest way to write a belief as a mixture of points: the linear program
///   min Σ_i λ_i v_i   over   Σ_i λ_i b_i = b,  λ >= 0
/// by the revised simplex method from the corners, whose mixture is always there. Whatever it
/// returns is such a mixture, up to kDropped of its mass, whether it is the cheapest or not:
/// weights of the last basis are shrunk until they fit under b, and what is left goes to the
/// corners.
class HullProgram {
 public:
  /// Mass that a mixture may leave out, at most; its weights are then stretched to sum to 1.
  static constexpr double kDropped = 1e-10;

  explicit HullProgram(const PointSet& points);

  /// `values` holds v of all points. Cost per pivot (K² + entries of the points within b), K the
  /// states of b.
  [[nodiscard]] Mixture solve(const SparseBelief& belief, std::span<const double> values);

  /// Products of all calls, about.
  [[nodiscard]] double work() const { return work_; }

 private:
  void start(const SparseBelief& belief, std::span<const double> values);
  [[nodiscard]] int entering(std::span<const double> values) const;
  // Whether the point could enter.
  bool pivot(int point, std::span<const double> values);
  [[nodiscard]] Mixture mixture(const SparseBelief& belief) const;

  const PointSet& points_;
  std::vector<int> candidates_;
  std::vector<int> place_;  // of a state among those of the belief
  std::vector<int> basis_;
  Eigen::MatrixXd inverse_;  // of the basis
  Eigen::VectorXd weights_;
  Eigen::VectorXd prices_;     // of the states of the belief
  std::vector<double> price_;  // the same by state
  Eigen::VectorXd direction_;
  double tolerance_ = 0.0;
  double entries_ = 0.0;  // of the candidates
  double work_ = 0.0;
};

}  // namespace oas::detail
