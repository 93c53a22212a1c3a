#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/planning/grid/belief_grid.hpp"
#include "oas/planning/plan.hpp"
#include "oas/planning/points/detail/sparse_model.hpp"

namespace oas {

/// The one-step look-ahead of a plan at any belief:
///   Q(b,a) = g(b,a) + Σ_o P(o | b, a) v(b'_o)
/// with v interpolated on the plan's grid or the maximum over its α-vectors. Keeps its own copy of
/// what it needs, and work space (so calls are not const); one per thread.
/// Cost A O (S² + S log S) on a grid, A O (S² + K S) with K vectors; no allocation after the first.
/// With vectors in a large sparse model (detail::SparseModel) the cost is by what is not 0. Wrong
/// sizes throw InvalidArgument.
class LookAhead {
 public:
  /// Throws InvalidArgument on a plan that is not valid, and on one for a horizon.
  explicit LookAhead(const Plan& plan);
  LookAhead(const Pomdp& model, const BeliefGrid& grid, std::vector<double> bias);

  /// Q(b, ·); `values` has A entries.
  void action_values(std::span<const double> belief, std::span<double> values);

  struct Best {
    int action = 0;
    double value = 0.0;
  };
  /// The action of the largest Q, ties go to the lowest, and that Q. With vectors, actions are left
  /// out that cannot be the best one even were the state told: Q(·,a) is convex.
  [[nodiscard]] Best best(std::span<const double> belief);

  [[nodiscard]] int greedy(std::span<const double> belief) { return best(belief).action; }

  /// v(b).
  [[nodiscard]] double bias(std::span<const double> belief) const;

  [[nodiscard]] int num_actions() const { return static_cast<int>(rewards_.rows()); }
  [[nodiscard]] int num_states() const { return static_cast<int>(rewards_.cols()); }

 private:
  void check_belief(std::span<const double> belief) const;
  void prepare(const Pomdp& model, const GridBias& bias);
  void prepare(const Pomdp& model, const VectorBias& bias);
  [[noreturn]] void prepare(const Pomdp& model, const HorizonPolicy& policy);
  template <int N>
  [[nodiscard]] double grid_future(const double* belief, int action) const;
  [[nodiscard]] double vector_future(const double* belief, int action);
  [[nodiscard]] double sparse_future(const double* belief, int action);
  [[nodiscard]] double vector_value(const double* belief, int action);
  void bound_by_corners();

  Matrix rewards_;  // A×S
  int num_observations_;
  std::vector<double> kernel_;  // [a][o][s][S]: prefix sums on a grid, plain with α-vectors
  std::optional<BeliefGrid> grid_;
  std::vector<double> bias_;
  Eigen::MatrixXd alpha_;                              // K×S
  Eigen::MatrixXd next_;                               // S×O
  Eigen::MatrixXd scores_;                             // K×O
  std::shared_ptr<const detail::SparseModel> sparse_;  // instead of kernel_ where it pays
  detail::SuccessorScores successors_;
  std::vector<double> values_;
  Matrix corners_;  // A×S: Q where the state is known; empty: too much to find out
  Vector bounds_;   // [A]
};

}  // namespace oas
