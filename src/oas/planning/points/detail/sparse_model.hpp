#pragma once

#include <Eigen/SparseCore>
#include <vector>

#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// T_a and Z_a of a model as lists of what is not 0: work on beliefs then costs by entries, not by
/// S² and O S.
struct SparseModel {
  using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

  explicit SparseModel(const Pomdp& model);

  /// Whether it pays instead of tables, with successor_scores() for one: timing `after`, 64 states
  /// or more, and at most a quarter of T filled.
  [[nodiscard]] static bool pays(const Pomdp& model);

  int num_observations;
  std::vector<Rows> transition;  ///< per action, S×S
  std::vector<Rows> sensors;     ///< per action, S×O
};

/// Work space and result of successor_scores.
struct SuccessorScores {
  Eigen::MatrixXd scores;     ///< K×O; only the columns of `observed` count
  std::vector<int> observed;  ///< observations that can come, in the order in which they were met
  std::vector<double> moved;
  std::vector<int> support;
};

/// Of a model of timing `after`: α_k·(P(o) b'_o) = Σ_s' α_k(s') Z_a(o|s') Σ_s b(s) T_a(s,s') of one
/// action and all o that can come; `alpha` is K×S. O(S + entries K); no allocation after the first
/// call.
void successor_scores(const SparseModel& model, int action, const double* belief,
                      const Eigen::MatrixXd& alpha, SuccessorScores& out);

}  // namespace oas::detail
