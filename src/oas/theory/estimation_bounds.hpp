#pragma once

#include <optional>

#include "oas/sensors/revealing.hpp"
#include "oas/theory/ergodicity.hpp"

/// How far the OAS estimate can be from the truth: the paper's Lemmas lemma:estimationErrorBound
/// and lemma:extendedEstimationErrorBound, and how many steps a given error takes. The error is the
/// Frobenius norm of T̂ - T over all SA rows; `steps` counts steps, n, of which OAS in paper mode
/// makes n/2 disjoint pairs.
///
/// On the proofs. Two steps are false as written, and the constants survive both.
/// (1) Both lemmas compare rows normalised by their L1 norm with rows normalised by their L2 norm
/// (lp:normRelations): x = (1,0), y = (1,e) give √2·e against e. But for x >= 0, y >= 0
///   ‖x/|x|₁ - y/|y|₁‖₂ <= (1 + √S) ‖x-y‖₂ / |x|₁  and  1 + √S <= 2√S,
/// which is what the lemmas end with.
/// (2) The second lemma follows from the first with λ = 1 - SAει by 1 + λ <= 2, whose √2 is lost.
/// It comes back when mixing is counted per pair, as samples are: the chain over disjoint pairs has
/// the squared eigenvalues, and (1+λ²)/(1-λ²) <= 1/(1-λ). A third step does cost: see
/// DeviationForm.
namespace oas {

/// How the mean and the deviation of ‖d̂ - d‖₂ (over pairs of steps) are added up; C is the start
/// ratio, 1 for a stationary start.
enum class DeviationForm {
  /// √(2C + 5 log(C/δ)), as printed. It bounds the sum that the proof arrives at,
  /// √(2C) + √(log(C/δ)), only where C <= 2 log(C/δ): for C = 1 where δ <= 0.6, but not for the
  /// large C of an unknown start.
  paper,
  /// √(2C) + √(2 log(C/δ)): the sum itself, with the deviation that McDiarmid's inequality gives
  /// for an L2 norm, which one pair in m changes by √2/m, not by 1/m. At most 18 % more than the
  /// printed form, and less than it for C = 1, δ < 0.1.
  careful,
};

/// What Lemma lemma:estimationErrorBound takes: the chain over (action, state) starts stationary.
struct StationaryRadiusInputs {
  int num_states = 0;
  int num_actions = 0;
  double alpha = 0.0;                   ///< min over a of σ_S(Z_a), > 0 (never above 1)
  double min_state_probability = 0.0;   ///< d_min, the rarest state under the policy; in (0, 1/S]
  double min_action_probability = 0.0;  ///< ι, in (0, 1/A]
  double contraction = 0.0;             ///< λ_max, in [0, 1)
  double delta = 0.1;                   ///< the bound fails with at most this probability; (0, 1)
  double steps = 0.0;                   ///< n > 0
  DeviationForm form = DeviationForm::paper;

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// With probability at least 1 - δ the error of OAS is at most
///   2/(α² d_min ι) · √( (1+λ)/(1-λ) · SA (2 + 5 log(1/δ)) / n ).
/// Throws InvalidArgument on inputs out of range. Paper: lemma:estimationErrorBound.
[[nodiscard]] double stationary_radius(const StationaryRadiusInputs& inputs);

/// The least number of steps for which stationary_radius is at most `target` > 0; inputs.steps is
/// not used. A double, since it may exceed every integer type.
[[nodiscard]] double steps_for_stationary_radius(const StationaryRadiusInputs& inputs,
                                                 double target);

/// The same for the uniform policy, whose stationary quantities are known exactly: nothing where no
/// number of steps is enough (sensors that do not reveal the state, states that are left for good,
/// a chain that does not contract), NaN where the mixing of the model is not known.
[[nodiscard]] std::optional<double> steps_by_bound(const SensorReport& sensors,
                                                   const ErgodicityReport& ergodicity,
                                                   double target);

/// What the confidence radius of OAS takes: any start, any policy with floor ι, least transition ε.
struct OasRadiusInputs {
  double alpha = 0.0;                   ///< min over a of σ_S(Z_a), > 0
  double min_transition = 0.0;          ///< ε, in (0, 1]
  double min_action_probability = 0.0;  ///< ι, in (0, 1]
  /// C = max over (a,s) of start/stationary probability, at least 1. Unset: 1/(ει), the largest
  /// there can be.
  std::optional<double> start_ratio;
  double delta = 0.1;  ///< the bound fails with at most this probability; (0, 1)
  double steps = 0.0;  ///< n > 0
  DeviationForm form = DeviationForm::paper;

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// The confidence radius used everywhere: with probability at least 1 - δ the error of OAS is below
///   2/(α² (ει)^{3/2}) · √( (2C + 5 log(C/δ)) / n ).
/// Throws InvalidArgument on inputs out of range. Paper: lemma:extendedEstimationErrorBound.
[[nodiscard]] double oas_radius(const OasRadiusInputs& inputs);

/// The least number of steps for which oas_radius is at most `target` > 0. Ignores
/// inputs.steps.
[[nodiscard]] double steps_for_oas_radius(const OasRadiusInputs& inputs, double target);

/// From the Frobenius norm R of the error to what a planner takes: every row of every T_a is within
/// L1 distance 2r for r = √S·R/2. Above 1 it says nothing.
[[nodiscard]] double row_radius(double frobenius_radius, int num_states);

}  // namespace oas
