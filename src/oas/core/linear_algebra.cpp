#include "oas/core/linear_algebra.hpp"

#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <limits>
#include <vector>

#include "oas/core/contracts.hpp"

namespace oas {

PseudoInverse pseudo_inverse(const Eigen::Ref<const Matrix>& matrix) {
  OAS_REQUIRE(matrix.size() > 0, "pseudo-inverse of an empty {}x{} matrix", matrix.rows(),
              matrix.cols());
  OAS_REQUIRE(matrix.allFinite(), "pseudo-inverse of a matrix with entries that are not finite");
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  PseudoInverse result;
  result.singular_values = svd.singularValues();
  const double threshold = static_cast<double>(std::max(matrix.rows(), matrix.cols())) *
                           result.singular_values(0) * std::numeric_limits<double>::epsilon();
  Vector inverted = Vector::Zero(result.singular_values.size());
  for (Eigen::Index i = 0; i < inverted.size(); ++i) {
    if (result.singular_values(i) <= threshold) break;
    inverted(i) = 1.0 / result.singular_values(i);
    ++result.rank;
  }
  result.inverse = svd.matrixV() * inverted.asDiagonal() * svd.matrixU().transpose();
  if (matrix.rows() >= matrix.cols()) result.smallest = result.singular_values(matrix.cols() - 1);
  return result;
}

namespace {

// One recurrent class exactly when some state can be reached from all. Decided on the pattern of
// the matrix: in floating point a singular system need not look singular. The last root of a sweep
// against the arrows is such a state if there is any.
bool has_one_recurrent_class(const Eigen::Ref<const Matrix>& stochastic) {
  const Eigen::Index n = stochastic.rows();
  std::vector<bool> seen(static_cast<std::size_t>(n), false);
  std::vector<Eigen::Index> open;
  const auto sweep = [&](Eigen::Index root) {
    seen[static_cast<std::size_t>(root)] = true;
    open.assign(1, root);
    while (!open.empty()) {
      const Eigen::Index to = open.back();
      open.pop_back();
      for (Eigen::Index from = 0; from < n; ++from) {
        if (stochastic(from, to) > 0.0 && !seen[static_cast<std::size_t>(from)]) {
          seen[static_cast<std::size_t>(from)] = true;
          open.push_back(from);
        }
      }
    }
  };
  Eigen::Index last_root = 0;
  for (Eigen::Index s = 0; s < n; ++s) {
    if (seen[static_cast<std::size_t>(s)]) continue;
    last_root = s;
    sweep(s);
  }
  std::fill(seen.begin(), seen.end(), false);
  sweep(last_root);
  return std::all_of(seen.begin(), seen.end(), [](bool reached) { return reached; });
}

}  // namespace

Vector stationary_distribution(const Eigen::Ref<const Matrix>& stochastic) {
  const Eigen::Index n = stochastic.rows();
  OAS_REQUIRE(n > 0 && stochastic.cols() == n, "stationary distribution of a {}x{} matrix", n,
              stochastic.cols());
  const Eigen::MatrixXd system =
      Eigen::MatrixXd::Identity(n, n) - stochastic.transpose() + Eigen::MatrixXd::Ones(n, n);
  OAS_REQUIRE(has_one_recurrent_class(stochastic), "the chain has more than one recurrent class");
  Vector distribution = system.fullPivLu().solve(Vector::Ones(n));
  distribution = distribution.cwiseMax(0.0);
  return distribution / distribution.sum();
}

}  // namespace oas
