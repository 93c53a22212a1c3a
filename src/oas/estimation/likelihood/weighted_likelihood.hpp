#pragma once

#include "oas/counts/forgetting.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"

namespace oas {

/// Rows with weights by age, for estimate_likelihood(): T solves
///
///     Σ_t w_t E[ ∂ log T_{a_t}(s_t,s_{t+1}) | all rows ] = 0,
///
/// that is T_a(s,·) ∝ Σ_t w_t P(step t is (a,s,·) | all rows), the likelihood equation when all w
/// are equal. At the true T the score of one step has mean 0 given s_t and a_t, whatever the
/// policy, since a row of T sums to 1; so has its expectation given all rows, and a weighted sum of
/// these. Hence the equation is unbiased for any fixed weights, and its root consistent (Godambe
/// 1960). The climb is guarded by Σ w_t log P(o_t | rows before), whose gradient is that sum but
/// for terms of the order (memory of the chain) / half-life: with a half-life below 50 times that
/// memory the climb may end as far from the root as these terms say, which is far less than the
/// standard error.
///
/// Error bars: J⁻¹ V J⁻¹ with the information J = Σ w_t I_t, by differences of the equation, and
/// V = Σ w_t² I_t, the same with the weights w². They do not know of the bias by drift. Twice the
/// passes where rows fade.
///
/// `runs` are the lengths of the runs; may be left out where there is one. Throws InvalidArgument
/// when there are several and Age is unsaid.
[[nodiscard]] LikelihoodRows with_forgetting(LikelihoodRows rows, const Forgetting& forgetting,
                                             const RunLengths& runs = {});

}  // namespace oas
