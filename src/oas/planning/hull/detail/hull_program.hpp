#pragma once

#include <Eigen/Core>
#include <span>
#include <utility>
#include <vector>

#include "oas/planning/hull/detail/point_set.hpp"

namespace oas::detail {

/// The cheapest way to write a belief as a mixture of points: the linear program
///   min Σ_i λ_i v_i   over   Σ_i λ_i b_i = b,  λ >= 0
/// by the revised simplex method from the corners, whose mixture is always there. All points are
/// priced now and then; between, only those that looked cheapest (sifting). Whatever it returns is
/// such a mixture, up to kDropped of its mass, whether it is the cheapest or not: weights of the
/// last basis are shrunk until they fit under b, and what is left goes to the corners.
class HullProgram {
 public:
  /// Mass that a mixture may leave out, at most; its weights are then stretched to sum to 1.
  static constexpr double kDropped = 1e-10;

  explicit HullProgram(const PointSet& points);

  /// `values` holds v of all points. Cost per pivot K², K the states of b, and every few pivots the
  /// entries of the points within b.
  [[nodiscard]] Mixture solve(const SparseBelief& belief, std::span<const double> values);

  /// Products of all calls, about.
  [[nodiscard]] double work() const { return work_; }

 private:
  void start(const SparseBelief& belief, std::span<const double> values);
  void add_candidate(int point, double value);
  // What a candidate costs beside what the prices of its states say.
  [[nodiscard]] double reduced_cost(std::size_t candidate) const;
  // Those that look cheapest into shortlist_; false: none is cheaper than the basis.
  bool sift();
  // The cheapest of the shortlist; -1: none is cheaper than the basis.
  [[nodiscard]] int entering();
  // Whether the candidate could enter.
  bool pivot(std::size_t candidate);
  [[nodiscard]] Mixture mixture(const SparseBelief& belief) const;

  const PointSet& points_;
  std::vector<int> place_;  // of a state among those of the belief
  // Points that fit, the corners first, in one piece.
  std::vector<int> candidates_;
  std::vector<double> value_;
  std::vector<std::size_t> first_;  // entry of each, and the end
  std::vector<int> entry_place_;
  std::vector<double> entry_share_;
  std::vector<std::pair<double, int>> shortlist_;  // reduced cost when sifted, candidate
  std::vector<int> basis_;                         // candidates
  Eigen::MatrixXd inverse_;                        // of the basis
  Eigen::VectorXd weights_;
  Eigen::VectorXd prices_;  // of the states of the belief
  Eigen::VectorXd direction_;
  double tolerance_ = 0.0;
  double work_ = 0.0;
};

}  // namespace oas::detail
