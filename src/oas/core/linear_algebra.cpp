#include "oas/core/linear_algebra.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"

namespace Eigen::internal {

// Eigen's own QR decompositions before Jacobi's method are members that are destroyed and made
// again in their place; where memory runs out in between, what they hold is freed twice. This one
// is a local variable. It computes the same to the bit, of U and V both or none.
constexpr int kLocalQr = 0x100;  // a QRPreconditioner that Eigen does not have

template <int Case>
class qr_preconditioner_impl<MatrixXd, kLocalQr, Case, true> {
 public:
  using Svd = JacobiSVD<MatrixXd, kLocalQr>;

  void allocate(const Svd& /*svd*/) {}

  bool run(Svd& svd, const MatrixXd& matrix) {
    constexpr bool kTall = Case == PreconditionIfMoreRowsThanCols;
    if (kTall ? matrix.rows() <= matrix.cols() : matrix.cols() <= matrix.rows()) return false;
    MatrixXd& along = kTall ? svd.m_matrixU : svd.m_matrixV;
    MatrixXd& across = kTall ? svd.m_matrixV : svd.m_matrixU;
    MatrixXd tall = matrix;
    if (!kTall) tall.transposeInPlace();
    const ColPivHouseholderQR<MatrixXd> qr(tall);
    svd.m_workMatrix = qr.matrixQR().topRows(tall.cols()).triangularView<Upper>();
    if (!kTall) svd.m_workMatrix.transposeInPlace();
    if (!svd.computeU()) return true;  // neither
    along.setIdentity();
    along.applyOnTheLeft(qr.householderQ());
    across = qr.colsPermutation();
    return true;
  }
};

}  // namespace Eigen::internal

namespace oas {

namespace {

// With thin U and V.
using JacobiSvd = Eigen::JacobiSVD<Eigen::MatrixXd, Eigen::internal::kLocalQr>;

// Jacobi's method is the most accurate one and slow: 9 s for 1000×1000, where those of a bidiagonal
// form take less than 1 s.
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

// Of the symmetric matrix with 0 on the diagonal and `beside` next to it: eigenvalues below x. They
// are as many as pivots of the matrix less x are negative (Sylvester's law of inertia).
Eigen::Index count_below(const Vector& beside, double x) {
  constexpr double kSmallest = 1e-290;  // stands for a pivot of 0
  Eigen::Index count = 0;
  double pivot = -x;
  for (Eigen::Index i = 0;; ++i) {
    if (std::abs(pivot) < kSmallest) pivot = -kSmallest;
    count += pivot < 0.0 ? 1 : 0;
    if (i == beside.size()) return count;
    pivot = -x - beside(i) * beside(i) / pivot;
  }
}

// Those of an upper bidiagonal matrix with diagonal d and superdiagonal f, decreasing: the
// symmetric matrix with 0 on the diagonal and d_1, f_1, d_2, f_2, … beside it has the eigenvalues
// ±σ (Golub and Kahan 1965), which are found by bisection, each as exactly as numbers allow. O(n²).
Vector bidiagonal_singular_values(const Vector& diagonal, const Vector& above) {
  const Eigen::Index n = diagonal.size();
  Vector beside(2 * n - 1);
  for (Eigen::Index i = 0; i < n; ++i) {
    beside(2 * i) = diagonal(i);
    if (i + 1 < n) beside(2 * i + 1) = above(i);
  }
  const double bound = 2.0 * beside.cwiseAbs().maxCoeff();  // Gershgorin
  const double exact = 0.25 * std::numeric_limits<double>::epsilon() * bound;
  Vector values(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    double low = 0.0;
    double high = k > 0 ? values(k - 1) + exact : bound;
    while (high - low > exact) {
      const double middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      // k of the n positive ones are larger than σ_k, so that 2n - k are not.
      (count_below(beside, middle) < 2 * n - k ? low : high) = middle;
    }
    values(k) = 0.5 * (low + high);
  }
  return values;
}

Vector large_singular_values(const Eigen::Ref<const Matrix>& matrix) {
  const double scale = matrix.cwiseAbs().maxCoeff();
  if (scale == 0.0) return Vector::Zero(std::min(matrix.rows(), matrix.cols()));
  Eigen::MatrixXd tall = matrix / scale;
  if (tall.rows() < tall.cols()) tall.transposeInPlace();
  if (tall.rows() > 2 * tall.cols()) tall = triangle_of(std::move(tall));
  const Eigen::internal::UpperBidiagonalization<Eigen::MatrixXd> form(tall);
  auto bidiagonal = form.bidiagonal();
  return scale * bidiagonal_singular_values(bidiagonal.diagonal<0>().transpose(),
                                            bidiagonal.diagonal<1>().transpose());
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
  return judge(matrix.size() <= kMostJacobi ? Vector(JacobiSvd(matrix).singularValues())
                                            : large_singular_values(matrix),
               matrix.rows(), matrix.cols());
}

ThinSvd thin_svd(const Eigen::Ref<const Matrix>& matrix) {
  const JacobiSvd svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
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
