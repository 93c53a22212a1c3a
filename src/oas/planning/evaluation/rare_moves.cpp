#include "oas/planning/evaluation/detail/rare_moves.hpp"

#include <utility>

#include "oas/core/contracts.hpp"

namespace oas::detail {

RareMoves::RareMoves(Eigen::MatrixXd moves, Vector leaves)
    : table_(std::move(moves)), out_(std::move(leaves)) {
  const Eigen::Index n = table_.rows();
  for (Eigen::Index k = 0; k < n; ++k) {
    const Eigen::Index later = n - k - 1;
    const double leaves_for_good = out_[k];
    out_[k] += table_.row(k).tail(later).sum();
    OAS_REQUIRE(out_[k] > 0.0, "state {} of a chain of {} leads nowhere", k, n);
    for (Eigen::Index i = k + 1; i < n; ++i) {
      table_(i, k) /= out_[k];
      if (!(table_(i, k) > 0.0)) continue;
      table_.row(i).tail(later) += table_(i, k) * table_.row(k).tail(later);
      out_[i] += table_(i, k) * leaves_for_good;
    }
    for (Eigen::Index i = k + 1; i < n; ++i) table_(i, i) = 0.0;  // to stay is no move
  }
}

Eigen::MatrixXd RareMoves::solve(const Eigen::MatrixXd& right, bool transposed) const {
  const Eigen::Index n = table_.rows();
  Eigen::MatrixXd x = right;
  if (transposed) {
    for (Eigen::Index j = 0; j < n; ++j) {
      x.row(j) += table_.col(j).head(j).transpose() * x.topRows(j);
      x.row(j) /= out_[j];
    }
    for (Eigen::Index k = n; k-- > 0;) {
      const Eigen::Index later = n - k - 1;
      x.row(k) += table_.col(k).tail(later).transpose() * x.bottomRows(later);
    }
  } else {
    for (Eigen::Index i = 0; i < n; ++i) x.row(i) += table_.row(i).head(i) * x.topRows(i);
    for (Eigen::Index k = n; k-- > 0;) {
      const Eigen::Index later = n - k - 1;
      x.row(k) += table_.row(k).tail(later) * x.bottomRows(later);
      x.row(k) /= out_[k];
    }
  }
  return x;
}

}  // namespace oas::detail
