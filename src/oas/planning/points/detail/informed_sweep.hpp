#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/planning/points/detail/sparse_model.hpp"

namespace oas::detail {

/// F(α) - r of the fast informed bound (point_based.hpp), from the kernel or by what is not 0.
class InformedSweep {
 public:
  InformedSweep(const Pomdp& model, double iota);

  /// Adds it to `next`; both are S×A.
  void add(const Eigen::MatrixXd& alpha, Eigen::MatrixXd& next);

 private:
  void add_dense(const Eigen::MatrixXd& alpha, Eigen::MatrixXd& next) const;
  void add_sparse(const Eigen::MatrixXd& alpha, Eigen::MatrixXd& next);

  int num_states_;
  int num_actions_;
  int num_observations_;
  double iota_;
  std::vector<double> kernel_;
  std::optional<SparseModel> sparse_;
  Eigen::MatrixXd follow_;  // A×O at one state
};

}  // namespace oas::detail
