#include "oas/planning/points/detail/informed_sweep.hpp"

#include "oas/belief/joint_kernel.hpp"
#include "oas/core/linear_algebra.hpp"

namespace oas::detail {

InformedSweep::InformedSweep(const Pomdp& model, double iota)
    : num_states_(model.num_states()),
      num_actions_(model.num_actions()),
      num_observations_(model.num_observations()),
      iota_(iota) {
  if (SparseModel::pays(model)) {
    sparse_.emplace(model);
    follow_.resize(num_actions_, num_observations_);
  } else {
    kernel_ = joint_kernel(model, model.transition());
  }
}

void InformedSweep::add(const Eigen::MatrixXd& alpha, Eigen::MatrixXd& next) {
  sparse_ ? add_sparse(alpha, next) : add_dense(alpha, next);
}

void InformedSweep::add_dense(const Eigen::MatrixXd& alpha, Eigen::MatrixXd& next) const {
  const std::ptrdiff_t square = static_cast<std::ptrdiff_t>(num_states_) * num_states_;
  for (int a = 0; a < num_actions_; ++a) {
    for (int o = 0; o < num_observations_; ++o) {
      const double* kernel = kernel_.data() + (a * num_observations_ + o) * square;
      const Eigen::MatrixXd follow = MatrixView(kernel, num_states_, num_states_) * alpha;
      next.col(a) += (1.0 - num_actions_ * iota_) * follow.rowwise().maxCoeff() +
                     iota_ * follow.rowwise().sum();
    }
  }
}

void InformedSweep::add_sparse(const Eigen::MatrixXd& alpha, Eigen::MatrixXd& next) {
  using Iterator = SparseModel::Rows::InnerIterator;
  const Eigen::MatrixXd by_state = alpha.transpose();  // A×S
  for (std::size_t a = 0; a < sparse_->transition.size(); ++a) {
    for (Eigen::Index s = 0; s < num_states_; ++s) {
      follow_.setZero();
      for (Iterator move(sparse_->transition[a], s); move; ++move) {
        for (Iterator seen(sparse_->sensors[a], move.col()); seen; ++seen) {
          follow_.col(seen.col()) += move.value() * seen.value() * by_state.col(move.col());
        }
      }
      next(s, static_cast<Eigen::Index>(a)) +=
          (1.0 - num_actions_ * iota_) * follow_.colwise().maxCoeff().sum() + iota_ * follow_.sum();
    }
  }
}

}  // namespace oas::detail
