#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/core/rng.hpp"
#include "oas/estimation/spectral/tensor_power.hpp"

namespace oas {

/// Three symbols x1, x2, x3 that are independent given a hidden state s, seen many times; view i is
/// the vector features_i(:, x_i), or the one-hot vector of x_i where features_i is empty.
struct ThreeViews {
  std::array<int, 3> sizes;        ///< numbers of symbols d1, d2, d3
  std::vector<double> weights;     ///< [x1][x2][x3]: counts, or counts with weights; not negative
  std::array<Matrix, 3> features;  ///< m_i × d_i; empty: one-hot, m_i = d_i
};

/// What became of a decomposition. All but `ok` are failures of the data, not of the program.
enum class DecompositionStatus {
  not_run,
  ok,
  no_data,           ///< nothing was counted
  rank_deficient,    ///< some pair of views shows fewer than S directions
  not_positive,      ///< M2 has fewer than S positive eigenvalues
  weight_above_one,  ///< some λ_s < 1: a state of probability 1/λ_s² > 1
  weights_off,       ///< Σ_s 1/λ_s² is not near 1
};

[[nodiscard]] std::string_view to_string(DecompositionStatus status);

struct DecompositionOptions {
  TensorPowerOptions power;
  /// By how much a weight may exceed 1, and the sum of all weights may differ from 1, before the
  /// decomposition counts as failed; > 0. With exact moments both are 0 to rounding.
  double weight_tolerance = 0.25;

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// The mixture behind three views: P(s) and the mean of each view given s, states in an order of
/// their own.
struct Decomposition {
  DecompositionStatus status = DecompositionStatus::not_run;
  std::string message;                   ///< why it failed, with the numbers; empty when ok
  Vector weights;                        ///< P(s) = 1/λ_s², as estimated: not normalised
  std::array<Matrix, 3> means;           ///< V_i, m_i × S: column s is the mean of view i given s
  double total = 0.0;                    ///< sum of the weights of all triples
  double smallest_singular_value = 0.0;  ///< least S-th singular value of K12, K13, K23
  double smallest_eigenvalue = 0.0;      ///< S-th of M2
};

/// Multi-view spectral decomposition. With K_ij = E[v_i v_jᵀ] and X⁺ the Moore–Penrose inverse of X
/// cut to rank S (noise beyond rank S must not be inverted):
///   R1 = K32 K12⁺, R2 = K31 K21⁺            take views 1 and 2 to view 3: R_i V_i = V_3
///   M2 = R1 K12 R2ᵀ, symmetrised            = Σ_s P(s) m_s m_sᵀ, m_s column s of V_3
///   M2 = U diag(l) Uᵀ, the S largest l; W = U l^(-1/2), B = U l^(1/2)
///   G  = E[(Wᵀ R1 v1) ⊗ (Wᵀ R2 v2) ⊗ (Wᵀ v3)] = Σ_s λ_s u_s⊗u_s⊗u_s, u_s orthonormal
///   λ_s, u_s by the tensor power method; P(s) = 1/λ_s², m_s = λ_s B u_s
///   V_2 = K21 K31⁺ V_3,  V_1 = K12 K32⁺ V_3
/// Exact for population moments when P(s) > 0 and every V_i has full column rank. Eigenvalues are
/// taken by size and none that is not positive is used: that, a weight above 1 and weights that do
/// not sum to 1 are reported in the status. `means` are empty unless λ could be computed.
/// O(S d1 d2 d3 + m³) and the power method. Throws InvalidArgument on sizes that do not fit.
/// Anandkumar, Hsu, Kakade (COLT 2012); Anandkumar et al. (JMLR 2014).
[[nodiscard]] Decomposition decompose(const ThreeViews& views, int num_states,
                                      const DecompositionOptions& options, Rng& rng);

}  // namespace oas
