#include "oas/core/linear_algebra.hpp"

#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <limits>

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

Vector stationary_distribution(const Eigen::Ref<const Matrix>& stochastic) {
  const Eigen::Index n = stochastic.rows();
  OAS_REQUIRE(n > 0 && stochastic.cols() == n, "stationary distribution of a {}x{} matrix", n,
              stochastic.cols());
  const Eigen::MatrixXd system =
      Eigen::MatrixXd::Identity(n, n) - stochastic.transpose() + Eigen::MatrixXd::Ones(n, n);
  const Eigen::FullPivLU<Eigen::MatrixXd> lu(system);
  OAS_REQUIRE(lu.isInvertible(), "the chain has more than one recurrent class");
  Vector distribution = lu.solve(Vector::Ones(n));
  distribution = distribution.cwiseMax(0.0);
  return distribution / distribution.sum();
}

}  // namespace oas
