#pragma once

#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/core/rng.hpp"

namespace oas {

/// A k×k×k tensor, [i][j][l].
class CubicTensor {
 public:
  explicit CubicTensor(int size);

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] double& operator()(int i, int j, int l) { return values_[index(i, j, l)]; }
  [[nodiscard]] double operator()(int i, int j, int l) const { return values_[index(i, j, l)]; }

  /// Replaces every entry by the mean over the six orders of its indices.
  void symmetrise();
  /// Adds scale · v ⊗ v ⊗ v.
  void add_rank_one(double scale, const Vector& v);
  /// out(i) = Σ_{jl} G(i,j,l) v(j) v(l).
  void apply(const Vector& v, Vector& out) const;
  /// G(v,v,v).
  [[nodiscard]] double value(const Vector& v) const;

 private:
  [[nodiscard]] std::size_t index(int i, int j, int l) const {
    return (static_cast<std::size_t>(i) * static_cast<std::size_t>(size_) +
            static_cast<std::size_t>(j)) *
               static_cast<std::size_t>(size_) +
           static_cast<std::size_t>(l);
  }

  int size_;
  std::vector<double> values_;
};

/// How hard the tensor power method tries.
struct TensorPowerOptions {
  int restarts = 30;    ///< random starts per eigenvector; at least 1
  int iterations = 50;  ///< steps per start, and again from the best; at least 1

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// Eigenpairs G(I,v,v) = λ v of a symmetric tensor, λ decreasing in the order they were found.
struct TensorEigenpairs {
  Vector values;
  Matrix vectors;  ///< unit eigenvectors in columns
};

/// The robust tensor power method (Anandkumar, Ge, Hsu, Kakade, Telgarsky, JMLR 2014, Algorithm 1):
/// from random unit vectors iterate v ← G(I,v,v)/‖·‖, keep the one with the largest G(v,v,v),
/// refine it, deflate G ← G - λ v⊗v⊗v, k times. On G = Σ λ_s v_s⊗v_s⊗v_s with orthonormal v_s it
/// returns these to machine precision. The tensor is symmetrised first. O(k · restarts · iterations
/// · k³).
[[nodiscard]] TensorEigenpairs tensor_power_method(CubicTensor tensor,
                                                   const TensorPowerOptions& options, Rng& rng);

}  // namespace oas
