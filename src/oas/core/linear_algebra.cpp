#include "oas/core/linear_algebra.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// Jacobi's method is the most accurate one and slow: 9 s for 1000×1000, where divide and conquer
// takes 0.4 s.
constexpr Eigen::Index kMostJacobi = 10'000;  // entries

void require_matrix(const Eigen::Ref<const Matrix>& matrix, const char* what) {
  OAS_REQUIRE(matrix.size() > 0, "{} of an empty {}x{} matrix", what, matrix.rows(), matrix.cols());
  OAS_REQUIRE(matrix.allFinite(), "{} of a matrix with entries that are not finite", what);
}

// R of a QR decomposition has the singular values of the matrix up to rounding. Those of the Gram
// matrix, which is as small, would be lost below 1e-8 σ_1.
Eigen::MatrixXd triangle_of(Eigen::MatrixXd tall) {
  const Eigen::HouseholderQR<Eigen::Ref<Eigen::MatrixXd>> in_place(tall);
  return tall.topRows(tall.cols()).triangularView<Eigen::Upper>();
}

Vector large_singular_values(const Eigen::Ref<const Matrix>& matrix) {
  Eigen::MatrixXd tall = matrix;
  if (tall.rows() < tall.cols()) tall.transposeInPlace();
  if (tall.rows() > 2 * tall.cols()) tall = triangle_of(std::move(tall));
  return Eigen::BDCSVD<Eigen::MatrixXd>(tall).singularValues();
}

// For the singular values of an m×n matrix.
Conditioning judge(Vector singular_values, Eigen::Index rows, Eigen::Index columns) {
  Conditioning result;
  result.singular_values = std::move(singular_values);
  const double threshold = static_cast<double>(std::max(rows, columns)) *
                           result.singular_values(0) * std::numeric_limits<double>::epsilon();
  while (result.rank < result.singular_values.size() &&
         result.singular_values(result.rank) > threshold) {
    ++result.rank;
  }
  if (rows >= columns) result.smallest = result.singular_values(columns - 1);
  return result;
}

}  // namespace

Conditioning analyse_conditioning(const Eigen::Ref<const Matrix>& matrix) {
  require_matrix(matrix, "singular values");
  return judge(matrix.size() <= kMostJacobi
                   ? Vector(Eigen::JacobiSVD<Eigen::MatrixXd>(matrix).singularValues())
                   : large_singular_values(matrix),
               matrix.rows(), matrix.cols());
}

ThinSvd thin_svd(const Eigen::Ref<const Matrix>& matrix) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.singularValues(), svd.matrixU(), svd.matrixV()};
}

SymmetricEigen symmetric_eigen(const Eigen::Ref<const Matrix>& matrix) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Vector symmetric_eigenvalues(const Eigen::Ref<const Matrix>& matrix) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
}

PseudoInverse pseudo_inverse(const Eigen::Ref<const Matrix>& matrix) {
  require_matrix(matrix, "pseudo-inverse");
  const ThinSvd svd = thin_svd(matrix);
  PseudoInverse result{judge(svd.singular_values, matrix.rows(), matrix.cols()), {}};
  Vector inverted = Vector::Zero(result.singular_values.size());
  inverted.head(result.rank) = result.singular_values.head(result.rank).cwiseInverse();
  result.inverse = svd.v * inverted.asDiagonal() * svd.u.transpose();
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
