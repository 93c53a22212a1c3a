#pragma once

#include <Eigen/Core>

namespace oas {

/// Dense matrices are row-major throughout, so that a row of a transition matrix is contiguous.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using MatrixView = Eigen::Map<const Matrix>;
using VectorView = Eigen::Map<const Vector>;

/// What the singular values of an m×n matrix say about conditioning.
struct Conditioning {
  Vector singular_values;  ///< decreasing, min(m,n) of them
  int rank = 0;            ///< singular values above max(m,n)·σ_1·machine epsilon

  /// The n-th singular value (0 when m < n): what the paper calls σ_S.
  double smallest = 0.0;
};

/// The singular values alone; those of pseudo_inverse() to the bit up to 10^4 entries, beyond some
/// machine epsilons of σ_1 away. O(m n min(m,n)) and one copy of the matrix; a matrix of
/// 20,000×1000 takes about 3 s. Throws on an empty or non-finite matrix.
[[nodiscard]] Conditioning analyse_conditioning(const Eigen::Ref<const Matrix>& matrix);

/// The Moore-Penrose inverse and the conditioning of what was inverted.
struct PseudoInverse : Conditioning {
  Matrix inverse;  ///< n×m for an m×n input
};

/// Moore-Penrose inverse by a thin SVD; O(m n min(m,n)). Throws on an empty or non-finite matrix.
[[nodiscard]] PseudoInverse pseudo_inverse(const Eigen::Ref<const Matrix>& matrix);

/// A thin singular value decomposition U diag(σ) Vᵀ, by Jacobi's method.
struct ThinSvd {
  Vector singular_values;  ///< decreasing
  Eigen::MatrixXd u;
  Eigen::MatrixXd v;
};
[[nodiscard]] ThinSvd thin_svd(const Eigen::Ref<const Matrix>& matrix);

/// Eigenvalues of a symmetric matrix, increasing, and its orthonormal eigenvectors as columns; only
/// the lower triangle is looked at. O(n³). Here once, because the templates behind it take the
/// compiler eight seconds wherever they are used.
struct SymmetricEigen {
  Vector values;
  Eigen::MatrixXd vectors;  // column-major: they are used column by column
};
[[nodiscard]] SymmetricEigen symmetric_eigen(const Eigen::Ref<const Matrix>& matrix);
[[nodiscard]] Vector symmetric_eigenvalues(const Eigen::Ref<const Matrix>& matrix);

/// The stationary distribution of a row-stochastic matrix P with one recurrent class (transient
/// states get 0): the solution of xᵀ(I - P + 11ᵀ) = 1ᵀ. Throws InvalidArgument when there are
/// several classes, since the answer then depends on the start. O(n³).
[[nodiscard]] Vector stationary_distribution(const Eigen::Ref<const Matrix>& stochastic);

}  // namespace oas
